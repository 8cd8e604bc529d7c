import { mediaTypes } from '../wire/headers.ts';
import { printRequest, readResponse } from '../wire/json-rpc.ts';
import type { Dialect } from './question.ts';

/** JSON-RPC at one URL. Ids are texts: some servers turn a number into one and would answer to something else. */
export function jsonRpc(url: string): Dialect {
  let last = 0;
  return (operation, request) => {
    last += 1;
    const id = String(last);
    const read = (json: unknown): unknown => readResponse(json, id);
    const body = printRequest(id, operation.name, request);
    return { requests: [{ method: 'POST', url, contentType: mediaTypes.json, body }], read, readEvent: read };
  };
}
