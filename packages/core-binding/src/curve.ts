/**
 * CURVE: keys, socket options and the proof of identity.
 *
 * Owns what encrypted sockets need and `PipeSecurity`. Leaves to admission-gate.ts when client keys are let in.
 *
 * 1. No key is ever part of a message, error or log (SEC-003).
 * 2. Key material is checked once, when the engine is made.
 * 3. A server key of low order, with which no secret can be shared, is no key.
 * 4. A proof is HMAC-SHA256 under the X25519 secret that both key pairs share: only the two owners can make or check it.
 *    libzmq does not say which key an accepted peer has shown, hence the proof inside the connection.
 */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { PipeSecurity } from '@zlink/kernel/internal/transport';
import type { ClientKeys } from './client-keys.ts';
import { decodeZ85 } from './z85.ts';

/** Key material of one host; every key is 40 characters of Z85. */
export interface CurveSecurity {
  readonly publicKey: string;
  readonly secretKey: string;
  /** Public key of the servers that this host dials. Without it the host can only listen. */
  readonly serverPublicKey?: string;
  /** Client keys that may connect. Without it every client that knows this server's public key may. */
  readonly allowedClientKeys?: readonly string[] | ((publicKey: string) => boolean | Promise<boolean>);
}

/** libzmq's socket options of a server. */
export interface CurveServerOptions {
  readonly curveServer: true;
  readonly curveSecretKey: string;
}

/** libzmq's socket options of a client. */
export interface CurveClientOptions {
  readonly curvePublicKey: string;
  readonly curveSecretKey: string;
  readonly curveServerKey: string;
}

const keyTextLength = 40;
const proofContext = 'zlink proof of identity 1';
// The fixed ASN.1 bytes before a raw X25519 key.
const secretKeyPrefix = Buffer.from('302e020100300506032b656e04220420', 'hex');
const publicKeyPrefix = Buffer.from('302a300506032b656e032100', 'hex');

/** What is wrong with the key material. */
export function curveProblems(security: CurveSecurity): string[] {
  const problems: string[] = [];
  const requireKey = (option: string, text: unknown): void => {
    if (!isKeyText(text)) problems.push(`security.${option} is no key of ${keyTextLength} Z85 characters`); // 1
  };
  requireKey('publicKey', security.publicKey);
  requireKey('secretKey', security.secretKey);
  if (security.serverPublicKey !== undefined) requireKey('serverPublicKey', security.serverPublicKey);
  const allowed: unknown = security.allowedClientKeys; // plain JavaScript may pass anything
  if (Array.isArray(allowed)) allowed.forEach((key, at) => requireKey(`allowedClientKeys[${at}]`, key));
  else if (allowed !== undefined && typeof allowed !== 'function') {
    problems.push('security.allowedClientKeys is neither a list of keys nor a function');
  }
  if (problems.length === 0 && !isPair(security))
    problems.push('security.publicKey does not belong to security.secretKey');
  if (problems.length === 0 && !canShareSecret(security))
    problems.push('security.serverPublicKey is no key of a server'); // 3
  return problems;
}

export function curveServerOptions(security: CurveSecurity): CurveServerOptions {
  return { curveServer: true, curveSecretKey: security.secretKey };
}

/** Undefined: no server key is pinned, so this host must not dial. */
export function curveClientOptions(security: CurveSecurity): CurveClientOptions | undefined {
  if (security.serverPublicKey === undefined) return undefined;
  return {
    curvePublicKey: security.publicKey,
    curveSecretKey: security.secretKey,
    curveServerKey: security.serverPublicKey,
  };
}

export function createCurveProof(security: CurveSecurity, clientKeys: ClientKeys): PipeSecurity {
  const secretKey = secretKeyOf(security.secretKey);
  return {
    publicKey: security.publicKey,
    serverPublicKey: security.serverPublicKey,
    admits(publicKey) {
      return clientKeys.wasLetIn(publicKey);
    },
    sign(message, forPublicKey) {
      return proofOf(secretKey, forPublicKey, message);
    },
    verify(publicKey, message, signature) {
      if (!isKeyText(publicKey)) return false;
      try {
        const expected = proofOf(secretKey, publicKey, message);
        return signature.length === expected.length && timingSafeEqual(signature, expected);
      } catch {
        return false; // a public key of low order shares no secret with anyone
      }
    },
  };
}

function proofOf(secretKey: KeyObject, publicKey: string, message: Uint8Array): Uint8Array {
  return createHmac('sha256', sharedSecret(secretKey, publicKey)).update(proofContext).update(message).digest(); // 4
}

function sharedSecret(secretKey: KeyObject, publicKey: string): Buffer {
  return diffieHellman({ privateKey: secretKey, publicKey: publicKeyOf(publicKey) });
}

function canShareSecret({ secretKey, serverPublicKey }: CurveSecurity): boolean {
  if (serverPublicKey === undefined) return true;
  try {
    sharedSecret(secretKeyOf(secretKey), serverPublicKey);
    return true;
  } catch {
    return false;
  }
}

function isKeyText(text: unknown): text is string {
  return typeof text === 'string' && text.length === keyTextLength && decodeZ85(text) !== undefined;
}

function isPair(security: CurveSecurity): boolean {
  const derived = createPublicKey(secretKeyOf(security.secretKey)).export({ format: 'der', type: 'spki' });
  return derived.subarray(publicKeyPrefix.length).equals(rawKey(security.publicKey));
}

function secretKeyOf(text: string): KeyObject {
  return createPrivateKey({ key: Buffer.concat([secretKeyPrefix, rawKey(text)]), format: 'der', type: 'pkcs8' });
}

function publicKeyOf(text: string): KeyObject {
  return createPublicKey({ key: Buffer.concat([publicKeyPrefix, rawKey(text)]), format: 'der', type: 'spki' });
}

function rawKey(text: string): Uint8Array {
  return decodeZ85(text) ?? new Uint8Array(0); // every key text was checked before; an empty key is no key
}
