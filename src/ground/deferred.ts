/** A promise with its two ends. `Promise.withResolvers` came with Node 22. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  #resolve: ((value: T | PromiseLike<T>) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(value: T | PromiseLike<T>): void {
    this.#resolve?.(value);
  }

  reject(error: unknown): void {
    this.#reject?.(error);
  }
}
