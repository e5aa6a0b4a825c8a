/**
 * How the messages of one host are followed: flows, records and spans.
 *
 * Owns the level, what of a message is recorded at it, and the way of records to the logger. Leaves to calls and dispatches
 * which point a message has reached, and spans to the tracer.
 *
 * M1 The level may change at any moment and counts from the next point on. At `off` a point ends with its look at the level:
 *    nothing is made, read or told (TRACE-010).
 * M2 `sampleRate` thins the phases of `normal` and `detailed` only, and alike on all hosts: a flow is recorded as a whole or
 *    not at all (TRACE-011).
 * M3 Nothing here throws, and nothing changes the result of a message.
 */
import type { CarriedFlow, FlowOrigin } from './flow.ts';
import { FlowSource, type FlowSourceOptions } from './flow-source.ts';
import { type DiagnosticsLevel, diagnosticsLevels } from './level.ts';
import type { FollowedMessage } from './message-facts.ts';
import type { FlowPlace } from './place.ts';
import { type ErrorDetails, RecordForm } from './record-form.ts';
import { RecordQueue, type RecordQueueOptions } from './record-queue.ts';
import type { FlowPhase } from './records.ts';
import { flowOf, setFlow } from './signal-flow.ts';
import type { SpanTracer } from './span-tracer.ts';
import type { PhaseDetails } from './waiting-phase.ts';

export interface MessageFlowOptions extends FlowSourceOptions, RecordQueueOptions {
  /** Default `errors`. */
  readonly level?: DiagnosticsLevel;
  /** Share of flows whose phases are recorded, 0..1; default 1. */
  readonly sampleRate?: number;
  /** Whether records of `detailed` tell the size of messages; default false. */
  readonly includeMessageSizes?: boolean;
  readonly tracer?: SpanTracer | undefined;
}

const ERRORS = diagnosticsLevels.indexOf('errors');
const NORMAL = diagnosticsLevels.indexOf('normal');
const DETAILED = diagnosticsLevels.indexOf('detailed');

export class MessageFlow {
  readonly #source: FlowSource;
  readonly #form: RecordForm;
  readonly #queue: RecordQueue;
  readonly #sampleRate: number;
  readonly #includeMessageSizes: boolean;
  readonly #tracer: SpanTracer | undefined;
  /** Index of the level. */
  #rank: number;

  constructor(options: MessageFlowOptions) {
    this.#source = new FlowSource(options);
    this.#form = new RecordForm(this.#source.dateMs);
    this.#queue = new RecordQueue(this.#form, options);
    this.#sampleRate = options.sampleRate ?? 1;
    this.#includeMessageSizes = options.includeMessageSizes ?? false;
    this.#tracer = options.tracer;
    this.#rank = diagnosticsLevels.indexOf(options.level ?? 'errors');
  }

  get level(): DiagnosticsLevel {
    return diagnosticsLevels[this.#rank]!;
  }

  set level(level: DiagnosticsLevel) {
    this.#rank = diagnosticsLevels.indexOf(level); // M1
  }

  /** Nothing at all is done at a point. */
  get isOff(): boolean {
    return this.#rank < ERRORS;
  }

  /** Every phase is recorded, if its flow is sampled, and there are spans. */
  get isFollowing(): boolean {
    return this.#rank >= NORMAL;
  }

  /** Records tell durations, too. */
  get isDetailed(): boolean {
    return this.#rank >= DETAILED;
  }

  get tellsSizes(): boolean {
    return this.#includeMessageSizes && this.isDetailed;
  }

  /** Undefined: there are no spans at this level, or ever. */
  get tracer(): SpanTracer | undefined {
    return this.isFollowing ? this.#tracer : undefined;
  }

  /** Records that found no place in the queue. */
  get droppedRecords(): number {
    return this.#queue.dropped;
  }

  /** A new flow, for work that belongs to none (TRACE-022). Not at `off`. */
  begin(origin: FlowOrigin): CarriedFlow {
    return this.#source.begin(origin);
  }

  /** Makes one new flow of all calls that are submitted with `signal` (TRACE-022, TRACE-026). */
  beginWith(signal: AbortSignal, origin: FlowOrigin): void {
    if (this.#rank >= ERRORS) setFlow(signal, this.begin(origin));
  }

  /**
   * What a call belongs to: the flow it was given, else that of the callback whose signal it is submitted with, else a new one
   * (TRACE-026). Undefined at `off`.
   */
  join(given: CarriedFlow | undefined, signal: AbortSignal | undefined): CarriedFlow | undefined {
    if (this.#rank < ERRORS) return undefined;
    return given ?? (signal === undefined ? undefined : flowOf(signal)) ?? this.#source.begin('application');
  }

  /** Whether the phases of this flow are recorded now (M2). */
  records(flow: CarriedFlow | undefined): flow is CarriedFlow {
    return this.isFollowing && flow !== undefined && flow.share < this.#sampleRate;
  }

  /** Records a phase. For those of `normal` only what `records` has said yes to. */
  note(place: FlowPlace, phase: FlowPhase, message: FollowedMessage, details: PhaseDetails): void {
    this.#queue.addPhase(place, phase, message, details);
  }

  /**
   * Records a dispatch error. Not at `off`.
   *
   * @param key - what is alike for the same key is written once per second
   */
  fail(key: string, place: FlowPlace, message: FollowedMessage, details: ErrorDetails): void {
    this.#queue.addError(key, this.#form.error(place, message, details));
  }

  /** Writes what waits; from then on records are written at once. */
  close(): void {
    this.#queue.close();
  }
}
