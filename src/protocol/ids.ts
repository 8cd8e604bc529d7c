import { textProblem } from './text.ts';

/** Longest id, key or caller's name, in code points: the width of the key columns of every store (case 95). */
export const ID_CODE_POINTS_MAX = 255;

/**
 * What is wrong with an id, or nothing: 1 to 255 code points of any script, no control characters. The same rule holds for every id, every
 * key, every tenant and every caller's name, so that no store ever meets one it cannot keep (case 95).
 */
export function idProblem(id: string): string | undefined {
  if (id === '') return 'must not be empty';
  if (isTooLong(id)) return `must have at most ${ID_CODE_POINTS_MAX} characters`;
  if (hasControl(id)) return 'must not hold control characters';
  return textProblem(id);
}

function isTooLong(id: string): boolean {
  if (id.length <= ID_CODE_POINTS_MAX) return false; // never more code points than code units
  if (id.length > 2 * ID_CODE_POINTS_MAX) return true; // a code point has at most two
  return [...id].length > ID_CODE_POINTS_MAX;
}

function hasControl(id: string): boolean {
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i);
    if (unit < 0x20 || (unit >= 0x7f && unit <= 0x9f)) return true;
  }
  return false;
}
