/** Several hosts in one process: arranged here, closed and checked after each test. */
import { clusterArranger, type TopicCluster } from '@zlink/testing/internal';
import { TestHost, type TestHostOptions } from './test-host.ts';

export type Cluster = TopicCluster<TestHost, TestHostOptions>;

export const arrangeCluster = clusterArranger<TestHost, TestHostOptions>(
  (place, options) => new TestHost(place, options),
  afterEach,
);
