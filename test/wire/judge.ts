import type { DescMessage, JsonValue } from '@bufbuild/protobuf';
import { create, createFileRegistry, fromJson, toJson } from '@bufbuild/protobuf';
import type { DescriptorProto, FieldDescriptorProto } from '@bufbuild/protobuf/wkt';
import {
  DescriptorProtoSchema,
  EnumDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldDescriptorProtoSchema,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import type { FieldFact } from './tables.ts';
import { enumFacts, fieldFacts } from './tables.ts';

// The judge of our reader: another implementation of ProtoJSON, told the messages by the protocol's own table and not by ours.

const packageName = 'lf.a2a.v1';
const enumNames = new Set(enumFacts.map(({ name }) => name));
const scalars: Readonly<Record<string, Type>> = { string: Type.STRING, bool: Type.BOOL, int32: Type.INT32, bytes: Type.BYTES };

type FieldInit = Partial<Pick<FieldDescriptorProto, 'type' | 'typeName'>>;

function typeOf(type: string): FieldInit {
  const scalar = scalars[type];
  if (scalar !== undefined) return { type: scalar };
  const typeName = type.startsWith('google.') ? `.${type}` : `.${packageName}.${type}`;
  return { type: enumNames.has(type) ? Type.ENUM : Type.MESSAGE, typeName };
}

function describe(name: string, rows: readonly FieldFact[]): DescriptorProto {
  const message = create(DescriptorProtoSchema, { name });
  for (const row of rows) {
    const map = /^map<string,(.+)>$/.exec(row.type);
    const field = create(FieldDescriptorProtoSchema, {
      name: row.protoName,
      jsonName: row.jsonName,
      number: row.number,
      label: map || row.labels.includes('repeated') ? Label.REPEATED : Label.OPTIONAL,
      ...(map ? entryOf(message, row, map[1] ?? '') : typeOf(row.type)),
    });
    const oneof = row.labels.find((label) => label.startsWith('oneof:'))?.slice('oneof:'.length);
    const isOptional = row.labels.includes('optional');
    if (oneof !== undefined || isOptional) {
      field.proto3Optional = isOptional;
      field.oneofIndex = indexOfOneof(message, oneof ?? `_${row.protoName}`);
    }
    message.field.push(field);
  }
  return message;
}

function indexOfOneof(message: DescriptorProto, name: string): number {
  const known = message.oneofDecl.findIndex((oneof) => oneof.name === name);
  // true: a plain object with the name is all that the registry reads
  return known >= 0 ? known : message.oneofDecl.push({ $typeName: 'google.protobuf.OneofDescriptorProto', name } as never) - 1;
}

function entryOf(message: DescriptorProto, row: FieldFact, valueType: string): FieldInit {
  const name = `${row.protoName
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Entry`;
  message.nestedType.push(
    create(DescriptorProtoSchema, {
      name,
      options: { mapEntry: true },
      field: [
        { name: 'key', jsonName: 'key', number: 1, label: Label.OPTIONAL, type: Type.STRING },
        { name: 'value', jsonName: 'value', number: 2, label: Label.OPTIONAL, ...typeOf(valueType) },
      ],
    }),
  );
  return { type: Type.MESSAGE, typeName: `.${packageName}.${message.name}.${name}` };
}

export const messageNames: readonly string[] = [...new Set(fieldFacts.map(({ message }) => message))];

const file = create(FileDescriptorProtoSchema, {
  name: 'a2a.proto',
  package: packageName,
  syntax: 'proto3',
  dependency: ['google/protobuf/struct.proto', 'google/protobuf/timestamp.proto'],
  messageType: messageNames.map((name) =>
    describe(
      name,
      fieldFacts.filter(({ message }) => message === name),
    ),
  ),
  enumType: [...enumNames].map((name) =>
    create(EnumDescriptorProtoSchema, {
      name,
      value: enumFacts.filter((fact) => fact.name === name).map(({ value, number }) => ({ name: value, number })),
    }),
  ),
});

const registry = createFileRegistry(file, (name) =>
  name.endsWith('struct.proto')
    ? file_google_protobuf_struct
    : name.endsWith('timestamp.proto')
      ? file_google_protobuf_timestamp
      : undefined,
);

export function descriptorOf(name: string): DescMessage {
  const found = registry.getMessage(`${packageName}.${name}`);
  if (!found) throw new Error(`the judge knows no message ${name}`);
  return found;
}

export type Verdict = { readonly kind: 'accepted'; readonly json: unknown } | { readonly kind: 'refused'; readonly why: string };

/** What the other implementation says: the canonical JSON of a message, or why it is none. */
export function judge(name: string, json: unknown): Verdict {
  const descriptor = descriptorOf(name);
  try {
    // true: it came from JSON text
    const message = fromJson(descriptor, json as JsonValue, { ignoreUnknownFields: true });
    return { kind: 'accepted', json: toJson(descriptor, message) };
  } catch (error) {
    return { kind: 'refused', why: error instanceof Error ? error.message : String(error) };
  }
}
