import type { TaskState } from '../protocol/types.ts';
import type { Outcome } from './turn.ts';

/** What an outcome means to the turn that made it. */
export type Ending =
  | { readonly kind: 'status'; readonly state: TaskState; readonly body: string }
  /** AUTH_REQUIRED stands on the log under this ordinal; the turn closes behind it. */
  | { readonly kind: 'auth'; readonly ordinal: number; readonly body: string };

/**
 * The outcomes one turn has made. An outcome is an empty object that means something to its own turn only: one of another turn, or a
 * look-alike, is no outcome.
 */
export class Outcomes {
  /** Most turns end without one. */
  #endings: WeakMap<object, Ending> | undefined;

  make(ending: Ending): Outcome {
    const outcome = Object.freeze({}) as Outcome; // the brand is a type only: what makes it an outcome is its place in the map
    this.#endings ??= new WeakMap();
    this.#endings.set(outcome, ending);
    return outcome;
  }

  /** Undefined for what is not an outcome of this turn. */
  endingOf(value: unknown): Ending | undefined {
    return typeof value === 'object' && value !== null ? this.#endings?.get(value) : undefined;
  }
}

/**
 * `askForAuth`: `return` and `await` both call `then`, inside an async function nobody can tell them apart. So `then` records the state,
 * whoever calls it, and gives a plain outcome; only an outcome that `run` returns closes the turn.
 */
export function whenAsked(record: () => Promise<Outcome>): Outcome & PromiseLike<Outcome> {
  let recorded: Promise<Outcome> | undefined;
  const request: PromiseLike<Outcome> = {
    // oxlint-disable-next-line unicorn/no-thenable -- being awaited is what it is for
    then(onFulfilled, onRejected) {
      recorded ??= record();
      return recorded.then(onFulfilled, onRejected);
    },
  };
  return request as Outcome & PromiseLike<Outcome>; // returned as it is, it is awaited before anybody looks for its ending
}
