import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { wireLimits } from '../../src/bindings/router.ts';
import { PARTS_MAX, VALUE_DEPTH_MAX } from '../../src/protocol/limits.ts';
import { turnSettings } from '../../src/turn/options.ts';
import { root } from './sources.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const DAY_MS = 86_400_000;
const MEBIBYTE = 1_048_576;

/** What a cell of the table of defaults says, as the code would. */
function valueOf(cell: string): string | number | undefined {
  const text = /^`'(\w+)'`/.exec(cell)?.[1];
  if (text !== undefined) return text;
  if (cell === 'off') return undefined;
  const [, digits = '', unit] = /^([\d,]+)(?: (days|MiB))?/.exec(cell) ?? [];
  return Number(digits.replaceAll(',', '')) * (unit === 'days' ? DAY_MS : unit === 'MiB' ? MEBIBYTE : 1);
}

const rows = new Map([...readme.matchAll(/^\| `(\w+)` \| ([^|]+?) \|/gm)].map(([, name = '', cell = '']) => [name, cell]));

describe('the README', () => {
  test('tells every option of a turn with the default that the code has', () => {
    const settings: Readonly<Record<string, unknown>> = { deadlineMs: undefined, ...turnSettings({}) };
    const told = Object.fromEntries(Object.keys(settings).map((name) => [name, valueOf(rows.get(name) ?? '')]));
    expect(told).toEqual(settings);
  });

  test('tells the limits of requests as they are', () => {
    const text = readme.replace(/\s+/g, ' ');
    const said = (value: number): string => value.toLocaleString('en');
    expect(text).toContain(
      `may have ${wireLimits.bodyBytesMax / MEBIBYTE} MiB, a message ${said(PARTS_MAX)} parts, a value in it a depth of ${VALUE_DEPTH_MAX}`,
    );
    expect(text).toContain(
      `${said(wireLimits.streamsMax)} streams and as many calls at once, ${said(wireLimits.streamsPerCallerMax)} of one named caller`,
    );
    expect([wireLimits.callsMax, wireLimits.callsPerCallerMax]).toEqual([wireLimits.streamsMax, wireLimits.streamsPerCallerMax]);
  });
});
