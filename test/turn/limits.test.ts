import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/ground/logger.ts';
import { Stopper } from '../../src/ground/signal.ts';
import type { ClaimAsk, TaskRow } from '../../src/log/store.ts';
import type { TaskLog } from '../../src/log/task-log.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { A2AError } from '../../src/protocol/errors.ts';
import { textOf } from '../../src/protocol/parts.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';
import { CLAIM_MAX, Claims } from '../../src/turn/claims.ts';
import { FAILURE_TEXT_MAX } from '../../src/turn/failure.ts';
import { Grants, REMEMBERED_MIN } from '../../src/turn/grants.ts';
import { turnSettings } from '../../src/turn/options.ts';
import { Speech } from '../../src/turn/speech.ts';
import { HELD_TEXT_MAX, TextStream } from '../../src/turn/text-stream.ts';
import { GROUP_MAX, Upkeep } from '../../src/turn/upkeep.ts';
import { FLIGHTS_MAX } from '../../src/turn/writer.ts';
import type { Writer } from '../../src/turn/writer.ts';
import { gate, Stage } from './stage.ts';

const row = (id: string): TaskRow => ({ id, fence: 1, turn: 1, state: 'TASK_STATE_WORKING' }) as TaskRow; // what these parts look at

/** A writer that waits for a commit which does not come, until it is freed. */
class StuckWriter {
  isBusy = true;
  isClosed = false;
  lastOrdinal = 0;
  waits = 0;
  readonly freed = gate();
  say = async (): Promise<void> => {};
  async whenFree(): Promise<void> {
    this.waits += 1;
    await this.freed.promise;
    this.isBusy = false;
  }
  get asWriter(): Writer {
    return this as unknown as Writer; // all that a speech and a stream use of one
  }
}

describe('what a replica keeps of its turns', () => {
  test('are the grants of the last turns, and never more than twice as many (P11, ⚖ grants)', () => {
    const grants = new Grants();
    for (let index = 0; index < 3 * REMEMBERED_MIN; index++) grants.take(row(`task ${index}`));
    expect(grants.size).toBeLessThanOrEqual(2 * REMEMBERED_MIN);
    expect(grants.take(row(`task ${2 * REMEMBERED_MIN}`))).toBe(false); // one of the last ten thousand
    expect(grants.take(row('task 0'))).toBe(true); // forgotten: no answer is that old
  });

  test('a claim asks for no more than a few turns at once, however many wait', async () => {
    const asked: number[] = [];
    let waiting = 100;
    const claim = async ({ limit }: ClaimAsk): Promise<readonly TaskRow[]> => {
      asked.push(limit);
      const rows = Array.from({ length: Math.min(limit, waiting) }, (_, index) => row(`${waiting - index}`));
      waiting -= rows.length;
      return rows;
    };
    const log = { claim } as unknown as TaskLog; // the one verb of it that claiming uses
    const claims = new Claims({ log, agent: 'a', logger: silentLogger, replica: () => 'r', room: () => waiting, onClaimed: () => {} });
    claims.count(100, 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(waiting).toBe(0);
    expect(Math.max(...asked)).toBe(CLAIM_MAX);
  });

  test('a sweep and a purge take a bounded group at a time, and repeat while groups are full', async () => {
    const asked: number[] = [];
    let left = 2 * GROUP_MAX + 1;
    const group = async (limit: number): Promise<readonly TaskRow[]> => {
      asked.push(limit);
      const rows = Array.from({ length: Math.min(limit, left) }, () => row('x'));
      left -= rows.length;
      return rows;
    };
    const log = { sweep: group, purge: group } as unknown as TaskLog; // the two verbs that it uses
    const clock = new VirtualClock();
    const settings = turnSettings({ purgeEveryMs: 1_000 });
    const upkeep = new Upkeep({ log, settings, clock, random: systemRandom, logger: silentLogger });
    upkeep.sweep();
    await clock.settle();
    expect(asked).toEqual([GROUP_MAX, GROUP_MAX, GROUP_MAX]);
    left = GROUP_MAX;
    upkeep.start();
    await clock.advance(1_000);
    expect(asked.slice(3)).toEqual([GROUP_MAX, GROUP_MAX]);
    await upkeep.stop();
  });
});

describe('what a turn may have under way', () => {
  test('are a few batches, whatever it says (P11)', async () => {
    await using stage = await Stage.open({
      run: async (turn) => {
        const out = turn.artifact('out');
        await Promise.all(Array.from({ length: 3_000 }, (_, index) => out.append(`${index}`)));
      },
    });
    let underWay = 0;
    let most = 0;
    stage.replica().link.before = async (verb) => {
      if (verb !== 'append') return;
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
    };
    await stage.reached(await stage.send('x'), 'TASK_STATE_COMPLETED');
    expect(most).toBe(FLIGHTS_MAX);
  });

  test('a stream whose store is away holds so much text and one wait, however small the pieces are (P11)', async () => {
    const writer = new StuckWriter();
    const speech = { artifactId: () => 'out', artifact: async () => {} } as unknown as Speech; // all that a stream uses of one
    let pulled = 0;
    const source = function* (): Generator<string> {
      for (; pulled < 2 * HELD_TEXT_MAX; pulled++) yield 'x';
    };
    const clock = new VirtualClock();
    const stream = new TextStream({ speech, writer: writer.asWriter, clock, signal: new Stopper(), reason: () => undefined }, {});
    const piped = stream.pipe(
      (async function* () {
        for (const piece of source()) {
          if (pulled % 1_000 === 0) await clock.advance(100); // each hold has passed: the piece is due and waits for the writer
          yield piece;
        }
      })(),
    );
    for (let before = -1; before !== pulled;) {
      before = pulled;
      await clock.settle();
    }
    expect(pulled).toBeLessThanOrEqual(HELD_TEXT_MAX + 2);
    expect(writer.waits).toBe(1);
    writer.freed.open();
    await piped;
    expect(pulled).toBe(2 * HELD_TEXT_MAX);
  });

  test('code that goes on after its end leaves nothing behind by what it says (P11)', async () => {
    const writer = new StuckWriter();
    const speech = new Speech({ grant: row('x'), random: systemRandom, writer: writer.asWriter });
    await speech.artifact({ artifactId: 'before', parts: [{ text: 'x' }] });
    writer.isClosed = true;
    await speech.artifact({ artifactId: 'after', parts: [{ text: 'x' }] });
    expect([speech.hasOpened('before'), speech.hasOpened('after')]).toEqual([true, false]);
  });

  test('a failure tells no more than a page of text', async () => {
    await using stage = await Stage.open({
      run: () => {
        throw new A2AError('INVALID_PARAMS', 'x'.repeat(3 * FAILURE_TEXT_MAX));
      },
    });
    const task = await stage.reached(await stage.send('x'), 'TASK_STATE_FAILED');
    expect(JSON.stringify(task.status).length).toBeLessThan(2.5 * FAILURE_TEXT_MAX);
    expect(textOf(task.status.message?.parts ?? [])).toHaveLength(FAILURE_TEXT_MAX + 1); // and the mark of the cut
  });
});
