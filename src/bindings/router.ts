import type { Clock } from '../ground/clock.ts';
import type { Logger } from '../ground/logger.ts';
import type { Random } from '../ground/random.ts';
import type { Operations } from '../operations/call.ts';
import { BODY_BYTES_MAX } from '../protocol/limits.ts';
import type { AgentCard } from '../protocol/types.ts';
import { toA2AError } from '../wire/errors.ts';
import { mediaTypes } from '../wire/headers.ts';
import { Bytes } from './bytes.ts';
import type { BindingParts } from './calls.ts';
import { createCardReply } from './card.ts';
import type { Exchange, Identify, Reply, Router, WireLimits } from './exchange.ts';
import { answerJsonRpc } from './json-rpc.ts';
import { CARD_PATH, isJsonRpcPath, REST_PATH } from './paths.ts';
import { notFoundReply, restErrorReply, wrongMethodReply } from './replies.ts';
import { answerRest } from './rest.ts';
import { Slots } from './slots.ts';

const MEBIBYTE = 1_048_576;

/** The limits unless others are given. */
export const wireLimits: WireLimits = {
  bodyBytesMax: BODY_BYTES_MAX,
  streamsMax: 10_000,
  streamsPerCallerMax: 1_000,
  callsMax: 10_000,
  callsPerCallerMax: 1_000,
  bodiesBytesMax: 256 * MEBIBYTE,
  bodiesBytesPerCallerMax: 64 * MEBIBYTE,
  answersBytesMax: 256 * MEBIBYTE,
  answersBytesPerCallerMax: 64 * MEBIBYTE,
};

/** What a router is made of. */
export interface RouterParts {
  readonly operations: Operations;
  /** The card as it is told to somebody who reached the mount at `base`. Give the same object for the same content: it is printed once. */
  readonly card: (base: string) => AgentCard;
  /** Everybody is the anonymous caller unless given. */
  readonly identify?: Identify;
  readonly limits?: Partial<WireLimits>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Joins the card, JSON-RPC and REST into one router, each at its path below the mount's base. */
export function createRouter({ operations, card, identify, limits, clock, random, logger }: RouterParts): Router {
  const most = { ...wireLimits, ...limits };
  const { bodyBytesMax, streamsMax, streamsPerCallerMax, callsMax, callsPerCallerMax } = most;
  const parts: BindingParts = {
    operations,
    card,
    identify,
    bodyBytesMax,
    streams: new Slots({ what: 'open streams', most: streamsMax, mostPerCaller: streamsPerCallerMax }),
    calls: new Slots({ what: 'calls in progress', most: callsMax, mostPerCaller: callsPerCallerMax }),
    bodies: new Bytes({ what: 'request bodies', most: most.bodiesBytesMax, mostPerCaller: most.bodiesBytesPerCallerMax }),
    answers: new Bytes({ what: 'answers not yet taken', most: most.answersBytesMax, mostPerCaller: most.answersBytesPerCallerMax }),
    clock,
    random,
    logger,
  };
  const cardReply = createCardReply(card);
  return async (exchange) => {
    try {
      return await route(exchange, parts, cardReply);
    } catch (thrown) {
      // the bindings answer their own errors; this is what broke outside of them
      return restErrorReply(toA2AError(thrown, { referenceId: random.uuid(), logger }), mediaTypes.json);
    }
  };
}

function route(exchange: Exchange, parts: BindingParts, cardReply: (exchange: Exchange) => Reply): Reply | Promise<Reply> {
  const { method, path } = exchange;
  if (isJsonRpcPath(path)) return method === 'POST' ? answerJsonRpc(parts, exchange) : wrongMethodReply(method, ['POST']);
  if (path === CARD_PATH) {
    return method === 'GET' || method === 'HEAD' ? cardReply(exchange) : wrongMethodReply(method, ['GET', 'HEAD']);
  }
  if (path.startsWith(`${REST_PATH}/`)) return answerRest(parts, exchange, path.slice(REST_PATH.length));
  return notFoundReply();
}
