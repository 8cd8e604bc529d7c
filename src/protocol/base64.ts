const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const anyAlphabet = /^[A-Za-z0-9+/_-]*={0,2}$/;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Base64 in the form A2A writes (standard alphabet, padded), made from any form ProtoJSON reads: URL-safe, unpadded (JSON-08). `undefined`
 * if it is none of them. The bits that the last character has too many are set to zero, as a decoder and encoder would.
 */
export function canonicalBase64(text: string): string | undefined {
  let body = text;
  if (!canonical.test(text)) {
    if (!anyAlphabet.test(text)) return undefined;
    body = text.replace(/=+$/, '');
    const isPadded = body.length !== text.length;
    if (body.length % 4 === 1 || (isPadded && text.length % 4 !== 0)) return undefined;
    body = body.replaceAll('-', '+').replaceAll('_', '/');
    body += '='.repeat((4 - (body.length % 4)) % 4);
  }
  return clearSpareBits(body);
}

function clearSpareBits(padded: string): string {
  const padding = padded.endsWith('==') ? 2 : padded.endsWith('=') ? 1 : 0;
  if (padding === 0) return padded;
  const at = padded.length - padding - 1;
  const index = alphabet.indexOf(padded.charAt(at));
  const kept = padding === 2 ? index & 0b110000 : index & 0b111100;
  return kept === index ? padded : padded.slice(0, at) + alphabet.charAt(kept) + padded.slice(at + 1);
}
