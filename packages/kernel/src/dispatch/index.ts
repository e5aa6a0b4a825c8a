/** Handlers, filters, scopes and the dispatcher that runs them. */
export type { ChannelContext, FanoutContext, MessageContext, NodeContext } from './contexts.ts';
export type { DropReason, Verb } from './counters.ts';
export { Dispatcher } from './dispatcher.ts';
export type { DispatcherOptions, DispatcherParts } from './dispatcher.ts';
export { freezeFilters } from './filter-chain.ts';
export type { DispatchKind, Filter, FilterContext, FilterEntry } from './filter-chain.ts';
export { HandlerRegistry, HandlerTable } from './handler-registry.ts';
export type { RequestHandler, SendHandler } from './handler-registry.ts';
export type { IntakeRefusal } from './intake.ts';
export { LastHandler } from './last-handler.ts';
export { requireServices } from './scope.ts';
export type { ServiceProvider, ServiceScope } from './scope.ts';
