import { MessageChannel } from 'node:worker_threads';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Calls `stop` at the first SIGTERM or SIGINT. The second one finds Node's own answer again and ends the process at once. */
export function onStopSignal(stop: () => void): { remove(): void } {
  const remove = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  const onSignal = (): void => {
    remove();
    stop();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { remove };
}

/**
 * Keeps the process alive until `work` is done: during a drain no listener is left that would, and the timers of a clock do not. When it is
 * done nothing of ours holds the process any more and it ends by itself: a library never ends a host's process.
 */
export async function holdProcess<T>(work: Promise<T>): Promise<T> {
  const { port1 } = new MessageChannel();
  port1.on('message', () => {}); // a port that is listened to holds the loop
  try {
    return await work;
  } finally {
    port1.close();
  }
}
