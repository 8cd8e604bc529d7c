import { Stopper } from '../../ground/signal.ts';
import type { Tap } from './tap.ts';

/** One request on its way: it ends with its answer, or is cut by either side, or by what lies between them. */
export class Connection {
  /** Fires when the replica is to hear that its caller is gone. */
  readonly gone: Stopper = new Stopper();
  /** What listens on it, if it carries a stream. */
  tap: Tap | undefined;
  /** Its client waits for the next piece. */
  isReading = false;
  /** Lets go of what the replica still makes for it. */
  onCut: (() => void) | undefined;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.cut();
  readonly #waiting = new Set<(error: Error) => void>();
  #isCut = false;

  constructor(request: Request) {
    this.#signal = request.signal;
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    if (this.#signal.aborted) this.cut();
  }

  /** The outcome of some work, unless the connection is cut first. */
  orCut<T>(work: Promise<T>): Promise<T> {
    if (this.#isCut) {
      work.catch(() => {}); // nobody is there to hear of it
      return Promise.reject(cutError());
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      work.then(resolve, reject).finally(() => this.#waiting.delete(reject));
    });
  }

  /** Both ends learn of it: the client now, the replica as soon as it runs. */
  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.gone.abort();
    this.onCut?.();
    for (const reject of this.#waiting) reject(cutError());
    this.close();
  }

  /** It is over: nothing is listened to any more. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

const cutError = (): TypeError => new TypeError('terminated: the connection was cut (in the lab)');
