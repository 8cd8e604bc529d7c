/** Lets several hands work at once, and one alone where what it does is everybody's. */
export class Yard {
  readonly #together = new Set<Promise<unknown>>();
  #alone: Promise<unknown> | undefined;

  /** Runs beside others, but for those that must be alone. */
  async together<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#alone) await this.#alone;
    return track(work(), (running) => {
      this.#together.add(running);
      return () => this.#together.delete(running);
    });
  }

  /** Waits until nobody else works, and lets nobody begin meanwhile. */
  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#alone) await this.#alone;
    const others = [...this.#together];
    return track(
      Promise.all(others).then(() => work()),
      (running) => {
        this.#alone = running;
        return () => (this.#alone = undefined);
      },
    );
  }
}

/** Tells when the work is over, whatever became of it; what became of it, its caller is told. */
async function track<Result>(work: Promise<Result>, begin: (running: Promise<unknown>) => () => unknown): Promise<Result> {
  const running = work.catch(() => undefined);
  const end = begin(running);
  try {
    return await work;
  } finally {
    end();
  }
}
