/**
 * Whether a hello is good enough to become a link: the checks both sides make before admission (WIRE-001, NET-004).
 *
 * Owns the rules, pure over what was said. Leaves sending verdicts to `handshake`.
 */
import type { PipeSecurity } from '../transport/engine.ts';
import type { PeerFacts } from '../transport/transport.ts';
import {
  type DecodedHello,
  type Descriptor,
  EndpointKind,
  type Hello,
  ObjectRole,
  type RejectReason as Reason,
  RejectReason,
  type Rejection,
} from '../wire/hello.ts';
import { WIRE_MAJOR } from '../wire/limits.ts';

export interface Expectation {
  readonly kind: EndpointKind;
  readonly scope: string;
  readonly ownRid: string;
  readonly ownDescriptor: Descriptor;
  readonly rid?: string | undefined;
  readonly generation?: bigint | undefined;
  readonly security: PipeSecurity | undefined;
  readonly dialed: boolean;
}

export type Examined =
  | { readonly ok: true; readonly hello: Hello; readonly facts: PeerFacts }
  | { readonly ok: false; readonly rejection: Rejection };

export function examineHello(decoded: DecodedHello, expected: Expectation): Examined {
  if (decoded.kind === 'malformed') return refuse(RejectReason.malformed, 'hello is malformed');
  if (decoded.kind === 'otherVersion') {
    const text = `wire version ${decoded.major} is not spoken here, expected ${WIRE_MAJOR}`;
    return refuse(RejectReason.unknownVersion, text);
  }
  const { hello } = decoded;
  const secured = expected.security;
  if (secured !== undefined) {
    if (expected.dialed && hello.publicKey !== secured.serverPublicKey) {
      return refuse(RejectReason.wrongSecurityIdentity, 'security identity is not the pinned one');
    }
    if (!secured.verify(hello.publicKey, decoded.signed, decoded.proof)) {
      return refuse(RejectReason.wrongSecurityIdentity, 'proof of the security identity is missing or wrong');
    }
    if (!expected.dialed && !secured.admits(hello.publicKey)) {
      return refuse(RejectReason.wrongSecurityIdentity, 'security identity is none of those that were let in');
    }
  }
  const rejection = mismatch(hello, expected);
  if (rejection !== undefined) return { ok: false, rejection };
  const facts: PeerFacts = {
    kind: hello.kind,
    scope: hello.scope,
    rid: hello.rid,
    generation: hello.generation,
    endpoint: hello.endpoint,
    securityIdentity: secured === undefined ? undefined : hello.publicKey,
    maxMessageBytes: hello.maxMessageBytes,
  };
  return { ok: true, hello, facts };
}

function mismatch(hello: Hello, expected: Expectation): Rejection | undefined {
  if (hello.kind !== expected.kind) {
    const text = `endpoint is a ${kindText(hello.kind)}, expected a ${kindText(expected.kind)}`;
    return { reason: RejectReason.wrongKind, text };
  }
  if (hello.scope !== expected.scope) {
    return { reason: RejectReason.wrongScope, text: `endpoint serves "${hello.scope}", expected "${expected.scope}"` };
  }
  if (expected.rid !== undefined && hello.rid !== expected.rid) {
    return { reason: RejectReason.wrongRid, text: `RID is "${hello.rid}", expected "${expected.rid}"` };
  }
  if (expected.generation !== undefined && hello.generation !== expected.generation) {
    const text = `generation of "${hello.rid}" is ${hello.generation}, expected ${expected.generation}`;
    return { reason: RejectReason.wrongGeneration, text };
  }
  if (hello.kind === EndpointKind.meshNode) {
    if (hello.rid === expected.ownRid) {
      return { reason: RejectReason.ridConflict, text: `RID "${hello.rid}" is in use on both sides` };
    }
    if (!needsLink(hello.descriptor, expected.ownDescriptor)) {
      return { reason: RejectReason.notRequired, text: 'both sides are object clients without a channel to serve' };
    }
  }
  return undefined;
}

/** Two object clients without any channel membership have nothing to say to each other (MESH-003). */
function needsLink(a: Descriptor, b: Descriptor): boolean {
  const bothClients = a.objectRole === ObjectRole.client && b.objectRole === ObjectRole.client;
  return !bothClients || a.channels.length > 0 || b.channels.length > 0;
}

function refuse(reason: Reason, text: string): Examined {
  return { ok: false, rejection: { reason, text } };
}

function kindText(kind: EndpointKind): string {
  switch (kind) {
    case EndpointKind.meshNode:
      return 'mesh node';
    case EndpointKind.channelClient:
      return 'channel client';
    case EndpointKind.channelServer:
      return 'channel server';
  }
}
