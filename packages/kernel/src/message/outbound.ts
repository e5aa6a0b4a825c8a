/**
 * What an application may hand to a call, and what it means.
 *
 * Owns: `ZLinkMessage` and the step from anything sendable to packet name, value and declared type. Leaves to others:
 * descriptors (packet.ts), checking the value (schema.ts), choosing the codec and encoding.
 *
 * Invariants
 * O1 The declared type decides, never the instance behind it (CODEC-004).
 * O2 What has no packet name is refused here, before any admission (MSG-003).
 * O3 A refusal says how to send the value, and shows nothing of it.
 */
import { describeValue, ZLinkError } from '../errors/index.ts';
import { classPacketName, isClass, isDescribedMessage, isDescriptor } from './packet.ts';
import type { OutboundMessage, ResolvedPacket, Type } from './packet.ts';

/** Registered, so that two copies of this package in one process understand each other's messages. */
const declaredTypeKey = Symbol.for('@zlink/kernel/declared-type');

/** A value together with the type it is declared as. */
export class ZLinkMessage<T = unknown> {
  /** Name of the declared type. */
  readonly packetName: string;
  readonly value: T;
  readonly [declaredTypeKey]: Type<T>;

  private constructor(packetName: string, value: T, declaredType: Type<T>) {
    this.packetName = packetName;
    this.value = value;
    this[declaredTypeKey] = declaredType;
  }

  /**
   * Sends `value` as `declaredType`: a base class of it, or a class that stands for an interface. Without one, the
   * value's own class is declared.
   *
   * @param value - what is sent; the codec of `declaredType` must be able to write it
   * @param declaredType - a class; its static `packetName`, else its own name, is the packet name (1..255 bytes of UTF-8
   *   without NUL)
   * @throws ZLinkError `InvalidOperation` if there is no class to take the packet name from
   * @see MSG-002, MSG-003
   */
  static from<T>(value: T, declaredType?: Type<T>): ZLinkMessage<T> {
    // An instance of a class that makes `T`s is all that `classOf` says, and all that is needed.
    const type = declaredType ?? (classOf(value) as Type<T> | undefined);
    if (type === undefined) throw withoutPacketName(value);
    return new ZLinkMessage(classPacketName(type), value, type);
  }
}

/** What a call accepts: a descriptor's message, a `ZLinkMessage`, or an instance of a class. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the value's type is no concern of the call
export type Sendable<R = unknown> = OutboundMessage<any, R> | ZLinkMessage | object;

/**
 * Packet name, value and declared type of what the application sends.
 *
 * @throws ZLinkError `InvalidOperation` if it has no packet name
 */
export function resolveOutbound(sendable: Sendable): ResolvedPacket {
  // The type admits objects only; a caller without types may pass anything.
  const candidate: unknown = sendable;
  if (typeof candidate !== 'object' || candidate === null) throw withoutPacketName(candidate);
  if (isDescribedMessage(candidate)) return candidate; // it already is a resolved packet
  if (isZLinkMessage(candidate)) return resolved(candidate.packetName, candidate.value, candidate[declaredTypeKey]);
  const type = classOf(candidate);
  if (type === undefined) throw withoutPacketName(candidate);
  return resolved(classPacketName(type), candidate, type);
}

/**
 * As `resolveOutbound`, for a call that waits for a reply.
 *
 * A request may be sent one-way, since a server may have a send handler for it; the reverse has no handler anywhere
 * (DISP-002, HOSTREG-006).
 *
 * @param sendMethod - the method that sends one-way, for the message of the error
 * @throws ZLinkError `InvalidOperation` also if a descriptor declares it as one-way
 */
export function resolveRequest(sendable: Sendable, sendMethod: string): ResolvedPacket {
  const packet = resolveOutbound(sendable);
  if (!isDescribedMessage(packet) || packet.reply !== undefined) return packet;
  const name = describeValue(packet.packetName);
  const text = `packet ${name} is a one-way message, nobody answers it: use ${sendMethod}, or declare it by request()`;
  throw new ZLinkError('InvalidOperation', text);
}

function resolved(packetName: string, value: unknown, declaredType: Type<unknown>): ResolvedPacket {
  return { packetName, value, declaredType, schema: undefined, reply: undefined };
}

function isZLinkMessage(value: object): value is ZLinkMessage {
  return declaredTypeKey in value;
}

/**
 * The class `value` is an instance of; undefined for primitives, arrays and object literals. A prototype without a
 * prototype of its own is the `Object.prototype` of some realm, so no identity is compared.
 */
export function classOf(value: unknown): Type<unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null || Object.getPrototypeOf(prototype) === null) {
    return undefined;
  }
  const type: unknown = (prototype as { constructor?: unknown }).constructor;
  // A prototype's constructor is a class as far as anyone can tell.
  return typeof type === 'function' ? (type as Type<unknown>) : undefined;
}

function withoutPacketName(value: unknown): ZLinkError {
  return new ZLinkError('InvalidOperation', refusalOf(value));
}

function refusalOf(value: unknown): string {
  if (isDescriptor(value)) {
    const name = describeValue(value.packetName);
    return `packet descriptor ${name} is no message by itself: call it with the value, as in Charge({ amount: 3 })`;
  }
  if (isClass(value)) return `${describeValue(value)} is no message by itself: send an instance of the class`;
  const ways = "call a descriptor, made by message('name') or request('name'), or use ZLinkMessage.from(value, Class)";
  return `${shapeOf(value)} has no packet name: ${ways}`;
}

/** Names the shape only: what is in it is payload. */
function shapeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object literal';
  return `a value of type ${typeof value}`;
}
