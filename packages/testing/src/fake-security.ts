/**
 * A stand-in for cryptographic identity, to test what is built on it.
 *
 * Owns a keyed checksum. It protects nothing: whoever knows a public key can sign for it.
 */
import type { PipeSecurity } from '@zlink/kernel/internal/transport';

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Signatures made here hold in every fake: they are bound to key and message alone.
 *
 * @param clientKeys - keys that this side lets in; default: any
 */
export function createFakeSecurity(
  publicKey: string,
  serverPublicKey?: string,
  clientKeys?: ReadonlySet<string>,
): PipeSecurity {
  return {
    publicKey,
    serverPublicKey,
    admits: (key) => clientKeys?.has(key) ?? true,
    sign: (message) => checksum(publicKey, message),
    verify: (key, message, signature) => {
      const expected = checksum(key, message);
      return signature.length === expected.length && expected.every((byte, at) => byte === signature[at]);
    },
  };
}

function checksum(publicKey: string, message: Uint8Array): Uint8Array {
  let hash = OFFSET;
  for (const byte of new TextEncoder().encode(publicKey)) hash = Math.imul(hash ^ byte, PRIME);
  for (const byte of message) hash = Math.imul(hash ^ byte, PRIME);
  return Uint8Array.of(hash & 0xff, (hash >>> 8) & 0xff, (hash >>> 16) & 0xff, (hash >>> 24) & 0xff);
}
