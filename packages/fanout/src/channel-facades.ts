/** What applications hold of a channel: nothing of its stages can be reached through it (HOSTREG-005). */
import type { FanoutChannelBuilder } from './fanout-builder.ts';
import type { FanoutChannel } from './fanout-channel.ts';
import type { FanoutRuntime } from './fanout-runtime.ts';

export function builderOf(channel: FanoutChannel): FanoutChannelBuilder {
  return channel.builder;
}

export function runtimeOf(channel: FanoutChannel): FanoutRuntime {
  return Object.freeze({
    channelName: channel.channelName,
    get endpoint() {
      return channel.endpoint;
    },
    connections: channel.connections,
    publishers: () => channel.publishers(),
  });
}
