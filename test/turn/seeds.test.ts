import { describe, expect, test } from 'vitest';
import type { Random } from '../../src/ground/random.ts';
import type { Entry } from '../../src/log/entry.ts';
import type { OnLost } from '../../src/log/store.ts';
import { isTerminal } from '../../src/protocol/states.ts';
import { textOf } from '../../src/protocol/parts.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import type { Run } from '../../src/turn/turn.ts';
import { Stage } from './stage.ts';

/** Chance from a seed (mulberry32). */
class Chance implements Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }
  uuid(): string {
    const hex = Array.from({ length: 8 }, () => this.below(65_536).toString(16).padStart(4, '0'));
    return `${hex[0]}${hex[1]}-${hex[2]}-4${hex[3]?.slice(1)}-8${hex[4]?.slice(1)}-${hex[5]}${hex[6]}${hex[7]}`;
  }
}

/** What the code of the turns saw, to be held against the log. */
interface Witness {
  readonly runs: string[];
  /** Chunks whose verb said they are on the log. */
  readonly said: { readonly task: string; readonly attempt: number; readonly turn: string; readonly chunk: string }[];
}

/** Emits as many chunks as the text says, some awaited and some not, with pauses; some of it listens to its signal. */
const emitter =
  (clock: VirtualClock, chance: Chance, { runs, said }: Witness): Run =>
  async (turn) => {
    runs.push(`${turn.id}/${turn.attempt}`);
    const count = Number(turn.text);
    const out = turn.artifact('out');
    for (let i = 0; i < count; i++) {
      if (turn.signal.aborted && i % 2 === 0) return;
      const chunk = `${turn.attempt}:${i} `;
      const done = out.append(chunk).then(() => said.push({ task: turn.task.id, turn: turn.id, attempt: turn.attempt, chunk }));
      if (chance.below(3) === 0) await done;
      else done.catch(() => {});
      if (chance.below(4) === 0) await new Promise<void>((resolve) => clock.after(chance.below(1_500), resolve));
    }
    if (chance.below(5) === 0) await turn.inbox.take();
    if (chance.below(8) === 0) throw new Error('as it happens');
  };

const mishaps = ['cut', 'hang', 'mend', 'mend', 'mend', 'read-only', 'ack', 'late', 'call', 'cancel', 'more', 'new'] as const;

/** One thing that goes wrong, or comes in. */
async function mishap(stage: Stage, chance: Chance, ids: string[]): Promise<string> {
  const index = chance.below(stage.replicas.length);
  const { link } = stage.replica(index);
  const kind = mishaps[chance.below(mishaps.length)] ?? 'mend';
  switch (kind) {
    case 'cut':
    case 'hang':
    case 'read-only':
      link.mode = kind;
      break;
    case 'mend':
      link.mend();
      break;
    case 'ack':
      link.lostAcks.push(
        ...(['append', 'append', 'claim', 'release', 'tick', 'sweep', 'join'] as const).filter(() => chance.below(2) === 0),
      );
      break;
    case 'call':
      link.lostCalls.push(...(['append', 'claim', 'release', 'tick', 'sweep', 'entries'] as const).filter(() => chance.below(2) === 0));
      break;
    case 'late': {
      let left = 1 + chance.below(4);
      link.late = (verb) => (['append', 'claim', 'release', 'sweep'].includes(verb) && left-- > 0 ? chance.below(20_000) : undefined);
      break;
    }
    case 'cancel':
      if (ids.length > 0 && link.mode === 'up') await stage.cancel(ids[chance.below(ids.length)] ?? '', index).catch(() => {});
      break;
    case 'more':
      if (ids.length > 0 && link.mode === 'up') {
        await stage.accept('2', { at: index, taskId: ids[chance.below(ids.length)] ?? '' }).catch(() => {});
      }
      break;
    case 'new':
      if (link.mode === 'up')
        await stage.send(`${chance.below(12)}`, { at: index, isAnswerLost: chance.below(4) === 0 }).then(
          (id) => ids.push(id),
          () => {},
        );
      break;
  }
  return `${index} ${kind}`;
}

/** A run that ended by itself said all it had to say. */
function checkWhole(entries: readonly Entry[]): void {
  for (const closing of entries) {
    if (closing.kind !== 'status' || closing.ordinal === undefined) continue;
    if (closing.state !== 'TASK_STATE_COMPLETED' && closing.state !== 'TASK_STATE_SUBMITTED') continue;
    const turn = closing.state === 'TASK_STATE_SUBMITTED' ? closing.turn - 1 : closing.turn; // a hand-over names the turn it opens
    const opening = entries.find((entry) => entry.kind === 'status' && entry.turn === turn && entry.answers !== undefined);
    const message = entries.find(({ seq }) => opening?.kind === 'status' && seq === opening.answers);
    const chunks = entries.filter((entry) => entry.kind === 'artifact' && entry.fence === closing.fence);
    expect(chunks).toHaveLength(message?.kind === 'message' ? Number(textOf(message.message)) : -1);
  }
}

async function check(stage: Stage, id: string, witness: Witness): Promise<void> {
  const entries = await stage.entries(id);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1));
  const terminal = entries.filter((entry) => entry.kind === 'status' && isTerminal(entry.state));
  expect(terminal).toHaveLength(1);
  expect(entries.at(-1)).toBe(terminal[0]);
  if (stage.replica().turns.whileWorking !== 'interrupt') checkWhole(entries);
  let fence = 0;
  const ordinals = new Map<number, number>();
  for (const entry of entries) {
    expect(entry.fence).toBeGreaterThanOrEqual(fence);
    ({ fence } = entry);
    if (entry.ordinal === undefined) continue;
    expect(entry.ordinal).toBe((ordinals.get(fence) ?? 0) + 1);
    ordinals.set(fence, entry.ordinal);
  }
  const chunks = new Map<number, string[]>();
  for (const entry of entries) {
    if (entry.kind === 'artifact') chunks.set(entry.fence, [...(chunks.get(entry.fence) ?? []), textOf(entry.artifact.parts)]);
  }
  for (const said of chunks.values()) {
    const [attempt] = (said[0] ?? '').split(':');
    expect(said).toEqual(said.map((_, i) => `${attempt}:${i} `)); // no hole, no repeat, in call order
  }
  const all = new Set(entries.flatMap((e) => (e.kind === 'artifact' ? [`${id}.${e.turn}|${textOf(e.artifact.parts)}`] : [])));
  for (const { task, turn, chunk } of witness.said) if (task === id) expect(all).toContain(`${turn}|${chunk}`);
}

async function play(
  seed: number,
  onLost: OnLost,
): Promise<{ readonly runs: number; readonly tasks: number; readonly retried: number; readonly deaths: number }> {
  const chance = new Chance(seed);
  const clock = new VirtualClock();
  const witness: Witness = { runs: [], said: [] };
  await using stage = await Stage.open({
    clock,
    random: chance,
    replicas: 3,
    isWakeless: chance.below(3) === 0,
    turns: {
      onLost,
      leaseMs: 4_000,
      tries: 5,
      whileWorking: chance.below(2) === 0 ? 'enqueue' : 'interrupt',
      concurrency: 1 + chance.below(4),
    },
    run: emitter(clock, chance, witness),
  });
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push(await stage.send(`${1 + chance.below(12)}`, { at: chance.below(3) }));
  for (let i = 0; i < 30; i++) {
    await mishap(stage, chance, ids);
    await clock.advance(chance.below(1_200));
  }
  for (const { link } of stage.replicas) {
    link.late = () => undefined;
    link.lostCalls.length = 0;
    link.mend();
  }
  await stage.until(
    async () =>
      (
        await Promise.all(
          ids.map(async (id) => isTerminal(await stage.state(id)) || (await stage.state(id)) === 'TASK_STATE_INPUT_REQUIRED'),
        )
      ).every(Boolean),
    `seed ${seed} (${onLost}): every task is settled`,
    60_000,
  );
  for (const id of ids) if (!isTerminal(await stage.state(id))) await stage.cancel(id);
  await clock.advance(20_000); // what ran late has run
  for (const id of ids) await check(stage, id, witness);
  expect(new Set(witness.runs).size).toBe(witness.runs.length); // each run of a turn at most once
  const deaths = stage.replicas.reduce((sum, { lines }) => sum + lines.of('replica: taken for dead, joins again under a new id').length, 0);
  return { runs: witness.runs.length, tasks: ids.length, retried: witness.runs.filter((run) => !run.endsWith('/1')).length, deaths };
}

const SEEDS = Number(process.env['TURN_SEEDS'] ?? 12);

describe('whatever goes wrong', () => {
  test.each<OnLost>(['fail', 'retry', 'ask'])(
    'every task is settled once, its log is dense and in call order, and no run happens twice, with onLost %s',
    async (onLost) => {
      let retried = 0;
      let deaths = 0;
      for (let seed = 1; seed <= SEEDS; seed++) {
        const seen = await play(seed, onLost).catch((error: unknown) => {
          throw new Error(`seed ${seed}`, { cause: error });
        });
        retried += seen.retried;
        deaths += seen.deaths;
      }
      expect(deaths).toBeGreaterThan(0);
      if (onLost === 'retry') expect(retried).toBeGreaterThan(0);
    },
    60_000 + SEEDS * 2_000,
  );
});
