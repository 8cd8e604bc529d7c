import type { MessageBody } from '../log/entry.ts';
import type { AcceptAsk, AcceptResult, TaskRow } from '../log/store.ts';
import { assertNever } from '../ground/assert.ts';
import type { Mutable } from '../ground/mutable.ts';
import { invalidParams, taskNotFound, unavailable, unsupportedOperation } from '../protocol/errors.ts';
import { idProblem } from '../protocol/ids.ts';
import type { SendMessageRequest } from '../protocol/types.ts';
import type { Call } from './call.ts';
import { digestOf, taskIdOf } from './identity.ts';
import type { Awaited } from './own-turn.ts';
import { offerGrant, type OperationParts, scopeOf, type SharedParts } from './parts.ts';
import { patiently } from './trouble.ts';

/** A message that stands in the log. */
export interface Accepted extends Awaited {
  readonly row: TaskRow;
  /** The first answer is the fold up to here: the accept's own commit, or for a repeat the task as it stands now. */
  readonly seq: number;
  /** Above this one the log tells what became of the message's turn. */
  readonly after: number;
}

/** How long a caller should wait before it sends a new task to an agent whose queue is full. */
const OVERLOAD_RETRY_MS = 2_000;

/**
 * Records the message, with the change of state it causes, exactly once (P5, P9), and hands the turn to this replica if it is to run here.
 * Every refusal is the store's decision on the locked row, never one on what was read before.
 */
export async function accept(parts: SharedParts, call: Call, request: SendMessageRequest): Promise<Accepted> {
  const ask = toAsk(parts, call, request);
  if (ask.isNew && isOverloaded(parts)) await refuseNew(parts, call, ask);
  const result = await patiently(parts, call.signal, () => acceptOnce(parts, ask));
  if (result.kind !== 'accepted') throw refusal(result, ask);
  const { row, messageSeq, turn, isRepeat } = result;
  const seq = isRepeat ? row.seq : result.seq;
  const accepted: Mutable<Accepted> = { taskId: row.id, row, messageSeq, seq, after: isRepeat ? messageSeq : seq };
  if (turn !== undefined) accepted.turn = turn;
  return accepted;
}

/** One try. The grant in its answer is offered on a repeat as well: the answer that would have brought it may be the one that was lost ⚖. */
async function acceptOnce({ log, turns }: OperationParts, ask: AcceptAsk): Promise<AcceptResult> {
  const slot = turns.reserve();
  try {
    const result = await log.accept({ ...ask, replica: turns.replica, canStart: slot !== undefined });
    if (result.kind === 'accepted') offerGrant(turns, result.row);
    return result;
  } finally {
    slot?.[Symbol.dispose](); // not `using`, see sendMessage
  }
}

/** What every try of this accept has in common, above all the key, made before the first one; who takes the turn is told anew by each. */
function toAsk(parts: SharedParts, call: Call, { message, configuration, metadata }: SendMessageRequest): AcceptAsk {
  const scope = scopeOf(parts, call);
  const key = keyOf(parts, call);
  const isNew = message.taskId === undefined;
  const { caller, tenant } = call;
  const body: Mutable<MessageBody> = { message, caller: tenant === '' ? caller : { ...caller, tenant } };
  if (metadata) body.metadata = metadata;
  if (configuration?.acceptedOutputModes) body.acceptedOutputModes = configuration.acceptedOutputModes;
  // TURN-01, TURN-03: a client's context is kept, a missing one is made; TURN-17: an existing task has one
  const contextId = message.contextId ?? (isNew ? parts.random.uuid() : undefined);
  const ask: Mutable<AcceptAsk> = {
    scope,
    // a key made here is known to nobody, so nobody could make the id of its task again: any random one does, and a hash is dear
    taskId: message.taskId ?? (call.idempotencyKey === undefined ? parts.random.uuid() : taskIdOf(scope, key)),
    isNew,
    key,
    // a key made here is known to nobody: no other content can come under it
    digest: call.idempotencyKey === undefined ? 'unshared' : digestOf(message),
    body: JSON.stringify(body),
    whileWorking: parts.settings.whileWorking,
    limits: parts.limits,
    replica: parts.turns.replica,
    canStart: false,
  };
  if (contextId !== undefined) ask.contextId = contextId;
  return ask;
}

function keyOf({ random }: OperationParts, { idempotencyKey }: Call): string {
  if (idempotencyKey === undefined) return random.uuid();
  const problem = idProblem(idempotencyKey);
  if (problem !== undefined) throw invalidParams('Idempotency-Key', problem);
  return idempotencyKey;
}

/** New tasks wait outside while the queue is full; messages to existing tasks never do, and neither does the repeat of an accepted one. */
function isOverloaded({ turns, settings }: OperationParts): boolean {
  return !turns.canStart && turns.queued >= settings.queuedMax;
}

async function refuseNew({ log }: OperationParts, call: Call, { taskId, scope }: AcceptAsk): Promise<void> {
  if (call.idempotencyKey !== undefined && (await log.row(taskId, scope)) !== undefined) return;
  throw unavailable('The agent has as many tasks waiting as it takes. Try again later.', OVERLOAD_RETRY_MS);
}

function refusal(result: Exclude<AcceptResult, { readonly kind: 'accepted' }>, { taskId, contextId }: AcceptAsk): Error {
  switch (result.kind) {
    case 'absent':
      return taskNotFound(taskId);
    case 'terminal':
      return unsupportedOperation(`The task has ended (${result.state}) and takes no more messages.`, { taskId, state: result.state });
    case 'busy':
      return unsupportedOperation('The task is working on an earlier message. Send this one when that is answered.', {
        taskId,
        state: result.state,
      });
    case 'full':
      return unavailable('As many messages wait for this task as it takes. Try again later.', OVERLOAD_RETRY_MS);
    case 'contextMismatch':
      return invalidParams('message.contextId', `the task belongs to another context than ${contextId}`);
    case 'keyMismatch':
      return invalidParams('Idempotency-Key', 'this key came before, with another message; use a new key for a new message');
    default:
      return assertNever(result);
  }
}
