/**
 * The framework as an application uses it: a host, a ClientServer channel, handlers and calls.
 *
 * JSON travels by the built-in codec. Opaque bytes, which the comparison with the bare link needs, travel by a codec that
 * hands them through.
 */
import { type Codec, createHost, type Host, message, request } from '@zlink/framework';
import type { Entry, Message } from '../cargo.ts';
import type { ClientEnd, ServerEnd, Side, Work } from './side.ts';

export const framework: Side = {
  name: 'framework',

  async openServer(work, onMessage) {
    const host = createBenchHost();
    const { send, ask } = packetsOf(work);
    const take = (received: Message): void => {
      work.cargo.check(received);
      onMessage();
    };
    host
      .addClientServerChannel(channel)
      .server()
      .listen(0)
      .addSendHandler(send, take)
      .addRequestHandler(ask, (received: Message) => {
        take(received);
        return received;
      });
    await host.start();
    return new FrameworkServer(host);
  },

  async openClient(work, address) {
    const host = createBenchHost();
    host.addClientServerChannel(channel).client().connect(address);
    await host.start();
    await host.clientServerChannel(channel).whenReady(1);
    return new FrameworkClient(host, work);
  },
};

const channel = 'bench';

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

/** Either pair of descriptors, typed for whatever cargo there is. */
function packetsOf(work: Work) {
  const isJson = work.cargo.spec.kind === 'json';
  return (isJson ? { send: sendEntry, ask: askEntry } : { send: sendBytes, ask: askBytes }) as {
    readonly send: ReturnType<typeof message<Message>>;
    readonly ask: ReturnType<typeof request<Message, Message>>;
  };
}

function createBenchHost(): Host {
  const host = createHost({ testing: { allowSeveralHosts: true } });
  host.codecs().use({ register: (codecs) => codecs.add(bytesCodec) });
  return host;
}

class FrameworkServer implements ServerEnd {
  readonly windowBytes = undefined;
  readonly address: string;
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    this.address = host.clientServerChannel(channel).endpoint ?? '';
  }

  async close(): Promise<void> {
    await this.#host.shutdown();
  }
}

class FrameworkClient implements ClientEnd {
  readonly #host: Host;
  readonly #packets: ReturnType<typeof packetsOf>;

  constructor(host: Host, work: Work) {
    this.#host = host;
    this.#packets = packetsOf(work);
  }

  send(value: Message): Promise<void> {
    return this.#host.routeClient.sendToChannel(channel, this.#packets.send(value)).submit();
  }

  request(value: Message): Promise<Message> {
    return this.#host.routeClient.requestToChannel(channel, this.#packets.ask(value)).submit();
  }

  async close(): Promise<void> {
    await this.#host.shutdown();
  }
}
