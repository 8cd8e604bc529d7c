import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isA2AError } from '../../src/protocol/errors.ts';
import { readAnswer, readMessage } from '../../src/wire/reader.ts';
import type { MessageName } from '../../src/wire/schema.ts';
import type { Verdict } from './judge.ts';
import { judge, messageNames } from './judge.ts';
import type { FieldFact } from './tables.ts';
import { enumFacts, fieldFacts } from './tables.ts';

// Our reader against another implementation of ProtoJSON: both accept and print the same, or both refuse; where one accepts and the other does
// not, the reason stands in one of these two lists, and every line of them is met in the run.

interface Difference {
  readonly match: RegExp;
  readonly reason: string;
}

/** We refuse what ProtoJSON would take. Each of our violations has to be one of these. */
const weRefuse: readonly Difference[] = [
  { match: /is required$/, reason: 'required-annotated fields are present and set (JSON-14, JSON-15); ProtoJSON knows no required fields' },
  { match: /must not be empty$/, reason: 'parts hold at least one part (JSON-16, AMB-21)' },
  { match: /must have exactly one of/, reason: 'a oneof of A2A is never unset (JSON-12, STRM-21)' },
  {
    match: /must be one of (TASK_STATE|ROLE)_/,
    reason: 'an enum number without a name has no meaning here (LIST-05); proto3 enums are open',
  },
  { match: /must be from (0|1) to/, reason: 'ranges of page sizes and history lengths (LIST-04, LIST-05)' },
  { match: /U\+0000|surrogate/, reason: 'texts that stores or UTF-8 cannot keep (case 74)' },
  { match: /control characters|at most 255/, reason: 'the rule for ids (case 95)' },
  { match: /printable ASCII/, reason: 'texts that are sent as headers (case 45)' },
  { match: /must be base64$/, reason: 'white space and inner padding are not in the grammar of base64 (RFC 4648)' },
  { match: /must be a whole number$/, reason: 'numerals are decimal as in JSON; the judge takes hexadecimal and leading zeros' },
  { match: /must be a timestamp/, reason: 'there is no 30th of February and no hour 24; the judge lets them roll over' },
];

/** We take what ProtoJSON would refuse. */
const weAccept: readonly Difference[] = [
  { match: /oneof .*set multiple times/, reason: 'empty placeholders beside the one content that is meant (JSON-12)' },
  { match: /^cannot decode field .*set multiple times/, reason: 'null is unset (JSON-10), also under the second name of a member' },
  { match: /Timestamp/, reason: 'more than nine digits of a second are cut off, not refused (JSON-07)' },
];

const met = new Set<Difference>();

const text = fc.oneof(
  { weight: 12, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom('a:b', 'a/b', 'ü漢😀', '<b>&"\'', '\u2028', 'x'.repeat(300), '__proto__') },
  { weight: 1, arbitrary: fc.constantFrom('', 'nul\0', '\ud800', 'line\nbreak', 'x\u0085') },
);
const wrong = fc.constantFrom<unknown>(1, 1.5, true, [], {}, ['x'], 'x', -1, null);
const json = fc.jsonValue({ maxDepth: 3 });
const byType: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: text,
  bool: fc.boolean(),
  int32: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom<unknown>(0, 1, 50, 100, '7', 1e2, '1e2', '1.0', 2147483647, -0) },
    {
      weight: 2,
      arbitrary: fc.constantFrom<unknown>(-1, 101, 2147483648, -2147483648, 1.5, '1.5', '', ' 1', '0x10', '01', '+1', 'NaN', 1e300),
    },
  ),
  bytes: fc.oneof(
    { weight: 8, arbitrary: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64')) },
    { weight: 4, arbitrary: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64url')) },
    { weight: 1, arbitrary: fc.constantFrom('QR==', 'QQ', 'QQ=', 'Q', 'QQ==QQ==', 'Q Q=', '-_+/', '*', 'QUJ') },
  ),
  'google.protobuf.Timestamp': fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .date({ min: new Date(-62135596800000), max: new Date(253402300799999), noInvalidDate: true })
        .map((date) => date.toISOString()),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom<unknown>(
        '2026-01-31T12:00:00Z',
        '2026-01-31T12:00:00.5+05:30',
        '2026-01-31T12:00:00.123456-08:00',
        '2026-01-31T12:00:00.123456789012Z',
        '2026-02-30T12:00:00Z',
        '2026-01-31T24:00:00Z',
        '2024-02-29T23:59:59.999999999Z',
        '0001-01-01T00:00:00+01:00',
        '9999-12-31T23:59:59-01:00',
        '2026-01-31t12:00:00z',
        '2026-01-31',
        '2026-01-31T12:00:60Z',
        1769860800000,
      ),
    },
  ),
  'google.protobuf.Struct': fc.dictionary(
    text.filter((key) => key !== '__proto__'),
    json,
    { maxKeys: 3 },
  ),
  'google.protobuf.Value': json,
};

function arbitraryOf(type: string): fc.Arbitrary<unknown> {
  const known = byType[type];
  if (known) return known;
  const values = enumFacts.filter(({ name }) => name === type);
  if (values.length === 0) return messageOf(type);
  return fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom<unknown>(...values.flatMap(({ value, number }) => [value, number])) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(99, 'NO_SUCH_NAME', '1', 1.5) },
  );
}

const messages = new Map<string, fc.Arbitrary<unknown>>();

function messageOf(name: string): fc.Arbitrary<unknown> {
  const known = messages.get(name);
  if (known) return known;
  const rows = fieldFacts.filter(({ message }) => message === name);
  const oneofs = rows.filter(isOneof);
  const plain = rows.filter((row) => !isOneof(row)).map((row) => membersOf(row, row.labels.includes('required-annotated') ? 0.99 : 0.4));
  const chosen = oneofs.length === 0 ? [] : [fc.oneof(...oneofs.map((row) => membersOf(row, 0.98))), placeholders(oneofs)];
  const unknown = fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: json.map((value) => [['noSuchMember', value] as const]) },
  );
  const made = fc.tuple(unknown, ...plain, ...chosen.toReversed()).map((lists) => Object.fromEntries(lists.flat()));
  messages.set(name, made);
  return made;
}

type Members = readonly (readonly [string, unknown])[];

function isOneof({ labels }: FieldFact): boolean {
  return labels.some((label) => label.startsWith('oneof:'));
}

// printers that write every member of the oneof
function placeholders(rows: readonly FieldFact[]): fc.Arbitrary<Members> {
  const empty = rows.filter(({ type }) => type === 'string' || type === 'bytes').map(({ jsonName }) => [jsonName, ''] as const);
  return fc.oneof({ weight: 6, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.subarray(empty) });
}

function membersOf(row: FieldFact, chance: number): fc.Arbitrary<Members> {
  const map = /^map<string,(.+)>$/.exec(row.type);
  const one = arbitraryOf(map?.[1] ?? row.type);
  const good = map
    ? fc.dictionary(
        text.filter((key) => key !== '__proto__'),
        one,
        { maxKeys: 2 },
      )
    : row.labels.includes('repeated')
      ? fc.oneof({ weight: 9, arbitrary: fc.array(one, { minLength: 1, maxLength: 3 }) }, { weight: 1, arbitrary: fc.constant([]) })
      : one;
  const value = fc.oneof({ weight: 60, arbitrary: good }, { weight: 1, arbitrary: wrong });
  const names = fc.oneof(
    { weight: 30, arbitrary: fc.constant([row.jsonName]) },
    { weight: 8, arbitrary: fc.constant([row.protoName]) },
    { weight: 1, arbitrary: fc.constant([row.jsonName, row.protoName]) },
    { weight: 1, arbitrary: fc.constant([row.jsonName, row.protoName, 'null']) },
  );
  const per = 1_000;
  return fc.tuple(fc.nat(per - 1), names, value).map(([dice, [first = '', second, asNull], content]) => {
    if (dice >= chance * per) return [];
    if (second === undefined) return [[first, content] as const];
    return [[first, asNull === undefined ? content : null] as const, [second, content] as const];
  });
}

function ours(name: MessageName, input: unknown): Verdict & { readonly violations: readonly string[] } {
  try {
    return { kind: 'accepted', json: readMessage(name, input), violations: [] };
  } catch (error) {
    if (!isA2AError(error)) throw error;
    return { kind: 'refused', why: error.message, violations: error.violations.map(({ description }) => description) };
  }
}

// The judge leaves out what is empty although it is required, and prints timestamps with 0, 3, 6 or 9 digits
function asWePrint(name: string, value: unknown): unknown {
  const out: Record<string, unknown> = { ...(value as Record<string, unknown>) }; // true: the judge prints messages as objects
  for (const { jsonName, type, labels } of fieldFacts.filter(({ message }) => message === name)) {
    const map = /^map<string,(.+)>$/.exec(type)?.[1];
    const inner = (one: unknown): unknown =>
      type === 'google.protobuf.Timestamp'
        ? new Date(String(one)).toISOString()
        : messageNames.includes(map ?? type)
          ? asWePrint(map ?? type, one)
          : one;
    if (out[jsonName] !== undefined) {
      const member = out[jsonName];
      if (map) out[jsonName] = Object.fromEntries(Object.entries(member as object).map(([key, one]) => [key, inner(one)]));
      else out[jsonName] = labels.includes('repeated') && Array.isArray(member) ? member.map(inner) : inner(member);
    } else if (labels.includes('required-annotated')) {
      out[jsonName] = map ? {} : labels.includes('repeated') ? [] : type === 'int32' ? 0 : '';
    }
  }
  return out;
}

// members in one order, and no difference between 0 and −0: JSON has none
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
}

function compare(name: string, input: unknown): void {
  const mine = ours(name as MessageName, input); // true: the names are those of the protocol's table, see fields.test.ts
  const theirs = judge(name, input);
  const what = `${name} ${JSON.stringify(input)}\nours: ${JSON.stringify(mine)}\njudge: ${JSON.stringify(theirs)}`;
  if (mine.kind === 'accepted' && theirs.kind === 'accepted') {
    expect(JSON.stringify(sorted(mine.json)), what).toBe(JSON.stringify(sorted(asWePrint(name, theirs.json))));
  } else if (mine.kind === 'refused' && theirs.kind === 'accepted') {
    for (const violation of mine.violations) {
      const difference = weRefuse.find(({ match }) => match.test(violation));
      expect(difference, `not an intended difference: ${violation}\n${what}`).toBeDefined();
      if (difference) met.add(difference);
    }
  } else if (mine.kind === 'accepted' && theirs.kind === 'refused') {
    const difference = weAccept.find(({ match }) => match.test(theirs.why));
    expect(difference, `not an intended difference\n${what}`).toBeDefined();
    if (difference) met.add(difference);
  }
}

// SEED and RUNS look further than the fast suite does
const runs = { seed: Number(process.env.SEED ?? 20261130), numRuns: Number(process.env.RUNS ?? 3_000) };

test('the reader and the judge agree on every message but for the listed differences (JSON-01 to JSON-21)', { timeout: 60_000 }, () => {
  let accepted = 0;
  const anyMessage = fc
    .oneof({ weight: 2, arbitrary: fc.constantFrom(...messageNames) }, { weight: 1, arbitrary: fc.constant('SendMessageRequest') })
    .chain((name) => messageOf(name).map((input) => ({ name, input })));
  fc.assert(
    fc.property(anyMessage, ({ name, input }) => {
      // as on the wire: half of surrogates and members that are `undefined` do not pass through text unnoticed
      const fresh: unknown = JSON.parse(JSON.stringify(input));
      compare(name, fresh);
      if (ours(name as MessageName, fresh).kind === 'accepted') accepted += 1;
    }),
    runs,
  );
  expect(accepted, 'enough messages were good ones').toBeGreaterThan(runs.numRuns / 4);
  const unmet = [...weRefuse, ...weAccept].filter((difference) => !met.has(difference)).map(({ reason }) => reason);
  expect(unmet, 'every listed difference was met').toEqual([]);
});

test('what the strict reader accepts the lenient one reads alike', { timeout: 60_000 }, () => {
  const anyMessage = fc
    .constantFrom(...messageNames)
    .chain((name) => messageOf(name).map((input) => ({ name: name as MessageName, input })));
  fc.assert(
    fc.property(anyMessage, ({ name, input }) => {
      const mine = ours(name, JSON.parse(JSON.stringify(input)));
      if (mine.kind === 'accepted') expect(readAnswer(name, JSON.parse(JSON.stringify(input)))).toEqual(mine.json);
    }),
    { ...runs, numRuns: 1_000 },
  );
});

test('what the reader gives back it reads again without a change: it is canonical', { timeout: 60_000 }, () => {
  const anyMessage = fc
    .constantFrom(...messageNames)
    .chain((name) => messageOf(name).map((input) => ({ name: name as MessageName, input })));
  fc.assert(
    fc.property(anyMessage, ({ name, input }) => {
      const mine = ours(name, JSON.parse(JSON.stringify(input)));
      if (mine.kind === 'accepted')
        expect(JSON.stringify(readMessage(name, JSON.parse(JSON.stringify(mine.json))))).toBe(JSON.stringify(mine.json));
    }),
    { ...runs, numRuns: 1_000 },
  );
});
