/** What the calls of one path tell: how their requests end, and what keeps them waiting. */
import type { AdmissionOutcome, CallMeter, RequestOutcome, SelectionFailure } from '@zlink/kernel/observe';
import type { Series } from './told-metric.ts';

/** Requests of all paths with the same attributes that have not ended. */
export interface InFlight {
  count: number;
}

export interface CallSeries {
  readonly inFlight: InFlight;
  readonly durations: Readonly<Record<RequestOutcome, Series>>;
  readonly timeouts: Series;
  readonly waits: Readonly<Record<AdmissionOutcome, Series>>;
  /** Undefined: the target is given, not chosen. */
  readonly selectionFailures: Readonly<Record<SelectionFailure, Series>> | undefined;
}

export class CallMetrics implements CallMeter {
  readonly #series: CallSeries;

  constructor(series: CallSeries) {
    this.#series = series;
  }

  requestStarted(): void {
    this.#series.inFlight.count++;
  }

  requestEnded(outcome: RequestOutcome, seconds: number): void {
    const { inFlight, durations, timeouts } = this.#series;
    inFlight.count--;
    durations[outcome].tell(seconds);
    if (outcome === 'timed_out') timeouts.tell(1);
  }

  admissionWaited(outcome: AdmissionOutcome, seconds: number): void {
    this.#series.waits[outcome].tell(seconds);
  }

  selectionFailed(reason: SelectionFailure): void {
    this.#series.selectionFailures?.[reason].tell(1);
  }
}
