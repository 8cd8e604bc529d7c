import type { A2AError } from '../protocol/errors.ts';
import { isA2AError } from '../protocol/errors.ts';
import type { StreamResponse } from '../protocol/types.ts';
import type { RestAnswer } from '../wire/error-reading.ts';
import type { Operation, OperationName, RequestOf } from '../wire/operations.ts';
import { errorOf, withStatus } from './trouble.ts';

/** The operations that answer with a stream. */
export type StreamingName = 'SendStreamingMessage' | 'SubscribeToTask';
/** The operations that answer once. */
export type UnaryName = Exclude<OperationName, StreamingName>;

/** An item of a stream and the id it came under. */
export interface StreamItem {
  /** Where the stream stands: what to go on from after a cut. Absent from servers that name none. */
  readonly id?: string;
  readonly item: StreamResponse;
  /** Characters it came in; absent for one that was asked for and did not come over a stream. */
  readonly length?: number;
}

/** One request in a binding's form, and how what comes back is read. */
export interface Question {
  /** More than one: the next is asked when the one before is answered with 404 or 405 (AMB-10). */
  readonly requests: readonly [QuestionRequest, ...QuestionRequest[]];
  /** The result in an answer; throws the error it tells. */
  readonly read: (json: unknown) => unknown;
  /** The same for one event of a stream. */
  readonly readEvent: (json: unknown) => unknown;
}

/** Where and how a question is sent. */
export interface QuestionRequest {
  readonly method: string;
  readonly url: string;
  readonly contentType?: string;
  readonly body?: string;
}

/** Puts questions into the form of one binding. */
export type Dialect = <N extends OperationName>(operation: Operation<N>, request: RequestOf<N>) => Question;

/** The error in an answer whose status says that there is one: in the binding's own form if it is there, else told by the status. */
export function failureOf(question: Question, answer: RestAnswer): A2AError {
  try {
    question.read(answer.body);
  } catch (told) {
    // INVALID_AGENT_RESPONSE: not this binding's form but, say, a gateway's page
    if (isA2AError(told) && told.code !== 'INVALID_AGENT_RESPONSE') return withStatus(answer, told);
  }
  return errorOf(answer);
}
