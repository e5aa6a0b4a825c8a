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
import { peerDigest } from '../../../src/internal/wire/peer-digest.ts';
import { DESCRIPTOR } from './link-side.ts';

const OWN_GENERATION = 0x1_0000_0005n;

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
    ownKind: EndpointKind.channelServer,
    ownRid: 'own',
    ownGeneration: OWN_GENERATION,
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
    ownKind: EndpointKind.channelServer,
    ownRid: 'own',
    ownGeneration: OWN_GENERATION,
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

const { wrongRid, wrongGeneration, ridConflict } = RejectReason;

test.each([
  [undefined, undefined, undefined],
  ['own', undefined, undefined],
  [undefined, OWN_GENERATION, undefined],
  ['own', OWN_GENERATION, undefined],
  ['other', undefined, { reason: wrongRid, text: 'endpoint is server "own"', rid: 'own' }],
  ['other', 6n, { reason: wrongRid, text: 'endpoint is server "own"', rid: 'own' }],
  ['own', 6n, { reason: wrongGeneration, text: 'endpoint is generation 4294967301 of server "own"', rid: 'own' }],
  [undefined, 6n, { reason: wrongGeneration, text: 'endpoint is generation 4294967301 of server "own"', rid: 'own' }],
])('[WIRE-001] [NET-004] who is asked for as "%s" of generation %s answers', (rid, generation, rejection) => {
  const examined = examine(server('a'), createFakeSecurity('a'), { asked: peerDigest(rid, generation) });
  expect(examined.ok ? undefined : examined.rejection).toEqual(rejection);
});

test('[SEC-001] who the endpoint is, is not said to a peer without the right key', () => {
  const examined = examine(server('b'), createFakeSecurity('a'), { asked: peerDigest('other', undefined) });
  expect(examined).toMatchObject({ rejection: { reason: RejectReason.wrongSecurityIdentity } });
});

test('[WIRE-001] a RID that both sides have is told before the one that is expected', () => {
  const kind = EndpointKind.meshNode;
  const hello = ownHello({
    kind,
    generation: 1n,
    windowBytes: 65_536,
    maxMessageBytes: 0,
    rid: 'own',
    scope: 'billing',
    endpoint: '',
    publicKey: '',
    descriptor: DESCRIPTOR,
  });
  const examined = examineHello(decodeHello(encodeHello(hello)), {
    kind,
    scope: 'billing',
    ownKind: kind,
    ownRid: 'own',
    ownGeneration: OWN_GENERATION,
    ownDescriptor: DESCRIPTOR,
    security: undefined,
    dialed: false,
    asked: peerDigest('other', undefined),
  });
  expect(examined).toMatchObject({ rejection: { reason: ridConflict } });
});
