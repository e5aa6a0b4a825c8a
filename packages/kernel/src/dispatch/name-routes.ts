/**
 * From the name on a record to handler and codec, and from a handler's result to the form of its reply.
 *
 * Owns the lookups, each done once per link and name, and the decoding of a message. Leaves running handlers and
 * sending replies to others.
 *
 * 1. A content type is compared exactly, and an unknown one is never read as something else (CODEC-003).
 * 2. The declared type of a reply decides its codec: the one of the packet's reply, else the class of the value (MSG-002).
 */
import { type Codec, type CodecTable, decodePayload } from '../codec/index.ts';
import { describeValue, ZLinkError } from '../errors/index.ts';
import type { InboundName } from '../internal/transport/index.ts';
import type { NameIndex } from '../internal/wire/names.ts';
import {
  classOf,
  type DeclaredType,
  decodeMetadata,
  resolveOutbound,
  validateInbound,
  validateOutbound,
  ZLinkMessage,
} from '../message/index.ts';
import type { Verb } from './counters.ts';
import type { Dispatch, ReplyForm } from './dispatch.ts';
import type { HandlerEntry, HandlerTable } from './handler-registry.ts';

/** What one name of one link leads to. */
class NameRoute {
  readonly routes: NameRoutes;
  readonly send: HandlerEntry | undefined;
  readonly request: HandlerEntry | undefined;
  readonly codec: Codec | undefined;
  /** Of replies whose declared type does not depend on the value. */
  replyForm: ReplyForm | undefined = undefined;

  constructor(routes: NameRoutes, table: HandlerTable, packetName: string, codec: Codec | undefined) {
    this.routes = routes;
    this.send = table.find('send', packetName);
    this.request = table.find('request', packetName);
    this.codec = codec;
  }
}

export class NameRoutes {
  readonly #table: HandlerTable;
  readonly #codecs: CodecTable;
  readonly #names: NameIndex;

  constructor(table: HandlerTable, codecs: CodecTable, names: NameIndex) {
    this.#table = table;
    this.#codecs = codecs;
    this.#names = names;
  }

  handlerOf(name: InboundName, verb: Verb): HandlerEntry | undefined {
    const route = this.#routeOf(name);
    return verb === 'request' ? route.request : route.send;
  }

  /** Says what is missing; a handler of the other verb is named, since its caller or its registration took the wrong one. */
  whyNoHandler(name: InboundName, verb: Verb, where: string): string {
    const other: Verb = verb === 'request' ? 'send' : 'request';
    const missing = `no ${verb} handler of packet ${describeValue(name.packetName)} in ${where}`;
    return this.handlerOf(name, other) === undefined ? missing : `${missing}: it has a ${other} handler of that name`;
  }

  /**
   * Reads metadata and payload of a message for its handler.
   *
   * @throws ZLinkError `ProtocolError`, or whatever a codec throws
   */
  decode(dispatch: Dispatch, entry: HandlerEntry): unknown {
    const { codec } = this.#routeOf(dispatch.inboundName);
    if (codec === undefined) {
      throw new ZLinkError('ProtocolError', `content type ${describeValue(dispatch.contentType)} is unknown here`); // 1
    }
    readMetadata(dispatch);
    const { payload, payloadStart, payloadEnd } = dispatch;
    const value = decodePayload(codec, payload, payloadStart, payloadEnd, entry.declaredType);
    return entry.schema === undefined ? value : validateInbound(entry.schema, value, entry.packetName);
  }

  /**
   * Makes `dispatch` the reply record for what its handler returned.
   *
   * @throws ZLinkError if the value does not fit the reply's schema or no codec can be chosen
   */
  prepareReply(dispatch: Dispatch, entry: HandlerEntry, result: unknown): void {
    let value = result;
    let declaredType: DeclaredType | undefined;
    if (result instanceof ZLinkMessage) ({ value, declaredType } = resolveOutbound(result));
    if (entry.reply?.schema !== undefined) validateOutbound(entry.reply.schema, value, entry.packetName);
    const fixedType = entry.reply?.declaredType;
    declaredType = fixedType ?? declaredType ?? classOf(value);
    dispatch.becomeReply(this.#replyForm(dispatch.inboundName, fixedType, declaredType), value);
  }

  #replyForm(
    name: InboundName,
    fixedType: DeclaredType | undefined,
    declaredType: DeclaredType | undefined,
  ): ReplyForm {
    if (declaredType !== fixedType) return this.#makeForm(name, declaredType); // 2: chosen by the value
    return (this.#routeOf(name).replyForm ??= this.#makeForm(name, declaredType));
  }

  #makeForm(name: InboundName, declaredType: DeclaredType | undefined): ReplyForm {
    const codec = this.#codecs.select(declaredType);
    return { codec, declaredType, name: this.#names.get('', codec.contentType, name.packetName) };
  }

  #routeOf(name: InboundName): NameRoute {
    const known = name.slot;
    if (known instanceof NameRoute && known.routes === this) return known;
    const route = new NameRoute(this, this.#table, name.packetName, this.#codecs.byContentType(name.contentType));
    name.slot = route;
    return route;
  }
}

/** MSG-011: malformed metadata is noticed before the handler runs. */
function readMetadata(dispatch: Dispatch): void {
  const bytes = dispatch.metadataBytes;
  if (bytes === undefined) return;
  const metadata = decodeMetadata(bytes);
  if (metadata === undefined) {
    throw new ZLinkError('ProtocolError', `metadata of packet ${describeValue(dispatch.packetName)} is malformed`);
  }
  dispatch.messageMetadata = metadata;
}
