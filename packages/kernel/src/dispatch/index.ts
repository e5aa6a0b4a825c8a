/** Handlers, filters, scopes and the dispatcher that runs them. */
export { CHANNEL_SERVER_DEFAULTS, type ChannelServerBuilder } from './channel-server-builder.ts';
export type { ChannelContext, FanoutContext, MessageContext, NodeContext } from './contexts.ts';
export { Dispatcher } from './dispatcher.ts';
export { DEFAULT_CONCURRENCY, type DispatcherParts } from './dispatcher-options.ts';
export { freezeFilters } from './filter-chain.ts';
export type { DispatchKind, Filter, FilterContext, FilterEntry } from './filter-chain.ts';
export { HandlerRegistry, HandlerTable } from './handler-registry.ts';
export type { RequestHandler, SendHandler } from './handler-registry.ts';
export type { Refusal } from './intake.ts';
export { LastHandler } from './last-handler.ts';
export { requireServices } from './scope.ts';
export type { ServiceProvider, ServiceScope } from './scope.ts';
export { channelSurface, fanoutSurface, nodeSurface } from './surface.ts';
