/**
 * Every ChannelName of this process and the one path it leads to (CHAN-001).
 *
 * Owns uniqueness of names. A name that is not here is searched nowhere else; the error says which ones are.
 */
import { ClientServerChannel } from '@zlink/clientserver';
import type { CallPath } from '@zlink/kernel/call';
import { describeValue, didYouMean, ZLinkError } from '@zlink/kernel/errors';
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
    throw this.#notRegistered(channelName);
  }

  pathTo(channelName: string): CallPath | ZLinkError {
    return this.#channels.get(channelName)?.path ?? this.#notRegistered(channelName);
  }

  #notRegistered(channelName: string): ZLinkError {
    const names = [...this.#channels.keys()];
    const shown = names.slice(0, NAMES_SHOWN).map(describeValue).join(', ');
    const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
    const registered = `; registered: ${shown === '' ? 'none' : shown + more}`;
    const what = `channel ${describeValue(channelName)} is not registered in this process`;
    return new ZLinkError('NotFound', what + didYouMean(channelName, names) + registered);
  }
}

const NAMES_SHOWN = 8;
