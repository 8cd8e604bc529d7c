// looks for the first bad character: a pattern that matches the whole text keeps a step back for each group and overflows at a few MB
const notStandard = /[^A-Za-z0-9+/]/;
const notBase64 = /[^A-Za-z0-9+/_-]/;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Base64 in the form A2A writes (standard alphabet, padded), made from any form ProtoJSON reads: URL-safe, unpadded (JSON-08). `undefined`
 * if it is none of them. The bits that the last character has too many are set to zero, as a decoder and encoder would.
 */
export function canonicalBase64(text: string): string | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const body = padding === 0 ? text : text.slice(0, -padding);
  const rest = body.length % 4;
  if (rest === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined;
  if (!notStandard.test(body)) return clearSpareBits(padding === 0 ? pad(text, rest) : text);
  if (notBase64.test(body)) return undefined;
  return clearSpareBits(pad(toStandardAlphabet(body), rest));
}

function pad(body: string, rest: number): string {
  return rest === 0 ? body : body + '='.repeat(4 - rest);
}

// over bytes, because replacing in a string costs 100 times as much for a text made of nothing but dashes
function toStandardAlphabet(body: string): string {
  const bytes = new TextEncoder().encode(body);
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === 0x2d) bytes[i] = 0x2b;
    else if (bytes[i] === 0x5f) bytes[i] = 0x2f;
  }
  return new TextDecoder().decode(bytes);
}

function clearSpareBits(padded: string): string {
  const padding = padded.endsWith('==') ? 2 : padded.endsWith('=') ? 1 : 0;
  if (padding === 0) return padded;
  const at = padded.length - padding - 1;
  const index = alphabet.indexOf(padded.charAt(at));
  const kept = padding === 2 ? index & 0b110000 : index & 0b111100;
  return kept === index ? padded : padded.slice(0, at) + alphabet.charAt(kept) + padded.slice(at + 1);
}
