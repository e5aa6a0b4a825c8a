/** What ZLink applications, and ZLink itself, are tested with. */

export { createFakeSecurity } from './fake-security.ts';
export type { FaultAmount } from './fault-plan.ts';
export { createFaultProxy, type FaultProxy, type FaultProxyOptions, type ProxyDirection } from './fault-proxy.ts';
export { loopTurns, until } from './loop-turns.ts';
export { ManualClock } from './manual-clock.ts';
export type { MemoryHost } from './memory-connection.ts';
export { createMemoryEngine, type MemoryEngineOptions } from './memory-engine.ts';
export { createMemoryEventTransport, type MemoryEventTransportOptions } from './memory-event-transport.ts';
export type { FaultDirection } from './memory-faults.ts';
export { type FaultTarget, MemoryNetwork } from './memory-network.ts';
export { unbalancedCounters, unfinishedCounters } from './message-balance.ts';
export {
  openStranger,
  randomInputs,
  type RawStranger,
  type StrangerEnd,
  type StrangerInput,
  strangerInputs,
} from './raw-stranger.ts';
export { type RedisServer, type RedisServerOptions, startRedisServer } from './redis-server.ts';
export { randomBytes, seededRandom } from './seeded-random.ts';
export {
  createTestCluster,
  type StartableHost,
  type TestCluster,
  type TestClusterOptions,
  type TestHostOptions,
} from './test-cluster.ts';
export {
  createFaultyLocationStore,
  type FaultyLocationStore,
  type StoreFault,
  type StoreFaultPoint,
  type StoreOperation,
} from './store-faults.ts';
export type { CodecHarness, NestedValues } from './suites/codec/codec-harness.ts';
export { codecSuite } from './suites/codec/codec-suite.ts';
export { eventTransportSuite } from './suites/event-transport-suite.ts';
export type { EventHarness, EventHarnessFactory } from './suites/events/harness.ts';
export type { LocationStoreHarness, RelocationStoreHarness } from './suites/location/harness.ts';
export { locationStoreSuite } from './suites/location/location-store-suite.ts';
export { relocationStoreSuite } from './suites/location/relocation-store-suite.ts';
export type { SuiteRunner } from './suites/location/suite-runner.ts';
export { type SuiteCase, transportSuite } from './suites/transport-suite.ts';
export type {
  TransportFaults,
  TransportHarness,
  TransportHarnessFactory,
  TransportOverrides,
} from './suites/transport/harness.ts';
