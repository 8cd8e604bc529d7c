import { expect, test } from 'vitest';
import type { CardDraft } from '../../src/protocol/card.ts';
import { cardProblems, completeCard } from '../../src/protocol/card.ts';
import { readMessage } from '../../src/wire/reader.ts';

const draft: CardDraft = { name: 'Greeter', description: 'Greets people.', version: '1.0.0' };
const surroundings = {
  interfaces: [{ url: 'http://127.0.0.1:4000/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
};

test('three words make a whole card: every required field is there (CARD-04, CARD-05)', () => {
  const card = completeCard(draft, surroundings);
  expect(card).toEqual({
    ...draft,
    supportedInterfaces: surroundings.interfaces,
    capabilities: surroundings.capabilities,
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'main', name: 'Greeter', description: 'Greets people.', tags: ['general'] }],
  });
  expect(readMessage('AgentCard', card)).toEqual(card);
});

test('what the author says stands', () => {
  const card = completeCard(
    {
      ...draft,
      skills: [],
      defaultInputModes: ['application/json'],
      capabilities: { streaming: false, extensions: [{ uri: 'https://x.example/e/v1' }] },
      provider: { url: 'https://x.example', organization: 'X' },
    },
    surroundings,
  );
  expect(card.skills).toEqual([]);
  expect(card.defaultInputModes).toEqual(['application/json']);
  expect(card.capabilities).toEqual({ ...surroundings.capabilities, streaming: false, extensions: [{ uri: 'https://x.example/e/v1' }] });
  expect(card.provider?.organization).toBe('X');
});

test('a card keeps no tie to the object it was made from', () => {
  const skills = [{ id: 'a', name: 'A', description: 'a', tags: ['t'] }];
  const card = completeCard({ ...draft, skills }, surroundings);
  skills.pop();
  expect(card.skills).toHaveLength(1);
});

test.each<[string, Partial<Record<keyof CardDraft, unknown>>, string]>([
  ['an empty name', { name: ' ' }, 'name must be a text that is not empty.'],
  ['no version', { version: undefined }, 'version must be a text that is not empty.'],
  ['a mode that is no media type', { defaultInputModes: ['text'] }, 'defaultInputModes: "text" is not a media type'],
  [
    'a capability that is not offered',
    { capabilities: { pushNotifications: true } },
    'capabilities.pushNotifications is declared but not offered',
  ],
  ['a relative URL', { iconUrl: '/icon.png' }, 'iconUrl must be an absolute URL.'],
  ['a skill without tags', { skills: [{ id: 'a', name: 'A', description: 'a' }] }, 'skills[0].tags must be a list of texts.'],
  ['two skills with one id', { skills: [skill('a'), skill('a')] }, 'skills: the id "a" is there twice.'],
  [
    'a patch number in a version',
    { supportedInterfaces: [{ url: 'u', protocolBinding: 'JSONRPC', protocolVersion: '1.0.1' }] },
    'Major.Minor',
  ],
  ['an unknown security scheme', { securityRequirements: [{ schemes: { key: {} } }] }, 'the scheme "key", which securitySchemes lack'],
])('%s is refused at the start with its field named', (_, change, problem) => {
  expect(() => completeCard({ ...draft, ...change } as CardDraft, surroundings)).toThrow(problem);
});

function skill(id: string): unknown {
  return { id, name: 'n', description: 'd', tags: [] };
}

test('what is no JSON is refused as well', () => {
  expect(() => completeCard({ ...draft, extra: () => 1 } as CardDraft, surroundings)).toThrow('must be plain JSON');
});

test('all problems are named at once', () => {
  expect(cardProblems({ ...draft, name: '', skills: {} } as unknown as CardDraft, surroundings.capabilities)).toHaveLength(2);
});
