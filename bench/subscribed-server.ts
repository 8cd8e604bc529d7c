// One of our replicas whose tasks are watched by many. Arguments: a SQLite file, and how many turns it runs at once. It counts what it asks
// the store for. A message `live N` starts a turn that appends N chunks when `go` comes on standard input; any other is asked back, and
// its task rests.
import { Stopper } from '../src/ground/signal.ts';
import { createAgent } from '../src/index.ts';
import type { AgentOptions } from '../src/index.ts';
import { serve } from '../src/node.ts';
import { sqlite } from '../src/sqlite.ts';
import { answerQuestions } from './gauge.ts';

type StoreSource = NonNullable<AgentOptions['store']>;

let queries = 0;
let isGoing = false;
const start = new Stopper();

/** The same store, and a count of every call of a verb. */
function counted(source: StoreSource): StoreSource {
  return {
    ...source,
    open(parts) {
      const { store, wake } = source.open(parts);
      const counting = new Proxy(store, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== 'function') return member;
          return (...args: unknown[]): unknown => {
            queries += 1;
            return Reflect.apply(member, target, args);
          };
        },
      });
      return { store: counting, wake };
    },
  };
}

const going = (): Promise<void> => (isGoing ? Promise.resolve() : new Promise((resolve) => start.addEventListener('abort', resolve)));

const [file = '', concurrency = '0'] = process.argv.slice(2);
const agent = createAgent({
  card: { name: 'Bench', description: 'Is watched.', version: '1.0.0' },
  store: counted(sqlite(file)),
  concurrency: Number(concurrency),
  logger: { debug() {}, info() {}, warn: console.error, error: console.error },
  async run(turn) {
    const count = /^live (\d+)$/.exec(turn.text)?.[1];
    if (count === undefined) return turn.ask('What next?');
    await going();
    const out = turn.artifact('out');
    await Promise.all(Array.from({ length: Number(count) }, (_, index) => out.append('x', { isLast: index === Number(count) - 1 })));
    return undefined;
  },
});
const served = await serve(agent, { port: 0, host: '127.0.0.1' });
console.log(JSON.stringify({ ready: true, url: served.url }));
answerQuestions({
  queries: () => ({ queries }),
  go: () => {
    isGoing = true;
    start.abort();
    return { going: true };
  },
});
