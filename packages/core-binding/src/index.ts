/** ZLink's pipes and fanout on ZeroMQ, for who composes a host. */

export type { AttemptRateLimits } from './attempt-rate.ts';
export { curveProblems, type CurveSecurity } from './curve.ts';
export { createCurveKeys, type CurveKeys } from './curve-keys.ts';
export type { EngineWarning, ZmqEngineOptions } from './engine-options.ts';
export { createZmqEngine, type ZmqEngine } from './zmq-engine.ts';
export { type MemoryFacts, type ProcessorFacts, readMemoryFacts, readProcessorFacts } from './machine-facts.ts';
export { type MessagingMemory, type MessagingMemoryOptions, resolveMessagingMemory } from './messaging-memory.ts';
export {
  createZmqTransport,
  createZmqTransports,
  type ZmqTransportOptions,
  type ZmqTransports,
} from './zmq-transport.ts';
