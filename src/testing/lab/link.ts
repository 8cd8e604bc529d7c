import type { Clock } from '../../ground/clock.ts';
import { sleep } from '../../ground/clock.ts';
import type { Store } from '../../log/store.ts';
import { StoreError } from '../../log/store.ts';
import type { Chance } from './chance.ts';
import type { FaultRates } from './fault-rates.ts';
import type { Gate } from './gate.ts';
import type { Trace } from './trace.ts';

/** A verb of the store. */
export type Verb = Exclude<keyof Store, 'start' | 'stop'>;

/** What a verb is asked and answers. */
export type AskOf<V extends Verb> = Parameters<Store[V]>[0];
export type AnswerOf<V extends Verb> = Awaited<ReturnType<Store[V]>>;

/** Who watches the calls of a replica. */
export interface LinkWatcher {
  /** The store has carried a verb out, whoever hears of it. */
  ran<V extends Verb>(verb: V, ask: AskOf<V>, answer: AnswerOf<V>): void;
  /** The replica has heard the answer. */
  heard<V extends Verb>(verb: V, answer: AnswerOf<V>): void;
  /** A call was lost, or held up. */
  disturbed(verb: Verb, how: 'lostCall' | 'lostAnswer' | 'lateCall' | 'slowCall' | 'down'): void;
}

/** What a link is made of. */
export interface LinkParts {
  /** The lab's own time: what is on its way to the store arrives, whatever became of the sender. */
  readonly clock: Clock;
  readonly gate: Gate;
  readonly chance: Chance;
  readonly rates: () => FaultRates;
  readonly watcher: LinkWatcher;
  readonly trace: Trace;
  readonly name: string;
}

/** Ways of a link to be out of order. `hang`: no call ever answers. `readOnly`: the store can be read and not be written. */
export type LinkMode = 'up' | 'cut' | 'hang' | 'readOnly';

const reads: readonly Verb[] = ['read', 'entries', 'list'];
/** How long a late call is on its way: within a tick, or beyond the death of its replica. */
const LATE_MS = [5, 400, 3_000, 9_000] as const;
const SLOW_MS = [20, 150, 900] as const;
/** A healthy call takes up to this, often nothing at all. */
const LATENCY_MS = 6;

/** The way from one replica to the store: everything that can happen to a call on it happens here. */
export class Link {
  #mode: LinkMode = 'up';
  #mended: (() => void)[] = [];
  /** Calls that their caller has given up, still on their way. */
  #late = 0;
  readonly #parts: LinkParts;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  get mode(): LinkMode {
    return this.#mode;
  }

  get hasLateCalls(): boolean {
    return this.#late > 0;
  }

  break(mode: Exclude<LinkMode, 'up'>): void {
    this.#mode = mode;
  }

  /** What hung fails now: a link that was down for so long is another one when it is up again. */
  mend(): void {
    this.#mode = 'up';
    for (const mended of this.#mended.splice(0)) mended();
  }

  /** The store, behind this link. Its start and stop are those of the replica's own connection. */
  over(store: Store): Store {
    const carry =
      <V extends Verb>(verb: V) =>
      (ask: AskOf<V>): Promise<AnswerOf<V>> =>
        // true: the verb's own method takes its own ask
        this.#carry(verb, ask, () => (store[verb] as (ask: AskOf<V>) => Promise<AnswerOf<V>>).call(store, ask));
    return {
      start: () => store.start(),
      stop: () => store.stop(),
      join: carry('join'),
      accept: carry('accept'),
      append: carry('append'),
      cancel: carry('cancel'),
      claim: carry('claim'),
      release: carry('release'),
      resume: carry('resume'),
      sweep: carry('sweep'),
      tick: carry('tick'),
      read: carry('read'),
      entries: carry('entries'),
      list: carry('list'),
      purge: carry('purge'),
    };
  }

  /** The call and its answer both pass the gate of the replica; what is between them does not. */
  #carry<V extends Verb>(verb: V, ask: AskOf<V>, call: () => Promise<AnswerOf<V>>): Promise<AnswerOf<V>> {
    const { gate, watcher } = this.#parts;
    return new Promise((resolve, reject) => {
      gate.pass(() => {
        this.#send(verb, ask, call).then(
          (answer) =>
            gate.pass(() => {
              watcher.heard(verb, answer);
              resolve(answer);
            }),
          (error: unknown) => gate.pass(() => reject(error instanceof Error ? error : new Error(String(error)))),
        );
      });
    });
  }

  async #send<V extends Verb>(verb: V, ask: AskOf<V>, call: () => Promise<AnswerOf<V>>): Promise<AnswerOf<V>> {
    const { clock, chance, watcher, rates } = this.#parts;
    const run = async (): Promise<AnswerOf<V>> => {
      const answer = await call();
      watcher.ran(verb, ask, answer);
      return answer;
    };
    if (this.#mode !== 'up') await this.#meetDown(verb, ask);
    const fate = this.#fate();
    if (fate !== 'plain') this.#disturb(verb, fate);
    switch (fate) {
      case 'lostCall':
        // a caller cannot always tell whether it was the call or its answer that was lost
        throw lost(chance.happens(0.5));
      case 'lateCall':
        this.#runLate(chance.between(1, chance.pick(LATE_MS) ?? 1), run);
        throw lost(true);
      case 'slowCall':
        await sleep(clock, chance.between(1, chance.pick(SLOW_MS) ?? 1));
        break;
      case 'lostAnswer':
        await run();
        throw lost(true);
      default:
        if (chance.happens(rates().latency)) await sleep(clock, chance.between(1, LATENCY_MS));
    }
    const answer = await run();
    if (chance.happens(rates().latency)) await sleep(clock, chance.between(1, LATENCY_MS));
    return answer;
  }

  /** Nobody waits for it any more, and it is done all the same. */
  #runLate(ms: number, run: () => Promise<unknown>): void {
    this.#late += 1;
    const arrive = async (): Promise<void> => {
      await run().catch(() => undefined); // what came of it is told to nobody
      this.#late -= 1;
    };
    this.#parts.clock.after(ms, () => void arrive());
  }

  #fate(): 'plain' | 'lostCall' | 'lostAnswer' | 'lateCall' | 'slowCall' {
    const { chance, rates } = this.#parts;
    const { lostCall, lostAnswer, lateCall, slowCall } = rates();
    let left = chance.fraction();
    if ((left -= lostCall) < 0) return 'lostCall';
    if ((left -= lostAnswer) < 0) return 'lostAnswer';
    if ((left -= lateCall) < 0) return 'lateCall';
    return left - slowCall < 0 ? 'slowCall' : 'plain';
  }

  async #meetDown<V extends Verb>(verb: V, ask: AskOf<V>): Promise<void> {
    if (this.#mode === 'readOnly' && !isWrite(verb, ask)) return;
    this.#disturb(verb, 'down');
    if (this.#mode === 'hang') {
      await new Promise<void>((resolve) => this.#mended.push(resolve));
      throw lost(true);
    }
    throw lost(false);
  }

  #disturb(verb: Verb, how: Parameters<LinkWatcher['disturbed']>[1]): void {
    this.#parts.watcher.disturbed(verb, how);
    if (how !== 'down') this.#parts.trace.note(this.#parts.name, `${verb}: ${how}`);
  }
}

function isWrite<V extends Verb>(verb: V, ask: AskOf<V>): boolean {
  if (verb === 'tick') return 'own' in ask && ask.own !== 'look';
  return !reads.includes(verb);
}

// what a driver says of a connection that broke
const lost = (isUnknown: boolean): StoreError => new StoreError('unavailable', 'The connection was lost (in the lab).', { isUnknown });
