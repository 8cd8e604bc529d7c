// Goes on elsewhere when its replica dies:  npm start -- --agent examples/retry.ts --port 4000 --store tasks.db   (twice, on two ports)
import { setTimeout as delay } from 'node:timers/promises';
import { createAgent } from 'chorus-a2a';
import type { Agent } from 'chorus-a2a';

const PAGES = 20;

/** Writes a report page by page. A run that is lost is done again: what it said under the same artifact is replaced, not doubled. */
export const agent: Agent = createAgent({
  card: { name: 'Reporter', description: 'Writes a long report, come what may.', version: '1.0.0' },
  onLost: 'retry',
  async run(turn) {
    // effects outside the log (mails, payments) are guarded with both: together they name this run only
    await turn.working(`Run ${turn.attempt} of ${turn.id}`);
    const report = turn.artifact('report');
    for (let page = 1; page <= PAGES && !turn.signal.aborted; page++) {
      await delay(100, undefined, { signal: turn.signal }).catch(() => undefined); // the loop looks at the signal itself
      await report.append(`Page ${page} on ${turn.text}. `, { isLast: page === PAGES });
    }
  },
});
