import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fields } from '../../src/wire/fields.ts';
import { allOperations, GRPC_SERVICE, operations } from '../../src/wire/operations.ts';
import type { MessageName } from '../../src/wire/schema.ts';
import { enums, unspecified } from '../../src/wire/schema.ts';
import type { FieldFact } from '../wire/tables.ts';
import { enumFacts, fieldFacts, rpcFacts } from '../wire/tables.ts';

// The compiler compares the table of fields with the types; these compare both with the protocol's own tables (SRC-02).

const types = readFileSync(new URL('../../src/protocol/types.ts', import.meta.url), 'utf8');
const messageNames = [...new Set(fieldFacts.map(({ message }) => message))];
const googleTypes: Readonly<Record<string, string>> = {
  'google.protobuf.Struct': 'Struct',
  'google.protobuf.Value': 'Value',
  'google.protobuf.Timestamp': 'Timestamp',
};

test('there are exactly the 44 messages of the protocol', () => {
  expect(messageNames).toHaveLength(44);
  expect(Object.keys(fields).toSorted()).toEqual(messageNames.toSorted());
});

test.each(messageNames)('%s has the fields of the protocol, by name, number, type and label', (message) => {
  const expected = fieldFacts.filter((fact) => fact.message === message).map((fact) => [fact.jsonName, rowOf(fact)]);
  expect(Object.entries(fields[message as MessageName])).toEqual(expected); // true: the names are those of the test above
});

function rowOf({ protoName, number, type, labels }: FieldFact): readonly unknown[] {
  const inner = /^map<string,(.+)>$/.exec(type)?.[1] ?? type;
  return [
    protoName,
    number,
    googleTypes[inner] ?? inner,
    labels.map((label) => (label === 'required-annotated' ? 'required' : label)).join(' '),
  ];
}

test.each(messageNames)('the type %s has each field, required exactly where the protocol says so (JSON-14, JSON-17)', (message) => {
  const source = sourceOf(message);
  for (const { jsonName, labels } of fieldFacts.filter((fact) => fact.message === message)) {
    const [, optional] = new RegExp(`readonly ${jsonName}(\\??):`).exec(source) ?? [];
    const isRequired = labels.includes('required-annotated') || labels.some((label) => label.startsWith('oneof:'));
    expect(optional, `${message}.${jsonName}`).toBe(isRequired ? '' : '?');
  }
  const written = [...source.matchAll(/readonly (\w+)\??:/g)].map(([, name]) => name);
  const expected = fieldFacts.filter((fact) => fact.message === message).map((fact) => fact.jsonName);
  expect(written).toHaveLength(expected.length);
  expect(new Set(written)).toEqual(new Set(expected));
});

function sourceOf(message: string): string {
  const start = types.search(new RegExp(`export (interface|type) ${message}\\b`));
  const end = types.indexOf('\n\n', start);
  const found = types.slice(start, end < 0 ? undefined : end);
  const details = found.includes('PartDetails') ? (/export interface PartDetails \{[^}]*\}/.exec(types)?.[0] ?? '') : '';
  return found + details;
}

test('the enums have the values of the protocol, 0 being the one that is never sent (STATE-01)', () => {
  const known = Object.entries(enums).flatMap(([name, values]) =>
    Object.entries(values).map(([value, number]) => ({ name, value, number })),
  );
  const unset = Object.entries(unspecified).map(([name, value]) => ({ name, value, number: 0 }));
  expect(new Set([...known, ...unset].map((fact) => JSON.stringify(fact)))).toEqual(new Set(enumFacts.map((fact) => JSON.stringify(fact))));
});

test('the operations are those of the protocol: request, response, stream, paths (table A, REST-01, REST-05)', () => {
  expect(allOperations.map(({ name }) => name).toSorted()).toEqual([...new Set(rpcFacts.map(({ rpc }) => rpc))].toSorted());
  for (const fact of rpcFacts) {
    const operation = operations[fact.rpc as keyof typeof operations]; // true: the test's first line
    expect(operation.request).toBe(fact.request);
    expect(operation.response).toBe(fact.response.replace('google.protobuf.', ''));
    expect(operation.isStreaming).toBe(fact.isStreaming);
    expect(operation.httpMethods).toContain(fact.verb);
    expect(operation.hasBody).toBe(fact.hasBody);
    expect(fact.path.replace('/{tenant}', '')).toBe(operation.path.replace(/\{taskId\}/g, '{task_id}'));
  }
  expect(operations.SubscribeToTask.httpMethods).toEqual(['POST', 'GET']);
  expect(GRPC_SERVICE).toBe('/lf.a2a.v1.A2AService');
});
