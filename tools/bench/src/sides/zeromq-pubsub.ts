/**
 * Raw zeromq.js: PUB to SUB, one message and one await each.
 *
 * 1. The publisher is an XPUB, which is a PUB that can be asked who has subscribed; nothing is asked while it is measured.
 * 2. No marks: what a side loses is no event that it has carried, and a mark costs nothing. All other options are the
 *    defaults, but for linger, which would keep a closing process alive.
 */
import { Subscriber, XPublisher } from 'zeromq';
import type { Cargo, Message } from '../cargo.ts';
import type { PublisherEnd, PublishingSide, SubscriberEnd } from './publishing-side.ts';

export const zeromqPubsub: PublishingSide = {
  async openPublisher(cargo) {
    const socket = new XPublisher({ linger: 0, sendHighWaterMark: 0, verbosity: 'allSubs' }); // 1, 2
    await socket.bind('tcp://127.0.0.1:*');
    return new ZeromqPublisher(socket, cargo);
  },

  async openSubscriber(cargo, address, onEvent) {
    const socket = new Subscriber({ linger: 0, receiveHighWaterMark: 0 }); // 2
    socket.subscribe();
    socket.connect(address);
    return new ZeromqSubscriber(socket, cargo, onEvent);
  },
};

class ZeromqPublisher implements PublisherEnd {
  readonly address: string;
  readonly #socket: XPublisher;
  readonly #cargo: Cargo;
  #subscriberCount = 0;

  constructor(socket: XPublisher, cargo: Cargo) {
    this.#socket = socket;
    this.#cargo = cargo;
    this.address = socket.lastEndpoint ?? '';
  }

  async ready(subscriberCount: number): Promise<void> {
    for (; this.#subscriberCount < subscriberCount; this.#subscriberCount++) await this.#socket.receive();
  }

  publish(event: Message): Promise<void> {
    return this.#socket.send(this.#cargo.encode(event));
  }

  async close(): Promise<void> {
    this.#socket.close();
  }
}

class ZeromqSubscriber implements SubscriberEnd {
  readonly #socket: Subscriber;
  readonly #received: Promise<void>;

  constructor(socket: Subscriber, cargo: Cargo, onEvent: () => void) {
    this.#socket = socket;
    this.#received = this.#receive(cargo, onEvent);
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.#received;
  }

  async #receive(cargo: Cargo, onEvent: () => void): Promise<void> {
    for await (const [frame] of this.#socket) {
      cargo.inspect(frame!, 0, frame!.length);
      onEvent();
    }
  }
}
