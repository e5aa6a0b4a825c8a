/** What applications hold of a channel: nothing of its stages can be reached through it (HOSTREG-005). */
import type { ClientServerChannel, ClientServerChannelBuilder, ClientServerRuntime } from './client-server-channel.ts';

export function builderOf(channel: ClientServerChannel): ClientServerChannelBuilder {
  return Object.freeze({ client: () => channel.client(), server: () => channel.server() });
}

export function runtimeOf(channel: ClientServerChannel): ClientServerRuntime {
  return Object.freeze({
    channelName: channel.channelName,
    get endpoint() {
      return channel.endpoint;
    },
    setWeight: (weight: number) => channel.setWeight(weight),
    servers: () => channel.servers(),
    whenReady: (count: number, signal?: AbortSignal) => channel.whenReady(count, signal),
  });
}
