/**
 * Which handler serves which packet of one owner.
 *
 * Owns registration while the host is configured, its checks, and the frozen table afterwards. Leaves constructing and
 * calling handlers to the dispatcher.
 *
 * 1. The key is verb and packet name; one owner has one registry, so the same packet elsewhere is another key (DISP-002).
 * 2. Mistakes are collected, not thrown: `freeze` reports them all (ERR-002).
 * 3. A table never changes (HOSTREG-004).
 */
import { describeValue, type Problems, ZLinkError } from '../errors/index.ts';
import {
  type PacketContract,
  packetContract,
  type PacketKey,
  type ReplyContract,
  type Type,
} from '../message/index.ts';
import { errorText } from '../observe/index.ts';
import type { Verb } from './counters.ts';
import { injectTokens, type InjectToken, isClassWith } from './scope.ts';

/** Serves one-way messages: a function, or a class of which each dispatch gets its own instance. */
export type SendHandler<T, C> =
  ((message: T, context: C) => void | Promise<void>) | Type<{ handle(message: T, context: C): void | Promise<void> }>;

/** Serves requests; what it returns or resolves with is the reply. */
export type RequestHandler<T, R, C> =
  ((request: T, context: C) => R | Promise<R>) | Type<{ handle(request: T, context: C): R | Promise<R> }>;

/** Any handler, its types forgotten: messages are typed by their packet at registration. */
export type HandlerFunction = (message: unknown, context: unknown) => unknown;
type HandlerClass = Type<{ handle: HandlerFunction }>;

/** What a dispatch needs to know about the packet of a handler. */
interface HandledPacket {
  readonly verb: Verb;
  readonly packetName: string;
  readonly declaredType: PacketContract['declaredType'];
  readonly schema: PacketContract['schema'];
  readonly reply: ReplyContract | undefined;
}

interface FunctionEntry extends HandledPacket {
  readonly call: HandlerFunction;
}

interface ClassEntry extends HandledPacket {
  readonly call: undefined;
  readonly type: HandlerClass;
  readonly inject: readonly InjectToken[];
}

/** A registered handler. */
export type HandlerEntry = FunctionEntry | ClassEntry;

interface Registration {
  readonly verb: Verb;
  readonly packet: unknown;
  readonly handler: unknown;
}

/** Collects the handlers of one owner; `C` is the context they get. */
export class HandlerRegistry<C> {
  readonly #where: string;
  readonly #registrations: Registration[] = [];
  #frozen = false;

  /** @param where - names the owner in messages: `channel "billing"` */
  constructor(where: string) {
    this.#where = where;
  }

  addSend<T>(packet: PacketKey<T>, handler: SendHandler<T, C>): this {
    return this.#add('send', packet, handler);
  }

  addRequest<T, R>(packet: PacketKey<T, R>, handler: RequestHandler<T, R, C>): this {
    return this.#add('request', packet, handler);
  }

  /** The table of what was registered. Every mistake goes to `problems`, and its handler not into the table. */
  freeze(problems: Pick<Problems, 'note'>): HandlerTable {
    this.#frozen = true;
    const table = { send: new Map<string, HandlerEntry>(), request: new Map<string, HandlerEntry>() };
    for (const registration of this.#registrations) {
      const entry = this.#resolve(registration, problems);
      if (entry === undefined) continue;
      const entries = table[entry.verb];
      if (entries.has(entry.packetName)) {
        problems.note(`${this.#where}: ${describeEntry(entry)} is registered twice`);
      } else entries.set(entry.packetName, entry);
    }
    return new HandlerTable(table.send, table.request);
  }

  /** Nothing was registered, not even by mistake. */
  get isEmpty(): boolean {
    return this.#registrations.length === 0;
  }

  #add(verb: Verb, packet: unknown, handler: unknown): this {
    if (this.#frozen) throw new ZLinkError('InvalidOperation', 'handlers are registered before the host starts'); // 3
    this.#registrations.push({ verb, packet, handler });
    return this;
  }

  #resolve({ verb, packet, handler }: Registration, problems: Pick<Problems, 'note'>): HandlerEntry | undefined {
    const note = (text: string): undefined => void problems.note(`${this.#where}: ${text}`);
    if (typeof packet !== 'function') return note(`packet of a ${verb} handler: ${whyNoPacket(packet, verb)}`);
    let contract: PacketContract;
    try {
      contract = packetContract(packet as PacketKey<unknown>); // says itself what is no packet key
    } catch (error) {
      return note(`packet of a ${verb} handler: ${errorText(error)}`);
    }
    const what = `${verb} handler of packet ${describeValue(contract.packetName)}`;
    if (verb === 'request' && contract.kind === 'message') return note(`${what}: the packet is a one-way message`);
    if (typeof handler !== 'function')
      return note(`${what}: ${describeValue(handler)} is neither a function nor a class`);
    const { packetName, declaredType, schema, reply } = contract;
    const packetFacts = { verb, packetName, declaredType, schema, reply };
    // Types were checked by `addSend` and `addRequest`, and are forgotten here.
    if (!isClassWith(handler, 'handle')) return Object.freeze({ ...packetFacts, call: handler as HandlerFunction });
    const type = handler as HandlerClass;
    const inject = injectTokens(type);
    if (inject === undefined) return note(`${what}: static inject of its class is no list of classes`);
    return Object.freeze({ ...packetFacts, call: undefined, type, inject });
  }
}

/** The handlers of a running owner. */
export class HandlerTable {
  readonly #send: ReadonlyMap<string, HandlerEntry>;
  readonly #request: ReadonlyMap<string, HandlerEntry>;

  constructor(send: ReadonlyMap<string, HandlerEntry>, request: ReadonlyMap<string, HandlerEntry>) {
    this.#send = send;
    this.#request = request;
  }

  find(verb: Verb, packetName: string): HandlerEntry | undefined {
    return (verb === 'request' ? this.#request : this.#send).get(packetName);
  }

  /** Classes among the handlers, for the check that what they inject can be had. */
  *classes(): Iterable<{ readonly what: string; readonly inject: readonly InjectToken[] }> {
    for (const entries of [this.#send, this.#request]) {
      for (const entry of entries.values()) {
        if (entry.call === undefined) yield { what: describeEntry(entry), inject: entry.inject };
      }
    }
  }
}

/** A packet's name alone has no type and no kind: both are in its declaration. */
function whyNoPacket(given: unknown, verb: Verb): string {
  const shown = describeValue(given);
  const declare = verb === 'request' ? 'request' : 'message';
  if (typeof given === 'string') return `${shown} is a name, declare it: ${declare}(${shown})`;
  return `${shown} is neither a declaration, made by ${declare}('name'), nor a class`;
}

function describeEntry(entry: HandlerEntry): string {
  return `${entry.verb} handler of packet ${describeValue(entry.packetName)}`;
}
