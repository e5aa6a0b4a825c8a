/**
 * Z85, the text form of CURVE keys (ZeroMQ RFC 32): four bytes are five printable characters.
 *
 * Owns the alphabet and both directions. Written here because the packages for it on npm are unmaintained and it is
 * shorter than a dependency.
 *
 * 1. `decodeZ85` never throws: text that is no Z85 has no bytes.
 */

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const digits = new Map([...alphabet].map((character, value) => [character, value]));

/** @param bytes - a multiple of four */
export function encodeZ85(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let rest = view.getUint32(at);
    let group = '';
    for (let digit = 0; digit < 5; digit++) {
      group = alphabet.charAt(rest % 85) + group;
      rest = Math.floor(rest / 85);
    }
    text += group;
  }
  return text;
}

export function decodeZ85(text: string): Uint8Array | undefined {
  if (text.length % 5 !== 0) return undefined;
  const view = new DataView(new ArrayBuffer((text.length / 5) * 4));
  for (let group = 0; group < text.length / 5; group++) {
    let value = 0;
    for (let at = group * 5; at < group * 5 + 5; at++) {
      const digit = digits.get(text.charAt(at));
      if (digit === undefined) return undefined;
      value = value * 85 + digit;
    }
    if (value > 0xffff_ffff) return undefined; // five digits hold a little more than four bytes
    view.setUint32(group * 4, value);
  }
  return new Uint8Array(view.buffer);
}
