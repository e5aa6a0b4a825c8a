import { createFakeSecurity } from '@zlink/testing';
import { type Examined, type Expectation, examineHello } from '../../../src/internal/link/admission.ts';
import type { PipeSecurity } from '../../../src/internal/transport/index.ts';
import {
  decodeHello,
  type DecodedHello,
  encodeHello,
  EndpointKind,
  ownHello,
  RejectReason,
} from '../../../src/internal/wire/hello.ts';
import { DESCRIPTOR } from './link-side.ts';

/** What `own` makes of the greeting of who owns `peer`. */
function examine(own: PipeSecurity, peer: PipeSecurity, expected: Partial<Expectation> = {}): Examined {
  const hello = ownHello({
    kind: EndpointKind.channelClient,
    generation: 1n,
    windowBytes: 65_536,
    maxMessageBytes: 0,
    rid: 'peer',
    scope: 'billing',
    endpoint: '',
    publicKey: peer.publicKey,
    descriptor: DESCRIPTOR,
  });
  return examineHello(decodeHello(encodeHello(hello, (message) => peer.sign(message, own.publicKey))), {
    kind: EndpointKind.channelClient,
    scope: 'billing',
    ownRid: 'own',
    ownDescriptor: DESCRIPTOR,
    security: own,
    dialed: false,
    ...expected,
  });
}

const server = (...clientKeys: string[]): PipeSecurity => createFakeSecurity('server', 'server', new Set(clientKeys));

test('[SEC-001] a proven key that was let in is the identity of the peer', () => {
  expect(examine(server('a'), createFakeSecurity('a'))).toMatchObject({ ok: true, facts: { securityIdentity: 'a' } });
});

test('[SEC-001] a peer that was let in by one key cannot be admitted by another of its own', () => {
  expect(examine(server('a'), createFakeSecurity('b'))).toEqual({
    ok: false,
    rejection: {
      reason: RejectReason.wrongSecurityIdentity,
      text: 'security identity of the caller is none of those that were let in',
    },
  });
});

test('[SEC-001] the dialling side asks for the pinned key and not for keys of clients', () => {
  expect(examine(server('a'), createFakeSecurity('server'), { dialed: true }).ok).toBe(true);
  expect(examine(server('a'), createFakeSecurity('a'), { dialed: true })).toMatchObject({
    rejection: {
      reason: RejectReason.wrongSecurityIdentity,
      text: 'security identity of the endpoint is not the pinned one',
    },
  });
});

test('[SEC-001] a key without its proof is refused before it is looked up', () => {
  const asked: string[] = [];
  const own = { ...server('a'), admits: (key: string): boolean => asked.push(key) > 0 };
  const thief: PipeSecurity = { ...createFakeSecurity('b'), publicKey: 'a' };
  expect(examine(own, thief)).toMatchObject({
    rejection: {
      reason: RejectReason.wrongSecurityIdentity,
      text: 'proof for the security identity of the caller is missing or wrong',
    },
  });
  expect(asked).toEqual([]);
});

/** The text in which this side refuses what is no hello of this version. */
function refusalOf(decoded: DecodedHello, dialed: boolean): string {
  const examined = examineHello(decoded, {
    kind: EndpointKind.channelClient,
    scope: 'billing',
    ownRid: 'own',
    ownDescriptor: DESCRIPTOR,
    security: undefined,
    dialed,
  });
  return examined.ok ? 'admitted' : examined.rejection.text;
}

test.each([
  [{ kind: 'otherVersion', major: 9 }, 'endpoint speaks wire version 9, expected 1', true],
  [{ kind: 'otherVersion', major: 9 }, 'this endpoint speaks wire version 1, the caller 9', false],
  [{ kind: 'malformed' }, 'hello of the endpoint is malformed', true],
  [{ kind: 'malformed' }, 'hello of the caller is malformed', false],
] as const)('[WIRE-001] a refusal is about the endpoint that was dialled: %o reads "%s"', (decoded, text, dialed) => {
  expect(refusalOf(decoded, dialed)).toBe(text);
});
