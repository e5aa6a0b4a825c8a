/**
 * Raw zeromq.js: DEALER to ROUTER, one message and one await each.
 *
 * The reference of most bars: what a program gets that uses zeromq.js as its documentation shows. All socket options are
 * the defaults, but for linger, which would keep a closing process alive.
 *
 * 1. One send at a time: zeromq.js allows no second one while the first is pending. Callers queue behind it.
 * 2. A client of one-way messages does not receive: a pending receive makes each send dearer, and nothing comes.
 * 3. Requests of opaque bytes carry a correlation id of 4 bytes in front; JSON requests are correlated by their `id`.
 */
import { Dealer, Router } from 'zeromq';
import type { Entry, Message } from '../cargo.ts';
import { PendingReplies } from './pending-replies.ts';
import type { ClientEnd, ServerEnd, Side, Work } from './side.ts';

export const zeromq: Side = {
  async openServer(work, onMessage) {
    const router = new Router({ linger: 0 });
    await router.bind('tcp://127.0.0.1:*');
    return new ZeromqServer(router, work, onMessage);
  },

  async openClient(work, address) {
    const dealer = new Dealer({ linger: 0 });
    dealer.connect(address);
    return new ZeromqClient(dealer, work);
  },
};

const idBytes = 4;

class ZeromqServer implements ServerEnd {
  readonly windowBytes = undefined;
  readonly address: string;
  readonly #router: Router;
  readonly #work: Work;
  readonly #onMessage: () => void;
  readonly #served: Promise<void>;

  constructor(router: Router, work: Work, onMessage: () => void) {
    this.#router = router;
    this.#work = work;
    this.#onMessage = onMessage;
    this.address = router.lastEndpoint ?? '';
    this.#served = work.verb === 'send' ? this.#take() : this.#answer();
  }

  async close(): Promise<void> {
    this.#router.close();
    await this.#served;
  }

  async #take(): Promise<void> {
    const { cargo } = this.#work;
    for await (const [, frame] of this.#router) {
      cargo.inspect(frame!, 0, frame!.length);
      this.#onMessage();
    }
  }

  async #answer(): Promise<void> {
    const { cargo } = this.#work;
    const prefixBytes = cargo.spec.kind === 'bytes' ? idBytes : 0;
    for await (const [identity, frame] of this.#router) {
      const message = cargo.decode(frame!, prefixBytes, frame!.length);
      cargo.check(message);
      this.#onMessage();
      // Bytes go back as they came, id included.
      await this.#router.send([identity!, prefixBytes > 0 ? frame! : cargo.encode(message)]);
    }
  }
}

class ZeromqClient implements ClientEnd {
  readonly #dealer: Dealer;
  readonly #work: Work;
  readonly #pending = new PendingReplies();
  readonly #queue: (Uint8Array | string)[] = [];
  #sending = false;
  #lastId = 0;
  readonly #received: Promise<void>;

  constructor(dealer: Dealer, work: Work) {
    this.#dealer = dealer;
    this.#work = work;
    this.#received = work.verb === 'send' ? Promise.resolve() : this.#receive(); // 2
  }

  send(message: Message): Promise<void> {
    return this.#dealer.send(this.#work.cargo.encode(message));
  }

  request(message: Message): Promise<Message> {
    const { cargo } = this.#work;
    const isJson = cargo.spec.kind === 'json';
    const id = isJson ? (message as Entry).id : ++this.#lastId; // 3
    this.#queue.push(isJson ? cargo.encode(message) : withId(id, cargo.encode(message) as Uint8Array));
    const answered = this.#pending.wait(id);
    if (!this.#sending) void this.#sendQueued();
    return answered;
  }

  async close(): Promise<void> {
    this.#dealer.close();
    await this.#received;
  }

  /** 1 */
  async #sendQueued(): Promise<void> {
    this.#sending = true;
    try {
      for (let frame = this.#queue.shift(); frame !== undefined; frame = this.#queue.shift()) {
        await this.#dealer.send(frame);
      }
    } catch (error) {
      this.#pending.fail(error as Error);
    }
    this.#sending = false;
  }

  async #receive(): Promise<void> {
    const { cargo } = this.#work;
    for await (const [frame] of this.#dealer) {
      if (cargo.spec.kind === 'json') {
        const reply = cargo.decode(frame!, 0, frame!.length) as Entry;
        this.#pending.settle(reply.id, reply);
      } else {
        this.#pending.settle(frame!.readUInt32LE(0), cargo.decode(frame!, idBytes, frame!.length));
      }
    }
    this.#pending.fail(new Error('socket was closed'));
  }
}

function withId(id: number, payload: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(idBytes + payload.length);
  frame.writeUInt32LE(id, 0);
  frame.set(payload, idBytes);
  return frame;
}
