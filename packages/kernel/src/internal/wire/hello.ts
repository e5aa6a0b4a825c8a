/**
 * What both sides of a connection tell each other before anything else: hello, admit, reject, update.
 *
 * Owns these four payloads. Leaves the order of the exchange to `internal/link/handshake`.
 *
 * ```text
 * hello, admit:  'ZLNK' · u8 major · u8 minor · u8 endpoint kind · u32 capabilities · u64 generation · u32 window
 *                · u64 max message bytes · text8 rid · text8 scope · text8 endpoint · text8 public key
 *                · bytes8 proof · u32 length + descriptor
 * descriptor:    u64 revision · u8 state · u8 object role · u16 count · count × (text8 channel · u16 weight)
 * reject:        u8 reason code · text (rest), with some reasons optionally followed by NUL · RID of who refuses
 * text8/bytes8:  u8 length + bytes; numbers little-endian
 * ```
 * The proof covers everything before it and the descriptor's bytes stay outside: a descriptor changes, an identity does not.
 */
import { utf8ByteLength } from '../../identity/index.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { HELLO_BYTES, WIRE_MAJOR, WIRE_MINOR } from './limits.ts';

export const EndpointKind = { meshNode: 1, channelClient: 2, channelServer: 3 } as const;
export type EndpointKind = (typeof EndpointKind)[keyof typeof EndpointKind];

export const DescriptorState = { starting: 0, serving: 1, draining: 2, relocating: 3, relocated: 4 } as const;
export type DescriptorState = (typeof DescriptorState)[keyof typeof DescriptorState];

export const ObjectRole = { none: 0, client: 1, server: 2 } as const;
export type ObjectRole = (typeof ObjectRole)[keyof typeof ObjectRole];

export interface ChannelMembership {
  readonly name: string;
  readonly weight: number;
}

/** The part of an endpoint's facts that changes while it lives; only a higher revision replaces it (CS-005). */
export interface Descriptor {
  readonly revision: bigint;
  readonly state: DescriptorState;
  readonly objectRole: ObjectRole;
  readonly channels: readonly ChannelMembership[];
}

export interface Hello {
  readonly major: number;
  readonly minor: number;
  readonly kind: EndpointKind;
  readonly capabilities: number;
  readonly generation: bigint;
  /** Bytes this side grants the other one to begin with (CORE-004). */
  readonly windowBytes: number;
  readonly maxMessageBytes: number;
  readonly rid: string;
  /** MeshName or ChannelName. */
  readonly scope: string;
  readonly endpoint: string;
  readonly publicKey: string;
  readonly descriptor: Descriptor;
}

/** Why a connection was not admitted. Codes are wire values. */
export const RejectReason = {
  unknownVersion: 1,
  wrongKind: 2,
  wrongScope: 3,
  wrongRid: 4,
  wrongGeneration: 5,
  wrongSecurityIdentity: 6,
  ridConflict: 7,
  duplicate: 8,
  notRequired: 9,
  busy: 10,
  malformed: 11,
  stopping: 12,
  /** An admitted link was ended by the side that says so. */
  ended: 13,
  /** The topic's own check: the text says why. */
  refused: 14,
} as const;
export type RejectReason = (typeof RejectReason)[keyof typeof RejectReason];

export interface Rejection {
  readonly reason: RejectReason;
  readonly text: string;
  /**
   * Who refuses. Of `duplicate`, so that the other side knows which of its links is the one that stays; and of `wrongRid` and
   * `wrongGeneration`, if who refuses is another one than the hello expects.
   */
  readonly rid?: string;
}

const NAMES_WHO_REFUSES: ReadonlySet<number> = new Set([
  RejectReason.duplicate,
  RejectReason.wrongRid,
  RejectReason.wrongGeneration,
]);

const MAGIC = Uint8Array.of(0x5a, 0x4c, 0x4e, 0x4b); // 'ZLNK'
const NO_PROOF = new Uint8Array(0);
/** Longest text of a rejection; a longer one is cut where it is made and refused where it arrives. */
const REJECT_TEXT_BYTES = 1_024;
/** Its length has one byte in a hello. */
const RID_BYTES = 255;

/** What every hello has room for: its other fields are 35 fixed bytes, four texts and a proof of up to 256 bytes each. */
export const DESCRIPTOR_BYTES = HELLO_BYTES - 35 - 5 * 256;

/** @param sign - makes the proof of identity over the bytes before it; absent on unsecured endpoints */
export function encodeHello(hello: Hello, sign?: (message: Uint8Array) => Uint8Array): Uint8Array {
  const writer = new ByteWriter();
  writer.bytes(MAGIC);
  writer.u8(hello.major);
  writer.u8(hello.minor);
  writer.u8(hello.kind);
  writer.u32(hello.capabilities);
  writer.u64(hello.generation);
  writer.u32(hello.windowBytes);
  writer.u64(BigInt(hello.maxMessageBytes));
  writer.text8(hello.rid);
  writer.text8(hello.scope);
  writer.text8(hello.endpoint);
  writer.text8(hello.publicKey);
  writer.bytes8(sign === undefined ? NO_PROOF : sign(writer.written()));
  const descriptor = encodeDescriptor(hello.descriptor);
  writer.u32(descriptor.length);
  writer.bytes(descriptor);
  return writer.written();
}

export type DecodedHello =
  | { readonly kind: 'hello'; readonly hello: Hello; readonly signed: Uint8Array; readonly proof: Uint8Array }
  /** The other side speaks another major version: all that is certain is that it speaks ZLink. */
  | { readonly kind: 'otherVersion'; readonly major: number }
  | { readonly kind: 'malformed' };

const MALFORMED: DecodedHello = { kind: 'malformed' };

export function decodeHello(bytes: Uint8Array): DecodedHello {
  if (bytes.length > HELLO_BYTES) return MALFORMED;
  const reader = new ByteReader(bytes);
  for (const byte of MAGIC) if (reader.u8() !== byte) return MALFORMED;
  const major = reader.u8();
  if (!reader.ok) return MALFORMED;
  if (major !== WIRE_MAJOR) return { kind: 'otherVersion', major };
  const minor = reader.u8();
  const kind = reader.u8();
  const capabilities = reader.u32();
  const generation = reader.u64();
  const windowBytes = reader.u32();
  const maxMessageBytes = reader.u64();
  const rid = reader.text8();
  const scope = reader.text8();
  const endpoint = reader.text8();
  const publicKey = reader.text8();
  const signed = bytes.subarray(0, reader.position);
  const proof = reader.bytes8();
  const descriptor = decodeDescriptor(reader.bytes(reader.u32()));
  if (!reader.ok || !reader.atEnd || descriptor === undefined) return MALFORMED;
  if (!isEndpointKind(kind) || generation === 0n || rid === '' || rid.includes('\0')) return MALFORMED;
  if (maxMessageBytes > BigInt(Number.MAX_SAFE_INTEGER)) return MALFORMED;
  const hello: Hello = {
    major,
    minor,
    kind,
    capabilities,
    generation,
    windowBytes,
    maxMessageBytes: Number(maxMessageBytes),
    rid,
    scope,
    endpoint,
    publicKey,
    descriptor,
  };
  return { kind: 'hello', hello, signed, proof };
}

export function encodeDescriptor(descriptor: Descriptor): Uint8Array {
  const writer = new ByteWriter();
  writer.u64(descriptor.revision);
  writer.u8(descriptor.state);
  writer.u8(descriptor.objectRole);
  writer.u16(descriptor.channels.length);
  for (const channel of descriptor.channels) {
    writer.text8(channel.name);
    writer.u16(channel.weight);
  }
  return writer.written();
}

export function decodeDescriptor(bytes: Uint8Array): Descriptor | undefined {
  if (bytes.length > HELLO_BYTES) return undefined;
  const reader = new ByteReader(bytes);
  const revision = reader.u64();
  const state = reader.u8();
  const objectRole = reader.u8();
  const count = reader.u16();
  const channels: ChannelMembership[] = [];
  for (let i = 0; i < count && reader.ok; i++) channels.push({ name: reader.text8(), weight: reader.u16() });
  if (!reader.ok || !reader.atEnd) return undefined;
  if (state > DescriptorState.relocated || objectRole > ObjectRole.server) return undefined;
  if (channels.some((channel) => channel.weight > 10_000 || channel.name === '')) return undefined;
  if (new Set(channels.map((channel) => channel.name)).size < channels.length) return undefined; // a set has no doubles
  // Both numbers were checked against the last member of their closed set.
  return { revision, state: state as DescriptorState, objectRole: objectRole as ObjectRole, channels };
}

export function encodeRejection(rejection: Rejection): Uint8Array {
  const writer = new ByteWriter();
  const tail = rejection.rid === undefined ? '' : `\0${rejection.rid}`;
  writer.u8(rejection.reason);
  writer.text(cutText(rejection.text, REJECT_TEXT_BYTES - utf8ByteLength(tail)));
  writer.text(tail);
  return writer.written();
}

export function decodeRejection(bytes: Uint8Array): Rejection | undefined {
  const reader = new ByteReader(bytes);
  const reason = reader.u8();
  const text = reader.text(Math.min(bytes.length - 1, REJECT_TEXT_BYTES));
  if (!reader.ok || !reader.atEnd || reason < 1 || reason > RejectReason.refused) return undefined;
  const textEnd = NAMES_WHO_REFUSES.has(reason) ? text.indexOf('\0') : -1;
  if (textEnd < 0) return { reason: reason as RejectReason, text }; // range checked above
  const rid = text.slice(textEnd + 1);
  if (rid === '' || rid.includes('\0') || utf8ByteLength(rid) > RID_BYTES) return undefined;
  return { reason: reason as RejectReason, text: text.slice(0, textEnd), rid }; // as above
}

export function ownHello(facts: Omit<Hello, 'major' | 'minor' | 'capabilities'>): Hello {
  return { major: WIRE_MAJOR, minor: WIRE_MINOR, capabilities: 0, ...facts };
}

/** As much of `text` as `limitBytes` hold, at the end of a character. */
function cutText(text: string, limitBytes: number): string {
  if (text.length * 3 <= limitBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8ByteLength(character);
    if (bytes > limitBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}

function isEndpointKind(value: number): value is EndpointKind {
  return value >= EndpointKind.meshNode && value <= EndpointKind.channelServer;
}
