import type { Verdict } from '../../src/testing/checker.ts';
import type { Complaint } from './complaint.ts';
import type { ChaosOptions } from './options.ts';
import type { Reached } from './reached.ts';
import { FAULTS, RULES, sentenceOf } from './reached.ts';

/** Of the kills at least this share must have had a verdict: a machine that has no time for any proves nothing. */
const JUDGED_SHARE_MIN = 0.9;

/** Violations that are shown; more of them say no more. */
const VIOLATIONS_SHOWN_MAX = 20;

/** What a run prints at its end, as a line of JSON. */
export interface Summary {
  /** How long, or how many kills. */
  readonly asked: string;
  readonly seed: number;
  readonly store: string;
  readonly replicas: number;
  readonly node: string;
  readonly seconds: number;
  readonly stretches: number;
  readonly violations: number;
  readonly failures: readonly string[];
  readonly kills: { readonly killed: number; readonly stopped: number; readonly judged: number };
  readonly settledMs: { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number };
  readonly faults: Readonly<Record<string, number>>;
  readonly rules: Readonly<Record<string, number>>;
  readonly judged: Readonly<Record<'facts' | 'tasks' | 'entries' | 'items' | 'sends' | 'cancels', number>>;
  readonly heapMb: { readonly first: number; readonly most: number; readonly last: number };
}

/** What a run has found so far: sums only, so that it does not grow with the run. */
export class Report {
  readonly violations: Complaint[] = [];
  seconds = 0;
  readonly #options: ChaosOptions;
  readonly #reached: Reached;
  readonly #counted = { facts: 0, tasks: 0, entries: 0, items: 0, sends: 0, cancels: 0 };
  readonly #kills = { killed: 0, stopped: 0, judged: 0 };
  readonly #settledMs: number[] = [];
  readonly #heapMb: number[] = [];

  constructor(options: ChaosOptions, reached: Reached) {
    this.#options = options;
    this.#reached = reached;
  }

  /** What was judged since the last time. */
  add({ violations, kills, counted }: Verdict, others: readonly Complaint[] = []): void {
    this.violations.push(...violations, ...others);
    for (const name of ['facts', 'tasks', 'entries', 'items', 'sends', 'cancels'] as const) this.#counted[name] += counted[name];
    for (const { kill, settled, isJudged } of kills) {
      if (kill.signal === 'SIGSTOP') this.#kills.stopped += 1;
      else {
        this.#kills.killed += 1;
        if (isJudged) this.#kills.judged += 1;
      }
      this.#settledMs.push(...settled.flatMap(({ wallMs }) => (wallMs === undefined ? [] : [Math.round(wallMs)])));
    }
    this.#heapMb.push(Math.round(process.memoryUsage().heapUsed / 1_048_576));
  }

  /** Nothing was broken, everything was reached, and enough was judged. */
  get isGood(): boolean {
    return this.failures.length === 0;
  }

  /** What keeps the run from being good, a sentence each. */
  get failures(): readonly string[] {
    const { killed, judged } = this.#kills;
    const { missing } = this.#reached;
    return [
      ...(this.violations.length > 0 ? [`${this.violations.length} violations`] : []),
      ...(missing.length > 0 ? [`never reached: ${missing.join(', ')}`] : []),
      ...(judged < Math.floor(killed * JUDGED_SHARE_MIN)
        ? [`only ${judged} of ${killed} kills could be judged: the machine had no time`]
        : []),
    ];
  }

  /** The whole of it, for programs. */
  get json(): Summary {
    const { store, replicas, seed, minutes, cycles } = this.#options;
    const times = this.#settledMs.toSorted((one, other) => one - other);
    return {
      asked: cycles === undefined ? `${minutes} minutes` : `${cycles} kills`,
      seed,
      store: store.name,
      replicas,
      node: process.version,
      seconds: Math.round(this.seconds),
      stretches: this.#heapMb.length,
      violations: this.violations.length,
      failures: this.failures,
      kills: this.#kills,
      settledMs: { p50: quantile(times, 0.5), p90: quantile(times, 0.9), p99: quantile(times, 0.99), max: times.at(-1) ?? 0 },
      faults: this.#reached.counts(FAULTS),
      rules: this.#reached.counts(RULES),
      judged: this.#counted,
      heapMb: { first: this.#heapMb[0] ?? 0, most: Math.max(...this.#heapMb), last: this.#heapMb.at(-1) ?? 0 },
    };
  }

  /** The present state in a line. */
  line(seconds: number): string {
    const { killed, judged } = this.#kills;
    const { tasks, items } = this.#counted;
    const { missing } = this.#reached;
    const lacks = missing.length > 0 ? `, not reached yet: ${missing.join(' ')}` : '';
    return (
      `${Math.round(seconds)} s: ${killed} kills (${judged} judged), ${tasks} tasks, ${items} items seen, ` +
      `${this.violations.length} violations, heap ${this.#heapMb.at(-1) ?? 0} MB${lacks}`
    );
  }

  /** For people. */
  table(): string {
    const rows = (names: readonly Parameters<Reached['of']>[0][]): string =>
      names.map((name) => `  ${String(this.#reached.of(name)).padStart(7)}  ${name.padEnd(20)} ${sentenceOf(name)}`).join('\n');
    const shown = this.violations.slice(0, VIOLATIONS_SHOWN_MAX).map(({ promise, taskId, says }) => `  ${promise} ${taskId ?? ''} ${says}`);
    return [
      `faults\n${rows(FAULTS)}`,
      `rules\n${rows(RULES)}`,
      ...(shown.length > 0 ? [`violations\n${shown.join('\n')}`] : []),
      this.isGood
        ? `no violation, everything reached (seed ${this.#options.seed})`
        : `FAILED (seed ${this.#options.seed}): ${this.failures.join('; ')}`,
    ].join('\n\n');
  }
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
