/**
 * Whether a hello is good enough to become a link: the checks both sides make before admission (WIRE-001, NET-004).
 *
 * Owns the rules, pure over what was said, and the texts. Leaves sending verdicts to `handshake`.
 *
 * A1 The side that refuses writes the text, and both sides show it. What is asked is always whether the dialled endpoint is
 *    the right one: "this endpoint" and "the caller" are the accepting side's words for the two, "endpoint" and "expected"
 *    the dialling side's.
 * A2 An endpoint that is another one than expected says so before admission, and is nobody's peer for a moment. It is asked
 *    for by a digest, so the dialling side completes the text, and checks RID and generation of who admits it all the same.
 */
import { assertNever } from '../../errors/index.ts';
import type { PipeSecurity } from '../transport/engine.ts';
import type { PeerFacts } from '../transport/transport.ts';
import {
  type DecodedHello,
  type Descriptor,
  EndpointKind,
  type Hello,
  type RejectReason as Reason,
  RejectReason,
  type Rejection,
} from '../wire/hello.ts';
import { WIRE_MAJOR } from '../wire/limits.ts';
import { NEEDLESS_LINK, needsLink } from '../wire/needs-link.ts';
import { type PeerDigest, peerDigest } from '../wire/peer-digest.ts';

export interface Expectation {
  readonly kind: EndpointKind;
  readonly scope: string;
  readonly ownKind: EndpointKind;
  readonly ownRid: string;
  readonly ownGeneration: bigint;
  readonly ownDescriptor: Descriptor;
  readonly rid?: string | undefined;
  readonly generation?: bigint | undefined;
  readonly security: PipeSecurity | undefined;
  readonly dialed: boolean;
  /** Whom the caller expects here; undefined: anyone. */
  readonly asked?: PeerDigest | undefined;
}

export type Examined =
  | { readonly ok: true; readonly hello: Hello; readonly facts: PeerFacts }
  | { readonly ok: false; readonly rejection: Rejection };

export function examineHello(decoded: DecodedHello, expected: Expectation): Examined {
  const { dialed } = expected;
  if (decoded.kind === 'malformed') {
    return refuse(RejectReason.malformed, `hello of the ${dialed ? 'endpoint' : 'caller'} is malformed`);
  }
  if (decoded.kind === 'otherVersion') {
    const text = dialed
      ? `endpoint speaks wire version ${decoded.major}, expected ${WIRE_MAJOR}`
      : `this endpoint speaks wire version ${WIRE_MAJOR}, the caller ${decoded.major}`;
    return refuse(RejectReason.unknownVersion, text);
  }
  const { hello } = decoded;
  const secured = expected.security;
  if (secured !== undefined) {
    const identity = `security identity of the ${dialed ? 'endpoint' : 'caller'}`;
    if (dialed && hello.publicKey !== secured.serverPublicKey) {
      return refuse(RejectReason.wrongSecurityIdentity, `${identity} is not the pinned one`);
    }
    if (!secured.verify(hello.publicKey, decoded.signed, decoded.proof)) {
      return refuse(RejectReason.wrongSecurityIdentity, `proof for the ${identity} is missing or wrong`);
    }
    if (!dialed && !secured.admits(hello.publicKey)) {
      return refuse(RejectReason.wrongSecurityIdentity, `${identity} is none of those that were let in`);
    }
  }
  const rejection = mismatch(hello, expected);
  if (rejection !== undefined) return { ok: false, rejection };
  const facts: PeerFacts = {
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
  if (hello.kind !== expected.kind) return { reason: RejectReason.wrongKind, text: kindText(hello, expected) };
  if (hello.scope !== expected.scope) return { reason: RejectReason.wrongScope, text: scopeText(hello, expected) };
  if (expected.rid !== undefined && hello.rid !== expected.rid) {
    return { reason: RejectReason.wrongRid, text: `${ridText(hello.kind, hello.rid)}, expected "${expected.rid}"` };
  }
  if (expected.generation !== undefined && hello.generation !== expected.generation) {
    const text = `${generationText(hello.kind, hello.rid, hello.generation)}, expected ${expected.generation}`;
    return { reason: RejectReason.wrongGeneration, text };
  }
  if (hello.kind === EndpointKind.meshNode && hello.rid === expected.ownRid) {
    return { reason: RejectReason.ridConflict, text: `both sides are node "${hello.rid}"` };
  }
  const rejection = otherThanAsked(expected);
  if (rejection !== undefined) return rejection;
  if (hello.kind === EndpointKind.meshNode && !needsLink(hello.descriptor, expected.ownDescriptor)) {
    return { reason: RejectReason.notRequired, text: NEEDLESS_LINK };
  }
  return undefined;
}

/** A2 */
function otherThanAsked({ asked, ownKind, ownRid, ownGeneration }: Expectation): Rejection | undefined {
  if (asked === undefined) return undefined;
  const own = peerDigest(ownRid, ownGeneration);
  if (asked.rid !== 0 && asked.rid !== own.rid) {
    return { reason: RejectReason.wrongRid, text: ridText(ownKind, ownRid), rid: ownRid };
  }
  if (asked.generation !== 0 && asked.generation !== own.generation) {
    const text = generationText(ownKind, ownRid, ownGeneration);
    return { reason: RejectReason.wrongGeneration, text, rid: ownRid };
  }
  return undefined;
}

function refuse(reason: Reason, text: string): Examined {
  return { ok: false, rejection: { reason, text } };
}

function ridText(kind: EndpointKind, rid: string): string {
  return `endpoint is ${roleOf(kind)} "${rid}"`;
}

function generationText(kind: EndpointKind, rid: string, generation: bigint): string {
  return `endpoint is generation ${generation} of ${roleOf(kind)} "${rid}"`;
}

function kindText(hello: Hello, expected: Expectation): string {
  return expected.dialed
    ? `endpoint is a ${kindName(hello.kind)}, expected a ${kindName(expected.kind)}`
    : `this endpoint takes ${kindName(expected.kind)}s, the caller is a ${kindName(hello.kind)}`;
}

/** Both sides are of fitting kinds. */
function scopeText(hello: Hello, expected: Expectation): string {
  if (hello.kind === EndpointKind.meshNode) {
    return expected.dialed
      ? `endpoint belongs to mesh "${hello.scope}", expected mesh "${expected.scope}"`
      : `this endpoint belongs to mesh "${expected.scope}", the caller to mesh "${hello.scope}"`;
  }
  return expected.dialed
    ? `endpoint serves channel "${hello.scope}", expected channel "${expected.scope}"`
    : `this endpoint serves channel "${expected.scope}", the caller asked for "${hello.scope}"`;
}

function kindName(kind: EndpointKind): string {
  switch (kind) {
    case EndpointKind.meshNode:
      return 'mesh node';
    case EndpointKind.channelClient:
      return 'channel client';
    case EndpointKind.channelServer:
      return 'channel server';
    default:
      return assertNever(kind);
  }
}

/** What a RID of this kind of endpoint names. */
function roleOf(kind: EndpointKind): string {
  return kind === EndpointKind.meshNode ? 'node' : kind === EndpointKind.channelServer ? 'server' : 'client';
}
