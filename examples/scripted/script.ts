import { A2AError } from 'chorus-a2a';

/** One command of a script: its first word and what stands behind it, up to the next `;`. */
export interface Command {
  readonly word: string;
  /** As written, but for the one blank after the word; '' when nothing was written. */
  readonly rest: string;
}

/** The text of a message, cut into commands. */
export function parseScript(text: string): readonly Command[] {
  return text
    .split(';')
    .map((piece) => piece.trimStart())
    .filter((piece) => piece !== '')
    .map(splitFirst)
    .map(([word, rest]) => ({ word, rest }));
}

/** The first word and the rest. */
export function splitFirst(text: string): readonly [first: string, rest: string] {
  const end = text.search(/\s/);
  return end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)];
}

/** TEXT that may be left out. */
export function optionalText(rest: string): string | undefined {
  return rest.trim() === '' ? undefined : rest;
}

/** The decimal numbers behind a word: at least `least` of them, at most `most`. */
export function numbers({ word, rest }: Command, least: number, most: number = least): readonly number[] {
  const words = rest.split(/\s+/).filter((piece) => piece !== '');
  if (words.length < least || words.length > most || !words.every((piece) => /^\d+$/.test(piece))) throw badCommand(word, 'numbers');
  return words.map(Number);
}

/** What a command that cannot be obeyed ends its turn with. */
export function badCommand(word: string, expected?: string): A2AError {
  const why = expected === undefined ? 'is not a command' : `expects other words behind it (${expected})`;
  return new A2AError('INVALID_PARAMS', `The word "${word}" ${why}.`, { metadata: { word } });
}
