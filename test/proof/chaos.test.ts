import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { seeded, shuffled } from '../../proof/chance.ts';
import { startedOnce } from '../../proof/chaos/effects.ts';
import { countTraces } from '../../proof/chaos/evidence.ts';
import type { ChaosOptions } from '../../proof/chaos/options.ts';
import { parseChaosOptions } from '../../proof/chaos/options.ts';
import { Plan } from '../../proof/chaos/plan.ts';
import { Policies } from '../../proof/chaos/policies.ts';
import { FAULTS, Reached, RULES, sentenceOf } from '../../proof/chaos/reached.ts';
import { Report } from '../../proof/chaos/report.ts';
import { Yard } from '../../proof/chaos/yard.ts';
import { Deferred } from '../../src/ground/deferred.ts';
import type { Verdict } from '../../src/testing/checker.ts';
import type { JudgedKill } from '../../src/testing/checks/settling.ts';
import type { EffectLine } from '../../src/testing/rig.ts';

function optionsOf(...args: readonly string[]): ChaosOptions {
  const options = parseChaosOptions(args, 1);
  if (!options) throw new Error('options were expected');
  return options;
}

function all(): Reached {
  const reached = new Reached();
  for (const name of [...FAULTS, ...RULES]) reached.add(name);
  return reached;
}

const counted = { facts: 1, tasks: 1, entries: 1, items: 1, sends: 1, cancels: 1, judgedKills: 0 };
const clean: Verdict = { violations: [], kills: [], counted };

const kill = (signal: 'SIGKILL' | 'SIGSTOP', isJudged: boolean, holding: readonly string[] = []): JudgedKill => ({
  kill: { kind: 'kill', signal, at: 0, observer: 'chaos', replica: 'A', holding },
  settled: [{ taskId: 't', killedAt: 0, wallMs: 2_100, fairMs: 2_100, verdict: 'inTime' }],
  isJudged,
});

describe('the report of a run', () => {
  test('is good only if nothing was broken, everything reached and enough judged', () => {
    const good = new Report(optionsOf(), all());
    good.add(clean);
    expect(good.isGood).toBe(true);

    const broken = new Report(optionsOf(), all());
    broken.add({ ...clean, violations: [{ promise: 'P1', says: 'a hole' }] });
    broken.add(clean, [{ promise: 'P4', says: 'twice' }]);
    expect(broken.failures).toEqual(['2 violations']);
    expect(broken.table()).toContain('a hole');

    const short = new Report(optionsOf(), new Reached());
    short.add(clean);
    expect(short.failures).toEqual([expect.stringMatching(/^never reached: kill, stop, .*wholeAfterFull/)]);

    const blind = new Report(optionsOf(), all());
    blind.add({ ...clean, kills: [kill('SIGKILL', true), kill('SIGKILL', false), kill('SIGKILL', false), kill('SIGSTOP', true)] });
    expect(blind.failures).toEqual([expect.stringMatching(/only 1 of 3 kills/)]);
    expect(blind.json).toMatchObject({ kills: { killed: 3, stopped: 1, judged: 1 }, settledMs: { p50: 2_100, max: 2_100 } });
  });
});

describe('the document of proofs', () => {
  test('tells how often each fault and each rule was reached', () => {
    const text = readFileSync('docs/proof.md', 'utf8');
    const chapter = /^## Real processes$[^]*?(?=^## |(?![^]))/m.exec(text)?.[0] ?? '';
    const rows = [...chapter.matchAll(/^\| `(\w+)` \| (.+?) \| (.+) \|$/gm)];
    expect(rows.map(([, name, sentence]) => [name, sentence])).toEqual([...FAULTS, ...RULES].map((name) => [name, sentenceOf(name)]));
    for (const [row = '', , , counts = ''] of rows) for (const count of counts.split(' | ')) expect(Number(count), row).toBeGreaterThan(0);
  });
});

describe('what runs did outside the log', () => {
  const line = (more: Partial<EffectLine>): EffectLine => ({ at: 1, pid: 1, task: 't', turn: 't.1', attempt: 1, what: 'start', ...more });

  test('shows a run that two processes have started (P4, ⚖ grants)', () => {
    const rerun = [line({}), line({ pid: 2, attempt: 2 }), line({ pid: 2, turn: 't.2' }), line({ what: 'end' })];
    expect([...startedOnce(rerun)]).toEqual([]);
    expect([...startedOnce([...rerun, line({ pid: 3 })])]).toEqual([
      { promise: 'P4', taskId: 't', says: 'attempt 1 of turn t.1 was started twice, by 1 and 3' },
    ]);
  });

  test('counts a refused verb only of a run that stood still past its lease', () => {
    const count = (effects: readonly EffectLine[]): number => {
      const reached = new Reached();
      countTraces({ stored: new Map(), kills: [kill('SIGSTOP', true, ['t']), kill('SIGKILL', true, ['u'])], facts: [], effects }, reached);
      return reached.of('fencedVerb');
    };
    expect(count([line({ what: 'refused' })])).toBe(1);
    expect(count([line({ what: 'refused', attempt: 2 }), line({ what: 'refused', task: 'u' }), line({ what: 'abort' })])).toBe(0);
  });
});

describe('the order of faults', () => {
  test('is the same for the same seed, brings each fault once and each policy before anything comes twice', () => {
    const first = (seed: number): readonly string[] => {
      const plan = new Plan(seeded(seed), new Reached());
      const names: string[] = [];
      while (plan.isCovering) names.push(plan.next().fault);
      return names;
    };
    expect(first(3)).toEqual(first(3));
    expect(new Set(first(4))).toEqual(new Set(FAULTS));
    expect(first(4).filter((fault) => fault === 'kill')).toHaveLength(3);
    expect(shuffled(seeded(1), [1, 2, 3, 4]).toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4]);
  });

  test('ends with what is missing, and with nothing else', async () => {
    const reached = all();
    const lacking = new Reached();
    for (const name of [...FAULTS, ...RULES]) if (name !== 'fencedVerb') lacking.add(name);
    expect((await new Plan(seeded(1), lacking).nextMissing())?.fault).toBe('stop');
    expect(await new Plan(seeded(1), reached).nextMissing()).toBeUndefined();
  });
});

describe('the policies of replicas', () => {
  test('cover every rule with the first three, and all pairs with nine; more flags are for one start', () => {
    const policies = new Policies();
    policies.once(1, ['--fault', 'dead-ack']);
    const starts = Array.from({ length: 9 }, (_, index) => policies.flags(index % 3).join(' '));
    expect(new Set(starts.map((flags) => flags.replace(' --fault dead-ack', ''))).size).toBe(9);
    expect(starts.filter((flags) => flags.includes('dead-ack'))).toHaveLength(1);
    expect(new Set([0, 1, 2].map((index) => policies.of(index)?.onLost)).size).toBe(3);
  });
});

describe('the yard', () => {
  test('lets one work alone: it waits for those who work, and they for it; what fails is told to its caller alone', async () => {
    const yard = new Yard();
    const seen: string[] = [];
    const gate = new Deferred<void>();
    const together = yard.together(async () => {
      seen.push('together');
      await gate.promise;
      throw new Error('failed');
    });
    const alone = yard.alone(async () => void seen.push('alone'));
    const later = yard.together(async () => void seen.push('later'));
    gate.resolve();
    await expect(together).rejects.toThrow('failed');
    await Promise.all([alone, later]);
    expect(seen).toEqual(['together', 'alone', 'later']);
  });
});
