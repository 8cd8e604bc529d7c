import { describe, expect, test } from 'vitest';
import { readSources } from './sources.ts';

/** How many rules the protocol has in each group that is delivered so far; their numbers run from 1. */
const groups: Readonly<Record<string, number>> = {
  SEND: 20,
  IDEM: 6,
  STRM: 23,
  SUB: 9,
  GET: 6,
  LIST: 18,
  CANC: 7,
  HIST: 11,
  TURN: 24,
  STATE: 7,
  ART: 7,
  CAP: 3,
  VER: 14,
  ERR: 21,
  RPC: 12,
  REST: 19,
};

/** Rules without a test of their own, each with the reason. */
const leftOut: Readonly<Record<string, string>> = {
  'SEND-04': 'media types of parts come with the rest of the protocol',
  'SEND-12': 'so does the tailoring of output',
  'SEND-13': 'inline webhooks come with push',
  'IDEM-05': 'webhooks come with push',
  'REST-18': 'webhooks come with push',
  'STRM-18': 'a MAY that is not used',
  'HIST-09': 'about what agents and clients rely on',
  'HIST-11': 'about what clients rely on',
  'TURN-06': 'about what clients choose',
  'TURN-09': 'a MAY of agent code',
  'TURN-10': 'contexts do not expire here, tasks do',
  'TURN-11': 'contexts do not expire here, tasks do',
  'CAP-02': 'about what clients look at',
  'VER-09': 'one version is served so far',
  'VER-10': 'one version is spoken so far',
  'REST-15': 'a MAY that is used where there is cause',
};

/** Situations seen in public whose tests are due; numbers have gaps. */
const cases = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 15, 17, 18, 19, 20, 21, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 39, 40, 49, 50, 51, 52, 53, 54, 55, 56,
  58, 59, 61, 62, 63, 64, 66, 68, 69, 70, 71, 72, 73, 74, 76, 77, 78, 79, 83, 84, 85, 87, 89, 90, 92, 93, 94, 95, 96, 97, 98, 99, 100,
];

const texts = readSources('test').filter(({ path }) => path.endsWith('.test.ts') && path !== 'test/house/rules.test.ts');
const all = texts.map(({ text }) => text).join('\n');

/** Every rule that is cited, ranges (`STRM-09 to STRM-14`) counted out. */
const cited = new Set<string>();
for (const [, group = '', first = '', last = first] of all.matchAll(/\b([A-Z]+)-(\d\d)(?: to \1-(\d\d))?/g)) {
  for (let number = Number(first); number <= Number(last); number += 1) cited.add(`${group}-${String(number).padStart(2, '0')}`);
}

const rules = Object.entries(groups).flatMap(([group, most]) =>
  Array.from({ length: most }, (_, index) => `${group}-${String(index + 1).padStart(2, '0')}`),
);

describe('what is promised is shown', () => {
  test('every rule of the protocol is cited by a test, or left out with its reason', () => {
    expect(rules.filter((rule) => !cited.has(rule) && leftOut[rule] === undefined)).toEqual([]);
  });

  test('no reason stands for a rule that has a test by now, or that is none', () => {
    expect(Object.keys(leftOut).filter((rule) => cited.has(rule) || !rules.includes(rule))).toEqual([]);
  });

  test('every case that is due is cited by a test', () => {
    const shown = new Set([...all.matchAll(/\bcase (\d+)/g)].map((match) => Number(match[1])));
    expect(cases.filter((number) => !shown.has(number))).toEqual([]);
  });
});
