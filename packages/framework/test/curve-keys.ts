/** Key pairs for CURVE, in the form that hosts take: 40 characters of Z85. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';

const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

export function curveKeyPair(): { readonly publicKey: string; readonly secretKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  return { publicKey: z85(rawKey(publicKey, 'x')), secretKey: z85(rawKey(privateKey, 'd')) };
}

function rawKey(key: KeyObject, part: 'x' | 'd'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[part] ?? '', 'base64url');
}

function z85(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let value = bytes.readUInt32BE(at);
    let group = '';
    for (let digit = 0; digit < 5; digit++) {
      group = digits.charAt(value % 85) + group;
      value = Math.floor(value / 85);
    }
    text += group;
  }
  return text;
}
