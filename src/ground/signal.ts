/** What our own waits need of a signal to stop; every AbortSignal is one. */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * A signal that is its own switch. Measured: an AbortController costs a call microseconds to make, to listen to and to fire (with a stack
 * trace for its reason), and a call that waits on the log needs several; this one costs next to nothing. It fires once; listeners hear it
 * in the order in which they came.
 */
export class Stopper implements Signal {
  #aborted = false;
  #listeners: (() => void)[] | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#aborted) return; // as an AbortSignal: whoever comes late looks at `aborted`
    if (this.#listeners) this.#listeners.push(listener);
    else this.#listeners = [listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) this.#listeners?.splice(at, 1);
  }

  /** Fires; twice is fine. */
  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener();
  }
}

/** Fires when either of two does. */
export function eitherOf(one: Signal, other: Signal): Signal {
  const either = new Stopper();
  const fire = (): void => {
    one.removeEventListener('abort', fire);
    other.removeEventListener('abort', fire);
    either.abort();
  };
  if (one.aborted || other.aborted) either.abort();
  one.addEventListener('abort', fire, { once: true });
  other.addEventListener('abort', fire, { once: true });
  return either;
}
