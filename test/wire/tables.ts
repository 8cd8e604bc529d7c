import { readFileSync } from 'node:fs';

/** One row of the protocol's own table of fields (`test/protocol/tables/wire-fields.tsv`). */
export interface FieldFact {
  readonly message: string;
  readonly protoName: string;
  readonly number: number;
  readonly type: string;
  readonly labels: readonly string[];
  readonly jsonName: string;
}

export interface EnumFact {
  readonly name: string;
  readonly value: string;
  readonly number: number;
}

export interface RpcFact {
  readonly rpc: string;
  readonly request: string;
  readonly response: string;
  readonly isStreaming: boolean;
  readonly verb: string;
  readonly path: string;
  readonly hasBody: boolean;
}

function rowsOf(file: string): readonly (readonly string[])[] {
  const text = readFileSync(new URL(`../protocol/tables/${file}`, import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.slice(1).map((line) => line.split('\t'));
}

export const fieldFacts: readonly FieldFact[] = rowsOf('wire-fields.tsv').map(
  ([message = '', protoName = '', number = '', type = '', labels = '', jsonName = '']) => ({
    message,
    protoName,
    number: Number(number),
    type,
    labels: labels.split(','),
    jsonName,
  }),
);

export const enumFacts: readonly EnumFact[] = rowsOf('wire-enums.tsv').map(([name = '', value = '', number = '']) => ({
  name,
  value,
  number: Number(number),
}));

export const rpcFacts: readonly RpcFact[] = rowsOf('wire-rpcs.tsv').map(
  ([rpc = '', request = '', response = '', streaming = '', , verb = '', path = '', body = '']) => ({
    rpc,
    request,
    response,
    isStreaming: streaming === 'server-stream',
    verb,
    path,
    hasBody: body === '*',
  }),
);
