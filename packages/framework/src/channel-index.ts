/**
 * Every ChannelName of this process and the one path it leads to (CHAN-001).
 *
 * Owns uniqueness of names. A name that is not here is searched nowhere else.
 */
import { ClientServerChannel } from '@zlink/clientserver';
import type { CallPath } from '@zlink/kernel/call';
import { describeValue, ZLinkError } from '@zlink/kernel/errors';
import type { Topic, ValidationContext } from '@zlink/kernel/internal/host';

export class ChannelIndex {
  readonly #channels = new Map<string, ClientServerChannel>();

  get topics(): readonly Topic[] {
    return [...this.#channels.values()];
  }

  /** The channel of that name; the same one for every call, so that roles registered twice are found at start. */
  addClientServer(channelName: string, requireOpen: () => void): ClientServerChannel {
    let channel = this.#channels.get(channelName);
    if (channel === undefined) {
      channel = new ClientServerChannel(channelName, requireOpen);
      this.#channels.set(channelName, channel);
    }
    return channel;
  }

  validate(context: ValidationContext): void {
    for (const channel of this.#channels.values()) channel.validate(context);
  }

  clientServer(channelName: string): ClientServerChannel {
    const channel = this.#channels.get(channelName);
    if (channel !== undefined) return channel;
    throw notRegistered(channelName);
  }

  pathTo(channelName: string): CallPath | ZLinkError {
    return this.#channels.get(channelName)?.path ?? notRegistered(channelName);
  }
}

function notRegistered(channelName: string): ZLinkError {
  return new ZLinkError('NotFound', `channel ${describeValue(channelName)} is not registered in this process`);
}
