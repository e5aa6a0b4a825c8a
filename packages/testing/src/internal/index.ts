/** What the tests of ZLink's own packages share; no contract, it changes with them. */

export { Board, type BoardDiscovery } from './board.ts';
export { Gate } from './gate.ts';
export { isSettled, type Outcome, rejection, thrown, watch } from './outcome.ts';
export { isFree, quietAddress, quietPort } from './quiet-port.ts';
export { RawEndpoint, type RawRecordOptions, type ReceivedRecord, type SaidRecord } from './raw-endpoint.ts';
export { type RunningScript, runScript } from './running-script.ts';
export { type Closable, clusterArranger, TopicCluster } from './topic-cluster.ts';
export { type LogRecord, TopicHost, type TopicHostOptions, type TopicHostPlace } from './topic-host.ts';
export { type CodecPackage, codecPackageSuite } from '../suites/codec/codec-package-suite.ts';
export { selectionSuite } from '../suites/selection/selection-suite.ts';
