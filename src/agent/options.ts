import type { Identify, WireLimits } from '../bindings/exchange.ts';
import type { Clock } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { StoreSource, WakeSource } from '../log/store.ts';
import type { StreamUntil } from '../operations/parts.ts';
import type { CardDraft } from '../protocol/card.ts';
import type { TurnOptions } from '../turn/options.ts';
import type { Reply, Run } from '../turn/turn.ts';

/** What `createAgent` takes: the card, the code, and whatever shall be other than the default. */
export interface AgentOptions extends TurnOptions {
  /** At least name, description and version; the rest of the card is filled in. */
  readonly card: CardDraft;
  /** Does the work: called once per turn, on one replica. */
  readonly run: Run;
  /** Answers small talk with a bare message, without a task. Whatever it gives `undefined` for goes to `run`. */
  readonly reply?: Reply;
  /** Where the tasks are: `sqlite('tasks.db')` for several processes of one machine. The memory of this process unless given. */
  readonly store?: StoreSource;
  /** What nudges the other replicas, in place of the store's own wake. */
  readonly wake?: WakeSource;
  /** Tells from a request who calls; every operation is then confined to the caller's own tasks. Everybody is anonymous unless given. */
  readonly identify?: Identify;
  /** Name of the agent in the store: replicas of one agent share it, other agents on the same store have others. The card's name. */
  readonly name?: string;
  /** Where callers reach the agent (`https://agents.example/greeter`): what the card says, wherever the agent listens. */
  readonly publicUrl?: string;
  /** A blocking send that has waited for so long is answered with the task as it stands then, and the work goes on. Off. */
  readonly blockingMs?: number;
  /**
   * When the stream of a send ends: 'answered' (default), when its turn has ended the task or asks its user; 'ended', only with the task, as
   * a subscription does (AMB-01).
   */
  readonly streamUntil?: StreamUntil;
  /** Limits on requests, open streams and calls of this replica. */
  readonly limits?: Partial<WireLimits>;
  /** Where this replica says what happens to it. JSON lines on standard error. */
  readonly logger?: Logger;
  /** Time, for a lab that owns it. */
  readonly clock?: Clock;
  /** Chance, for a lab that replays it. */
  readonly random?: Random;
}
