import { idProblem } from './ids.ts';
import { copyJson, isPlainObject } from './json.ts';
import { textProblem } from './text.ts';
import type { AgentCapabilities, AgentCard, AgentInterface, AgentSkill } from './types.ts';

/** What an author has to say of an agent; all else is filled in. `signatures` are made when the card is served, never written by hand. */
export type CardDraft = Pick<AgentCard, 'name' | 'description' | 'version'> & Partial<Omit<AgentCard, 'signatures'>>;

/** What the program around the agent knows: where it listens and what it can do. */
export interface CardSurroundings {
  /** In order of preference (CARD-08). Used when the draft names none. */
  readonly interfaces: readonly AgentInterface[];
  /** What is really offered. A draft may declare less, never more (CARD-06, CAP-01). */
  readonly capabilities: AgentCapabilities;
}

const textModes = ['text/plain'];

/**
 * The whole card from an author's draft: every required field is there (CARD-04). Default modes are plain text; without skills the agent has one,
 * named and described like itself, because some readers want at least one (AMB-21). Throws a TypeError that names everything wrong.
 */
export function completeCard(draft: CardDraft, { interfaces, capabilities }: CardSurroundings): AgentCard {
  const problems = cardProblems(draft, capabilities);
  if (problems.length > 0) throw new TypeError(`The agent's card is not valid. ${problems.join(' ')}`);
  const { name, description, version } = draft;
  const given = copyOf(draft);
  return {
    ...given,
    supportedInterfaces: given.supportedInterfaces ?? interfaces,
    capabilities: { ...capabilities, ...given.capabilities },
    defaultInputModes: given.defaultInputModes ?? textModes,
    defaultOutputModes: given.defaultOutputModes ?? textModes,
    skills: given.skills ?? [{ id: 'main', name, description, tags: ['general'] }],
    name,
    description,
    version,
  };
}

// so that the author's object may change; a member that is `undefined` is left out
function copyOf(draft: CardDraft): CardDraft {
  try {
    // true: a plain JSON copy has the shape of what it was made from
    return copyJson(draft, 'card') as unknown as CardDraft;
  } catch (error) {
    throw new TypeError("The agent's card is not valid: it must be plain JSON.", { cause: error });
  }
}

/** Everything that is wrong with a draft, a sentence each; for a program that wants to say so before it listens. */
export function cardProblems(draft: CardDraft, offered: AgentCapabilities): readonly string[] {
  if (!isPlainObject(draft)) return ['It must be an object with at least name, description and version.'];
  return [
    ...(['name', 'description', 'version'] as const).flatMap((field) => textProblems(field, draft[field])),
    ...(['documentationUrl', 'iconUrl'] as const).flatMap((field) => urlProblems(field, draft[field])),
    ...(['defaultInputModes', 'defaultOutputModes'] as const).flatMap((field) => modeProblems(field, draft[field])),
    ...listProblems('supportedInterfaces', draft.supportedInterfaces, interfaceProblems),
    ...capabilityProblems(draft.capabilities, offered),
    ...skillsProblems(draft.skills),
    ...securityProblems(draft),
  ];
}

function textProblems(path: string, value: unknown): readonly string[] {
  if (typeof value !== 'string' || value.trim() === '') return [`${path} must be a text that is not empty.`];
  const problem = textProblem(value);
  return problem === undefined ? [] : [`${path} ${problem}.`];
}

function urlProblems(path: string, value: unknown): readonly string[] {
  return value === undefined || (typeof value === 'string' && URL.canParse(value)) ? [] : [`${path} must be an absolute URL.`];
}

// the conformance kit and every SDK compare modes as media types
function modeProblems(path: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length === 0) return [`${path} must be a list of media types that is not empty.`];
  const bad = value.filter((mode) => typeof mode !== 'string' || !/^[\w.+*-]+\/[\w.+*-]+(?:\s*;.*)?$/.test(mode));
  return bad.map((mode) => `${path}: ${JSON.stringify(mode)} is not a media type such as "text/plain".`);
}

function listProblems(path: string, value: unknown, problemsOf: (path: string, item: Bag) => readonly string[]): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [`${path} must be a list.`];
  return value.flatMap((item: unknown, index) => {
    const at = `${path}[${index}]`;
    return isPlainObject(item) ? problemsOf(at, item) : [`${at} must be an object.`];
  });
}

type Bag = Readonly<Record<string, unknown>>;

function interfaceProblems(path: string, { url, protocolBinding, protocolVersion }: Bag): readonly string[] {
  const version = typeof protocolVersion === 'string' && /^\d+\.\d+$/.test(protocolVersion);
  return [
    ...textProblems(`${path}.url`, url),
    ...textProblems(`${path}.protocolBinding`, protocolBinding),
    ...(version ? [] : [`${path}.protocolVersion must be Major.Minor, such as "1.0".`]),
  ];
}

function capabilityProblems(declared: unknown, offered: AgentCapabilities): readonly string[] {
  if (declared === undefined) return [];
  if (!isPlainObject(declared)) return ['capabilities must be an object.'];
  const beyond = (['streaming', 'pushNotifications', 'extendedAgentCard'] as const).filter(
    (name) => declared[name] === true && offered[name] !== true,
  );
  return [
    ...beyond.map((name) => `capabilities.${name} is declared but not offered here.`),
    ...listProblems('capabilities.extensions', declared['extensions'], (path, { uri }) => textProblems(`${path}.uri`, uri)),
  ];
}

function skillsProblems(skills: readonly AgentSkill[] | undefined): readonly string[] {
  const problems = listProblems('skills', skills, skillProblems);
  if (problems.length > 0 || !skills) return problems;
  const ids = skills.map(({ id }) => id);
  return ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `skills: the id ${JSON.stringify(id)} is there twice.`);
}

function skillProblems(path: string, { id, name, description, tags, inputModes, outputModes }: Bag): readonly string[] {
  const problem = typeof id === 'string' ? idProblem(id) : 'must be a text that is not empty';
  const isTagged = Array.isArray(tags) && tags.every((tag) => typeof tag === 'string');
  return [
    ...(problem === undefined ? [] : [`${path}.id ${problem}.`]),
    ...textProblems(`${path}.name`, name),
    ...textProblems(`${path}.description`, description),
    ...(isTagged ? [] : [`${path}.tags must be a list of texts.`]),
    ...modeProblems(`${path}.inputModes`, inputModes),
    ...modeProblems(`${path}.outputModes`, outputModes),
  ];
}

// a requirement that names an unknown scheme can be met by nobody
function securityProblems({ securitySchemes, securityRequirements }: CardDraft): readonly string[] {
  if (!Array.isArray(securityRequirements)) return [];
  const known = new Set(Object.keys(securitySchemes ?? {}));
  const named = securityRequirements.flatMap((one) => (isPlainObject(one) ? Object.keys(one['schemes'] ?? {}) : []));
  return named
    .filter((name) => !known.has(name))
    .map((name) => `securityRequirements name the scheme ${JSON.stringify(name)}, which securitySchemes lack.`);
}
