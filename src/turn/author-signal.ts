import type { Signal } from '../ground/signal.ts';

/** The signal an author holds, a platform's own AbortSignal: made when somebody looks at it, for most turns end before anybody does. */
export class AuthorSignal implements Signal {
  #controller: AbortController | undefined;
  #fired: { readonly reason: unknown } | undefined;

  get aborted(): boolean {
    return this.#fired !== undefined;
  }

  /** Why it fired. */
  get reason(): unknown {
    return this.#fired?.reason;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#fired) this.#controller.abort(this.#fired.reason);
    }
    return this.#controller.signal;
  }

  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void {
    this.signal.addEventListener(type, listener, options);
  }

  removeEventListener(type: 'abort', listener: () => void): void {
    this.#controller?.signal.removeEventListener(type, listener);
  }

  /** Fires; the reason is made only then, and only once. */
  abort(reason: () => unknown): void {
    if (this.#fired) return;
    this.#fired = { reason: reason() };
    this.#controller?.abort(this.#fired.reason);
  }
}
