/**
 * The metrics of one host.
 *
 * Owns the instruments and the one callback that reads them. Leaves the list to metric-list.ts, and what is read to
 * host-readings.ts.
 *
 * 1. Made when the host starts; `close` reads totals a last time, and after it nothing is read any more, even if the meter
 *    still asks (METRIC-001). What is told as it happens still counts, as a provider outlives the host.
 * 2. One reading of gauges and one of totals per collection, whatever they throw: then that collection has none of them
 *    (METRIC-004). A collection has the totals of its own reading: meters ask their callbacks first.
 * 3. A reading is complete before any of it is told: a meter that collects while it is told cuts neither short.
 */
import type { BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type {
  AdmissionOutcome,
  CallLabels,
  CallMeter,
  HostMeter,
  RequestOutcome,
  SelectionFailure,
  StoreOperation,
} from '@zlink/kernel/observe';
import { type TelemetryFailure, watched } from '../failure.ts';
import { CallMetrics, type InFlight } from './call-metrics.ts';
import { type MeteredHost, readHost, type ReadMetrics, readTotals, type TotalMetrics } from './host-readings.ts';
import { type Metric, READ_METRICS, TOLD_METRICS, TOTAL_METRICS } from './metric-list.ts';
import { type Reading, ReadMetric } from './read-metric.ts';
import { type Series, ToldMetric } from './told-metric.ts';
import { type Growth, TotalMetric } from './total-metric.ts';

type ToldMetrics = {
  readonly [N in keyof typeof TOLD_METRICS]: ToldMetric<(typeof TOLD_METRICS)[N]['attributes']>;
};

const REQUEST_OUTCOMES: readonly RequestOutcome[] = ['succeeded', 'failed', 'cancelled', 'timed_out', 'shutdown'];
const ADMISSION_OUTCOMES: readonly AdmissionOutcome[] = ['admitted', 'timed_out', 'cancelled', 'shutdown'];
const SELECTION_FAILURES: readonly SelectionFailure[] = ['no_member', 'not_ready', 'draining'];

export class HostMetrics implements HostMeter {
  readonly #meter: Meter;
  readonly #failed: TelemetryFailure;
  readonly #read: ReadMetrics;
  readonly #totals: TotalMetrics;
  readonly #told: ToldMetrics;
  readonly #observables: Observable[];
  /** By what they are added to. */
  readonly #meshInFlight = new Map<string, InFlight & { readonly labels: [meshName: string, surface: string] }>();
  readonly #clientInFlight = new Map<string, InFlight>();
  #observed: { readonly host: MeteredHost; readonly callback: (result: BatchObservableResult) => void } | undefined;

  /** @throws what the meter throws */
  constructor(meter: Meter, failed: TelemetryFailure) {
    this.#meter = meter;
    this.#failed = failed;
    this.#read = mapValues(READ_METRICS, (metric) => new ReadMetric(meter, metric, failed)) as ReadMetrics; // key by key
    this.#totals = mapValues(TOTAL_METRICS, (metric) => new TotalMetric(meter, metric, failed)) as TotalMetrics; // key by key
    this.#told = mapValues(TOLD_METRICS, (metric) => new ToldMetric(meter, metric, failed)) as ToldMetrics; // key by key
    this.#observables = Object.values(this.#read).map(({ observable }) => observable);
  }

  forCalls(labels: CallLabels): CallMeter {
    const surface = labels.topology === 'mesh_node' ? labels.surface : 'channel';
    const waits = byWord(ADMISSION_OUTCOMES, (outcome) => this.#told.admissionWait.series(surface, outcome));
    return new CallMetrics({
      ...this.#requestsOf(labels),
      waits,
      selectionFailures: this.#selectionFailuresOf(labels),
    });
  }

  storeFailed(operation: StoreOperation): void {
    this.#told.storeErrors.series(operation).tell(1);
  }

  leaseRenewed(latenessSeconds: number): void {
    this.#told.renewLateness.series().tell(latenessSeconds);
  }

  leaseRenewalFailed(): void {
    this.#told.renewFailures.series().tell(1);
  }

  shutdownEnded(outcome: 'stopped' | 'force_stopped', reason: string, seconds: number): void {
    this.#told.shutdownDuration.series(outcome).tell(seconds);
    if (outcome === 'force_stopped') this.#told.shutdownForced.series(reason).tell(1);
  }

  /** Once. */
  observe(host: MeteredHost): void {
    const callback = (result: BatchObservableResult): void => {
      if (this.#observed === undefined) return; // 1
      this.#tellTotals(host);
      this.#guarded(() => {
        for (const { observable, value, attributes } of this.#readingsOf(host)) {
          watched<unknown>(result.observe(observable, value, attributes), 'meter', this.#failed);
        }
      });
    };
    this.#observed = { host, callback };
    this.#guarded(() => {
      const added: unknown = this.#meter.addBatchObservableCallback(callback, this.#observables);
      watched(added, 'meter', this.#failed);
    });
  }

  close(): void {
    const observed = this.#observed;
    if (observed === undefined) return;
    this.#observed = undefined; // 1
    this.#tellTotals(observed.host);
    this.#guarded(() => {
      const removed: unknown = this.#meter.removeBatchObservableCallback(observed.callback, this.#observables);
      watched(removed, 'meter', this.#failed);
    });
  }

  #tellTotals(host: MeteredHost): void {
    this.#guarded(() => {
      for (const { series, value } of this.#growthOf(host)) series.tell(value);
    });
  }

  /** 2 */
  #guarded(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      this.#failed('meter', thrown);
    }
  }

  /** Since the last reading (3). */
  #growthOf(host: MeteredHost): readonly Growth[] {
    const metrics = Object.values(this.#totals);
    try {
      readTotals(host, this.#totals);
      return metrics.flatMap((metric) => metric.takeGrowth());
    } finally {
      for (const metric of metrics) metric.clear();
    }
  }

  /** Of now (3). */
  #readingsOf(host: MeteredHost): readonly Reading[] {
    const metrics = Object.values(this.#read);
    try {
      readHost(host, this.#read);
      for (const { count, labels } of this.#meshInFlight.values()) this.#read.meshInFlight.add(count, ...labels);
      for (const [channelName, { count }] of this.#clientInFlight) this.#read.clientInFlight.add(count, channelName);
      return metrics.flatMap((metric) => metric.readings());
    } finally {
      for (const metric of metrics) metric.clear();
    }
  }

  #requestsOf(labels: CallLabels): { inFlight: InFlight; durations: Record<RequestOutcome, Series>; timeouts: Series } {
    const told = this.#told;
    if (labels.topology === 'mesh_node') {
      const { meshName, surface } = labels;
      return {
        inFlight: entryOf(this.#meshInFlight, `${meshName}\0${surface}`, () => ({
          count: 0,
          labels: [meshName, surface],
        })),
        durations: byWord(REQUEST_OUTCOMES, (outcome) => told.meshRequestDuration.series(meshName, surface, outcome)),
        timeouts: told.meshRequestTimeouts.series(meshName, surface),
      };
    }
    const { channelName } = labels;
    return {
      inFlight: entryOf(this.#clientInFlight, channelName, () => ({ count: 0 })),
      durations: byWord(REQUEST_OUTCOMES, (outcome) => told.clientRequestDuration.series(channelName, outcome)),
      timeouts: told.clientRequestTimeouts.series(channelName),
    };
  }

  #selectionFailuresOf(labels: CallLabels): Record<SelectionFailure, Series> | undefined {
    const { meshSelectionFailures, clientSelectionFailures } = this.#told;
    if (labels.topology === 'client_server') {
      return byWord(SELECTION_FAILURES, (reason) => clientSelectionFailures.series(labels.channelName, reason));
    }
    if (labels.surface === 'node') return undefined;
    const { meshName, channelName } = labels;
    return byWord(SELECTION_FAILURES, (reason) => meshSelectionFailures.series(meshName, channelName, reason));
  }
}

function mapValues<T>(metrics: Readonly<Record<string, Metric>>, make: (metric: Metric) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(metrics).map(([name, metric]) => [name, make(metric)]));
}

function byWord<W extends string, T>(words: readonly W[], make: (word: W) => T): Record<W, T> {
  return Object.fromEntries(words.map((word) => [word, make(word)])) as Record<W, T>; // one entry for each word
}

function entryOf<T>(entries: Map<string, T>, key: string, make: () => T): T {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const entry = make();
  entries.set(key, entry);
  return entry;
}
