import { createFakeSecurity } from '@zlink/testing';
import { type Examined, type Expectation, examineHello } from '../../../src/internal/link/admission.ts';
import type { PipeSecurity } from '../../../src/internal/transport/index.ts';
import { decodeHello, encodeHello, EndpointKind, ownHello, RejectReason } from '../../../src/internal/wire/hello.ts';
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
      text: 'security identity is none of those that were let in',
    },
  });
});

test('[SEC-001] the dialling side asks for the pinned key and not for keys of clients', () => {
  expect(examine(server('a'), createFakeSecurity('server'), { dialed: true }).ok).toBe(true);
  expect(examine(server('a'), createFakeSecurity('a'), { dialed: true })).toMatchObject({
    rejection: { reason: RejectReason.wrongSecurityIdentity },
  });
});

test('[SEC-001] a key without its proof is refused before it is looked up', () => {
  const asked: string[] = [];
  const own = { ...server('a'), admits: (key: string): boolean => asked.push(key) > 0 };
  const thief: PipeSecurity = { ...createFakeSecurity('b'), publicKey: 'a' };
  expect(examine(own, thief)).toMatchObject({ rejection: { reason: RejectReason.wrongSecurityIdentity } });
  expect(asked).toEqual([]);
});
