import { describe, expect, test } from 'vitest';
import type { OperationName } from '../../src/wire/operations.ts';
import { callers, wellFormed } from './callers.ts';
import { onStage } from './stage.ts';

const names = Object.keys(wellFormed) as OperationName[]; // the table's own keys

describe('the version gate', () => {
  // case 67: what stands in the header, and whether the request is served
  test.each([
    ['1.0', true],
    ['1.0.1', true], // VER-03, AMB-26
    [' 1.0 ', true],
    ['0.3', false],
    ['', false], // VER-08: empty is 0.3
    ['99.0', false],
    ['1', false],
    ['abc', false],
    ['1.0.x', false],
  ])('stands before every method of both bindings: %j → served: %s (VER-07, case 67)', async (version, isServed) => {
    await using open = await onStage();
    for (const caller of callers) {
      for (const name of names) {
        const answer = await caller.read(await caller.fetch(open.url, name, wellFormed[name], { headers: { 'a2a-version': version } }));
        // the stage has no operations: what gets through is told so by them
        expect(answer.error?.reason, `${caller.name} ${name}`).toBe(isServed ? 'UNSUPPORTED_OPERATION' : 'VERSION_NOT_SUPPORTED');
        if (!isServed) expect(answer.error?.metadata?.['supported']).toBe('1.0');
      }
    }
    expect(open.stage.seen).toHaveLength(isServed ? 2 * names.length : 0);
  });

  test.each([
    ['?A2A-Version=1.0', undefined, true],
    ['?a2a-version=1.0', undefined, true], // SP-01
    ['?A2A-Version=', undefined, false],
    ['?A2A-Version=2.0', undefined, false],
    ['', undefined, false],
    ['?A2A-Version=2.0', '1.0', true], // AMB-26: the header wins
    ['?A2A-Version=1.0', '0.3', false],
  ])('reads the query %j when there is no header (VER-05, AMB-26)', async (query, header, isServed) => {
    await using open = await onStage();
    const headers = { 'content-type': 'application/json', ...(header === undefined ? {} : { 'a2a-version': header }) };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 't' } });
    await fetch(`${open.url}/${query}`, { method: 'POST', headers, body });
    await fetch(`${open.url}/rest/tasks/t${query}`, { headers });
    expect(open.stage.seen).toHaveLength(isServed ? 2 : 0);
  });

  test('tells a 0.3 client about the version and not about its method (VER-08)', async () => {
    await using open = await onStage();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: {} });
    const response = await fetch(`${open.url}/`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32009 } });
  });

  test('does not stand before the card', async () => {
    await using open = await onStage();
    expect((await fetch(`${open.url}/.well-known/agent-card.json`, { headers: { 'a2a-version': '99.0' } })).status).toBe(200);
  });
});
