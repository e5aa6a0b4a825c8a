/**
 * What all sides that use the framework have in common: host, packets, handlers and ends.
 *
 * Owns these. Leaves to each side which way its calls take.
 *
 * JSON travels by the built-in codec. Opaque bytes, which the comparison with the bare link needs, travel by a codec that
 * hands them through.
 *
 * 1. Sides that differ only in the way share the code of handlers and calls: a ratio between them shows the way alone.
 */
import { type Codec, createHost, type Host, type HostOptions, message, request } from '@zlink/framework';
import type { Entry, Message } from '../cargo.ts';
import type { ClientEnd, ServerEnd, Work } from './side.ts';

/** The one channel of every bench host. */
export const CHANNEL = 'bench';

class OpaqueBytes extends Uint8Array {}

const bytesCodec: Codec = {
  contentType: 'application/octet-stream',
  matches: (declaredType) => declaredType === OpaqueBytes,
  encode: (value) => value as Uint8Array, // only packets of bytes are declared so
  encodeInto: (value, _declaredType, sink) => sink.writeBytes(value as Uint8Array),
  decode: (bytes) => bytes.slice(),
  // A view: it is answered or dropped within the handler's turn.
  decodeRange: (source, start, end) => source.subarray(start, end),
};

const sendEntry = message<Entry>('entry');
const askEntry = request<Entry, Entry>('entry.ask');
const sendBytes = message<Uint8Array>('bytes', { declaredType: OpaqueBytes });
const askBytes = request<Uint8Array, Uint8Array>('bytes.ask', {
  declaredType: OpaqueBytes,
  reply: { declaredType: OpaqueBytes },
});

export interface Packets {
  readonly send: ReturnType<typeof message<Message>>;
  readonly ask: ReturnType<typeof request<Message, Message>>;
}

/** Either pair of descriptors, typed for whatever cargo there is. */
export function packetsOf(work: Work): Packets {
  const isJson = work.cargo.spec.kind === 'json';
  return (isJson ? { send: sendEntry, ask: askEntry } : { send: sendBytes, ask: askBytes }) as Packets;
}

export interface Handlers {
  readonly take: (received: Message) => void;
  readonly answer: (received: Message) => Message;
}

export function handlersOf(work: Work, onMessage: () => void): Handlers {
  const take = (received: Message): void => {
    work.cargo.check(received);
    onMessage();
  };
  const answer = (received: Message): Message => {
    take(received);
    return received;
  };
  return { take, answer };
}

/** An end that gets no time for a while ends no measurement: messages wait for it. */
const sendTimeoutMs = 30_000;

export function createBenchHost(options: HostOptions = {}): Host {
  const host = createHost({ sendTimeoutMs, ...options, testing: { allowSeveralHosts: true } });
  host.codecs().use({ register: (codecs) => codecs.add(bytesCodec) });
  return host;
}

export class HostServer implements ServerEnd {
  readonly windowBytes = undefined;
  readonly address: string;
  readonly #host: Host;

  constructor(host: Host, address: string) {
    this.#host = host;
    this.address = address;
  }

  async close(): Promise<void> {
    await this.#host.shutdown();
  }
}

/** Calls whichever server the channel chooses. */
export class ChannelCaller implements ClientEnd {
  readonly #host: Host;
  readonly #packets: Packets;

  constructor(host: Host, work: Work) {
    this.#host = host;
    this.#packets = packetsOf(work);
  }

  send(value: Message): Promise<void> {
    return this.#host.routeClient.sendToChannel(CHANNEL, this.#packets.send(value)).submit();
  }

  request(value: Message): Promise<Message> {
    return this.#host.routeClient.requestToChannel(CHANNEL, this.#packets.ask(value)).submit();
  }

  async close(): Promise<void> {
    await this.#host.shutdown();
  }
}
