/** A server whose handler is a class with what its scope gives, and whose packets are declared by classes. */
import type { ChannelContext } from '@zlink/framework';
import { Ask, CHANNEL, type Payload, type Reply } from '../../contracts.ts';
import type { Composition } from './composition.ts';
import { Parcel } from './scopes.ts';

/** Named by a static. */
export class Letter {
  static readonly packetName = 'conformance.letter';
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Named by its class. */
export class Postcard {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Sent as the `Letter` that it is a kind of. */
export class ExpressLetter extends Letter {
  readonly speed = 'express';
}

export function describeClassServer(composition: Composition): void {
  const { desk } = composition;
  class AskHandler {
    static readonly inject = [Parcel];
    readonly #parcel: Parcel;

    constructor(parcel: Parcel) {
      this.#parcel = parcel;
      desk.note({ owner: 'handler', what: 'constructed', mark: String(parcel.scope) });
    }

    handle(payload: Payload, context: ChannelContext): Promise<Reply> {
      desk.note({ owner: 'handler', what: 'scope', mark: payload.mark, text: String(this.#parcel.scope) });
      return desk.handle('server', payload, context);
    }
  }
  const take = (what: string) => (value: { text: string }) => {
    desk.note({ owner: 'server', what, mark: '', text: value.text });
  };
  composition
    .clientServer(CHANNEL)
    .server()
    .addRequestHandler(Ask, AskHandler)
    .addSendHandler(Letter, take('letter'))
    .addSendHandler(Postcard, take('postcard'));
}
