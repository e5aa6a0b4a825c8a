/**
 * Packet descriptors: one declaration names a message and types it on both sides.
 *
 * Owns: `message`, `request`, what a descriptor carries (its contract) and the packet name of any key a handler can be
 * registered under. Leaves to others: what may be sent besides a descriptor's message (outbound.ts), running schemas
 * (schema.ts), choosing a codec.
 *
 * Invariants
 * P1 A packet name is checked once, where it is declared; later code uses it unchecked (MSG-005).
 * P2 A descriptor and its contract are frozen.
 * P3 A call of a descriptor costs one small object: it happens per message.
 */
import { describeValue, ZLinkError } from '../errors/index.ts';
import { requirePacketName } from '../identity/index.ts';
import { isSchema } from './schema.ts';
import type { StandardSchemaV1 } from './schema.ts';

/** A class whose instances are `T`. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a class of any constructor arguments is meant
export type Type<T> = new (...args: any[]) => T;

/** A message that a packet descriptor made; `R` is what a request is answered with. */
// eslint-disable-next-line @typescript-eslint/no-unused-vars -- `R` carries the reply's type to the call
export interface OutboundMessage<T = unknown, R = unknown> {
  readonly packetName: string;
  readonly value: T;
}

/** Descriptor of a one-way message; calling it makes one. */
export interface MessageType<T> {
  readonly packetName: string;
  (value: T): OutboundMessage<T, never>;
}

/** Descriptor of a request that is answered with `R`; calling it makes one. */
export interface RequestType<T, R> {
  readonly packetName: string;
  (value: T): OutboundMessage<T, R>;
}

export interface PacketOptions<T> {
  /**
   * Any Standard Schema validator that answers synchronously. It checks a value before it is sent (the call fails with
   * `InvalidOperation`) and transforms it after it was received (a request is answered with `ProtocolError`, a one-way
   * message dropped and recorded). Default: no check.
   *
   * @see MSG-004
   */
  schema?: StandardSchemaV1<unknown, T>;
  /** The class that codecs are asked about instead of the descriptor; default: the descriptor. @see CODEC-004 */
  declaredType?: Type<T>;
}

/** What a handler is registered under. */
export type PacketKey<T, R = unknown> = MessageType<T> | RequestType<T, R> | Type<T>;

/** A descriptor or class of whatever type: what a codec is chosen by. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- descriptors are invariant in T; any accepts them all
export type DeclaredType = Type<unknown> | MessageType<any> | RequestType<any, any>;

type PacketKind = 'message' | 'request' | 'class';

/** How the reply of a request is typed. */
export interface ReplyContract {
  readonly declaredType: DeclaredType | undefined;
  readonly schema: StandardSchemaV1<unknown, unknown> | undefined;
}

/** Everything a packet key declares. */
export interface PacketContract {
  readonly kind: PacketKind;
  readonly packetName: string;
  readonly declaredType: DeclaredType;
  readonly schema: StandardSchemaV1<unknown, unknown> | undefined;
  /** Present for kind `request` only. */
  readonly reply: ReplyContract | undefined;
}

/** A message as the send path takes it, whichever way the application named it. */
export interface ResolvedPacket {
  readonly packetName: string;
  readonly value: unknown;
  readonly declaredType: DeclaredType | undefined;
  readonly schema: StandardSchemaV1<unknown, unknown> | undefined;
  /** How the reply is typed; only a request descriptor says so. */
  readonly reply: ReplyContract | undefined;
}

// Registered symbols, so that two copies of this package in one process understand each other's descriptors.
const contractKey = Symbol.for('@zlink/kernel/packet-contract');
const outboundBrand = Symbol.for('@zlink/kernel/outbound-message');

/** Made per message, hence plain fields and no closure (P3). */
class DescribedMessage<T> implements OutboundMessage<T, never>, ResolvedPacket {
  readonly packetName: string;
  readonly value: T;
  readonly declaredType: DeclaredType;
  readonly schema: StandardSchemaV1<unknown, unknown> | undefined;
  readonly reply: ReplyContract | undefined;

  constructor(contract: PacketContract, value: T) {
    this.packetName = contract.packetName;
    this.value = value;
    this.declaredType = contract.declaredType;
    this.schema = contract.schema;
    this.reply = contract.reply;
  }

  get [outboundBrand](): true {
    return true;
  }
}

/**
 * Declares a one-way message.
 *
 * @param packetName - 1..255 bytes of UTF-8 without NUL, case-sensitive; the same on both sides
 * @param options - validator and declared type; default: neither
 * @returns a frozen descriptor; call it with a value to make a message
 * @throws ZLinkError `InvalidOperation` if the name or an option is not allowed
 * @see MSG-001, MSG-004, MSG-005
 */
export function message<T>(packetName: string, options?: PacketOptions<T>): MessageType<T> {
  return describePacket('message', packetName, options, undefined);
}

/**
 * Declares a request and its reply.
 *
 * @param packetName - 1..255 bytes of UTF-8 without NUL, case-sensitive; the same on both sides
 * @param options - validator and declared type of the request, and as `reply` those of its reply; default: none
 * @returns a frozen descriptor; call it with a value to make a request
 * @throws ZLinkError `InvalidOperation` if the name or an option is not allowed
 * @see MSG-001, MSG-004, MSG-005
 */
export function request<T, R>(
  packetName: string,
  options?: PacketOptions<T> & { reply?: PacketOptions<R> },
): RequestType<T, R> {
  const reply = options?.reply;
  requireOptions(`reply options of packet ${describeValue(packetName)}`, reply);
  return describePacket(
    'request',
    packetName,
    options,
    Object.freeze({ declaredType: reply?.declaredType, schema: reply?.schema }),
  );
}

function describePacket<T>(
  kind: 'message' | 'request',
  packetName: string,
  options: PacketOptions<T> | undefined,
  reply: ReplyContract | undefined,
): MessageType<T> & RequestType<T, never> {
  requirePacketName(packetName);
  requireOptions(`options of packet ${describeValue(packetName)}`, options);
  const descriptor = (value: T): DescribedMessage<T> => new DescribedMessage(contract, value);
  Object.defineProperty(descriptor, 'name', { value: packetName });
  const described = Object.assign(descriptor, { packetName });
  const contract: PacketContract = Object.freeze({
    kind,
    packetName,
    declaredType: options?.declaredType ?? described,
    schema: options?.schema,
    reply,
  });
  Object.defineProperty(described, contractKey, { value: contract });
  return Object.freeze(described); // P2
}

function requireOptions<T>(where: string, options: PacketOptions<T> | undefined): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) {
    throw new ZLinkError('InvalidOperation', `${where} must be an object, not ${describeValue(options)}`);
  }
  if (options.schema !== undefined && !isSchema(options.schema)) {
    throw new ZLinkError('InvalidOperation', `schema in ${where} is no Standard Schema validator`);
  }
  if (options.declaredType !== undefined && !isClass(options.declaredType)) {
    throw new ZLinkError('InvalidOperation', `declaredType in ${where} is no class`);
  }
}

/** True for what `message` and `request` return. */
export function isDescriptor(value: unknown): value is MessageType<unknown> | RequestType<unknown, unknown> {
  return typeof value === 'function' && contractKey in value;
}

/** True for what a call of a descriptor returns. */
export function isDescribedMessage(value: object): value is OutboundMessage & ResolvedPacket {
  return outboundBrand in value;
}

/**
 * What a handler's packet key declares.
 *
 * @throws ZLinkError `InvalidOperation` if `key` is neither a descriptor nor a class with a valid name
 */
export function packetContract(key: DeclaredType): PacketContract {
  if (isDescriptor(key)) {
    // Only `describePacket` writes this property.
    return (key as unknown as Record<typeof contractKey, PacketContract>)[contractKey];
  }
  return { kind: 'class', packetName: classPacketName(key), declaredType: key, schema: undefined, reply: undefined };
}

// Classes are few and live as long as the program; the name of one is asked for with every instance sent.
const classNames = new WeakMap<Type<unknown>, string>();

/**
 * A class's static `packetName`, else its own name (MSG-002). A static is inherited the way JavaScript inherits it: a
 * subclass without its own travels under its base class's name.
 */
export function classPacketName(type: Type<unknown>): string {
  const known = classNames.get(type);
  if (known !== undefined) return known;
  if (!isClass(type)) {
    throw new ZLinkError('InvalidOperation', `${describeValue(type)} is no class to take a packet name from`);
  }
  const declared = (type as { packetName?: unknown }).packetName;
  const name = requirePacketName(declared === undefined ? type.name : declared);
  classNames.set(type, name);
  return name;
}

/** Arrow functions, handlers for instance, have no prototype and so no instances. */
export function isClass(value: unknown): value is Type<unknown> {
  return typeof value === 'function' && typeof value.prototype === 'object';
}
