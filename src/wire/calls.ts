import type { Operation, OperationName, RequestOf, ResponseOf } from './operations.ts';
import { readAnswer, readMessage } from './reader.ts';

/** Reads the request of an operation, strictly: INVALID_PARAMS with the path of everything that is wrong. */
export function readRequestOf<N extends OperationName>(operation: Operation<N>, json: unknown): RequestOf<N> {
  return readMessage(operation.request, json);
}

/** Reads an agent's answer to an operation, or one item of its stream, leniently. Whatever a Delete is answered with is `{}` (AMB-28). */
export function readResponseOf<N extends OperationName>(operation: Operation<N>, json: unknown): ResponseOf<N> {
  const { response } = operation;
  // true: the table names the message whose type ResponseOf gives
  return (response === 'Empty' ? {} : readAnswer(response, json)) as ResponseOf<N>;
}
