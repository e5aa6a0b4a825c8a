export { advertisedEndpoint } from './advertised-endpoint.ts';
export type {
  Pipe,
  PipeConnectOptions,
  PipeEngine,
  PipeListenOptions,
  PipeListener,
  PipeSecurity,
  PipeSink,
} from './engine.ts';
export type {
  EventPublisher,
  EventTransport,
  PublisherOptions,
  Subscription,
  SubscriptionOptions,
  SubscriptionSink,
} from './events.ts';
export { noteClosed, noteOpen } from './open-transports.ts';
export type { InboundName, InboundRecord, LinkSink, OutboundRecord, OutboundRequest, TraceReading } from './records.ts';
export type {
  DialOptions,
  DuplicatePolicy,
  Intent,
  IntentState,
  Link,
  LinkGroup,
  LinkPhase,
  Listener,
  ListenOptions,
  PeerFacts,
  Transport,
  TransportStatus,
} from './transport.ts';
