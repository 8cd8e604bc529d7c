import type { Json } from '../../src/protocol/types.ts';

/** Values that break readers, in requests of any kind. */
const odd: readonly Json[] = [
  null,
  '',
  ' ',
  0,
  -1,
  1.5,
  1e308,
  -0,
  2 ** 31,
  2 ** 53,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  { '': '' },
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '__proto__',
  'constructor',
  'toString',
  'TASK_STATE_UNSPECIFIED',
  'ROLE_UNSPECIFIED',
  '../..',
  '%00',
  '%',
  'a/b',
  ':cancel',
  "'; DROP TABLE chorus_task; --",
  'x'.repeat(300),
  '\u202e\u0301😀',
  'NaN',
  '1e5',
  '0x10',
  '9999-99-99T99:99:99Z',
  '2026-01-01T00:00:00Z',
  { text: 'a', url: 'b' },
  { text: 'done' },
  { __proto__x: { polluted: true } },
];

/** The same random numbers for the same seed (mulberry32), each below `limit`. */
export type Dice = (limit: number) => number;

/** Another value for one that was well formed: somewhere in it, up to three times, something is odd, missing, double or too much. */
export function mutated(value: Json, dice: Dice): Json {
  let out = value;
  for (let times = 1 + dice(3); times > 0; times -= 1) out = mutateOnce(out, dice, 6);
  return out;
}

function mutateOnce(value: Json, dice: Dice, depth: number): Json {
  if (depth === 0 || dice(6) === 0) return pick(odd, dice);
  if (isList(value)) {
    if (value.length === 0 || dice(4) === 0) return [...value, pick(odd, dice)];
    const at = dice(value.length);
    return value.map((one, index) => (index === at ? mutateOnce(one, dice, depth - 1) : one));
  }
  if (typeof value !== 'object' || value === null) return pick(odd, dice);
  const entries = Object.entries<Json>(value);
  const at = dice(entries.length + 1);
  const [name, member] = entries[at] ?? [];
  if (name === undefined || member === undefined) return Object.fromEntries([...entries, [pick(names, dice), pick(odd, dice)]]);
  switch (dice(4)) {
    case 0:
      return Object.fromEntries(entries.filter(([one]) => one !== name));
    case 1:
      return Object.fromEntries([...entries, [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), pick(odd, dice)]]);
    default:
      return Object.fromEntries(
        entries.map(([one, other]): [string, Json] => [one, one === name ? mutateOnce(other, dice, depth - 1) : other]),
      );
  }
}

const names = [
  'tenant',
  'id',
  'message',
  'metadata',
  'configuration',
  'historyLength',
  'taskId',
  'contextId',
  'parts',
  'data',
  'raw',
  '__proto__',
  'pageToken',
  'status',
];

function pick<One>(list: readonly [One, ...One[]] | readonly One[], dice: Dice): One {
  return list[dice(list.length)] as One; // the index is below the length, and no list here is empty
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
