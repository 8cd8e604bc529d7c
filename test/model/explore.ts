/** One thing that may happen next. */
export interface Step<State> {
  /** As a trace shows it: who does what. */
  readonly label: string;
  /** Something goes wrong here: it may happen, and nobody may rely on it. */
  readonly isFault?: boolean;
  readonly to: State;
}

/** What can happen, and what must hold. States are plain data and are never changed: a step makes a new one and keeps the parts that stay. */
export interface Model<State> {
  readonly first: State;
  steps(state: State): Iterable<Step<State>>;
  /** The property that this state breaks, in words that begin with its promise; undefined if all hold. */
  broken(state: State): string | undefined;
  /** The same for a state where nothing goes on by itself any more: what was owed and never came. */
  unfinished(state: State): string | undefined;
}

/** What an exploration found: that every property holds in every state, or the shortest way to where one breaks. */
export type Verdict =
  /** `reached`: how often each step was taken, by its label. */
  | { readonly kind: 'holds'; readonly states: number; readonly reached: ReadonlyMap<string, number> }
  | { readonly kind: 'breaks'; readonly property: string; readonly trace: readonly string[]; readonly states: number };

/** A model that grows beyond this is not tiny any more: better an error than a machine without memory. */
const STATES_MAX = 60_000;

/**
 * Looks at every state that can be reached, nearest first, so that a counterexample is as short as one can be. Exhaustive: there is no
 * depth or sample, only the size of the model.
 */
export function explore<State extends object>(model: Model<State>): Verdict {
  const known = new Known<State>();
  known.add(model.first, { parent: -1, label: '' });
  for (let at = 0; at < known.size; at++) {
    const state = known.take(at);
    let goesOn = false;
    for (const { label, isFault, to } of model.steps(state)) {
      const found = known.add(to, { parent: at, label });
      if (found !== 'same' && !isFault) goesOn = true;
      const property = found === 'new' ? model.broken(to) : undefined;
      if (property !== undefined) return { kind: 'breaks', property, trace: known.traceTo(known.size - 1), states: known.size };
    }
    const owed = goesOn ? undefined : model.unfinished(state);
    if (owed !== undefined) return { kind: 'breaks', property: owed, trace: known.traceTo(at), states: known.size };
  }
  return { kind: 'holds', states: known.size, reached: known.reached };
}

interface Way {
  readonly parent: number;
  readonly label: string;
}

/** All states seen so far, with the way to each. */
class Known<State extends object> {
  /** How often each kind of step was taken: a model in which nothing ever goes wrong proves nothing. */
  readonly reached = new Map<string, number>();
  readonly #states: (State | undefined)[] = [];
  readonly #ways: Way[] = [];
  readonly #prints: string[] = [];
  readonly #seen = new Set<string>();
  readonly #fingerprints = new Fingerprints();

  get size(): number {
    return this.#states.length;
  }

  /** `same`: the step changes nothing, so it is no step. */
  add(state: State, way: Way): 'new' | 'known' | 'same' {
    const print = this.#fingerprints.of(state);
    if (print === this.#prints[way.parent]) return 'same';
    this.#count(way.label);
    if (this.#seen.has(print)) return 'known';
    if (this.size >= STATES_MAX) throw new Error(`model: more than ${STATES_MAX} states`);
    this.#seen.add(print);
    this.#states.push(state);
    this.#prints.push(print);
    this.#ways.push(way);
    return 'new';
  }

  /** Each state is looked at once, in order; the way to it is kept, the state is not. */
  take(at: number): State {
    const state = this.#states[at];
    if (state === undefined) throw new Error('model: a state is looked at once');
    this.#states[at] = undefined;
    return state;
  }

  traceTo(at: number): readonly string[] {
    const labels: string[] = [];
    for (let way = this.#ways[at]; way !== undefined && way.parent >= 0; way = this.#ways[way.parent]) labels.push(way.label);
    return labels.toReversed();
  }

  #count(label: string): void {
    this.reached.set(label, (this.reached.get(label) ?? 0) + 1);
  }
}

/** A short text per state. Parts that a step left as they were are the same object, and are written out once. */
class Fingerprints {
  readonly #numbers = new Map<string, number>();
  readonly #ofPart = new WeakMap<object, number>();

  of(state: object): string {
    let print = '';
    for (const part of Object.values(state)) print += `${this.#numberOf(part)},`;
    return print;
  }

  #numberOf(part: unknown): number {
    if (typeof part !== 'object' || part === null) return this.#number(JSON.stringify(part) ?? '');
    const known = this.#ofPart.get(part);
    if (known !== undefined) return known;
    const number = this.#number(JSON.stringify(part));
    this.#ofPart.set(part, number);
    return number;
  }

  #number(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}
