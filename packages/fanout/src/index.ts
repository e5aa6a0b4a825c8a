export { builderOf, runtimeOf } from './channel-facades.ts';
export type { EventPath, OutgoingEvent } from './event-path.ts';
export type { FanoutChannelBuilder } from './fanout-builder.ts';
export { FanoutChannel } from './fanout-channel.ts';
export { createFanoutClient, type FanoutClient, type FanoutPaths } from './fanout-client.ts';
export type { FanoutConnections, FanoutRuntime } from './fanout-runtime.ts';
export type { PublisherStatus } from './publisher-status.ts';
