/** What applications do with a call: set it up, submit it once, wait. */
import type { Metadata } from '../message/index.ts';
import type { Flow } from '../observe/index.ts';

/**
 * A one-way message on its way to one target. Single use.
 *
 * The value is encoded when the source-local queue of its route accepts it: leave it unchanged until `submit` settles.
 */
export interface SendCall {
  /**
   * Adds one entry of application metadata; the last value of a key wins.
   *
   * @param key - UTF-8 without NUL
   * @param value - UTF-8 without NUL; all entries together take at most 1,024 bytes encoded
   * @throws ZLinkError `InvalidOperation` if an entry is not allowed or the call was submitted
   * @see MSG-010
   */
  metadata(key: string, value: string): this;
  /** Adds every entry of `all`. */
  metadata(all: Metadata): this;
  /**
   * The message belongs to this flow, `context.flow` of a handler; default: the flow of the handler whose signal it is
   * submitted with, else a new one.
   *
   * @param flow - undefined, as at diagnostics level `off`: as without
   * @throws ZLinkError `InvalidOperation` for what is no flow, or if the call was submitted
   * @see TRACE-022, TRACE-026
   */
  flow(flow: Flow | undefined): this;
  /**
   * Chooses the target and submits. Resolves with no value when the source-local queue of the route has accepted the
   * message; that says nothing about the handler.
   *
   * @param signal - ends the waiting; already aborted: nothing is submitted
   * @throws ZLinkError `NotFound`, `NotConfigured`, `Unavailable`, `CapacityExceeded`, `DeadlineExceeded` (not accepted
   *   within the send timeout), `ShuttingDown`, `InvalidOperation`; or the signal's reason
   * @see CALL-001, CALL-002, CALL-003, CALL-005
   */
  submit(signal?: AbortSignal): Promise<void>;
}

/** A request to one target and the wait for its reply. Single use. */
export interface RequestCall<R> {
  /** As `SendCall.metadata`. */
  metadata(key: string, value: string): this;
  metadata(all: Metadata): this;
  /** As `SendCall.flow`. */
  flow(flow: Flow | undefined): this;
  /**
   * Bounds the whole call: finding a target, waiting for credit, the handler, the reply.
   *
   * On expiry the call rejects with kind `DeadlineExceeded`; the remote handler may still run, its late reply is dropped.
   *
   * @param ms - milliseconds, integer 1..2_147_483_647; default: the path's or host's request timeout (30_000)
   * @throws ZLinkError `InvalidOperation` if the value is out of range or the call was submitted
   * @see CALL-003
   */
  timeoutMs(ms: number): this;
  /**
   * Chooses the target, submits and waits for exactly one result: the reply or an error.
   *
   * @param signal - ends the waiting; the handler's `signal` at the other side is aborted then. The signal of a handler
   *   context also passes on the time that handler has left.
   * @throws ZLinkError as `SendCall.submit`, also `Rejected`, `ProtocolError`, `InternalFailure` or what the handler
   *   chose; `submitted` tells whether the request had left this process
   * @see CALL-002, CALL-004, CALL-005
   */
  submit(signal?: AbortSignal): Promise<R>;
  /**
   * Frees the shared gate while waiting; only in a `spotWide` User Spot or Instance Spot turn.
   *
   * @throws ZLinkError `InvalidOperation` anywhere else
   */
  yield(signal?: AbortSignal): Promise<R>;
}

/** An event on its way to every subscriber that is connected now. Single use; carries no metadata. */
export interface FanoutPublishCall {
  /** As `SendCall.flow`. */
  flow(flow: Flow | undefined): this;
  /**
   * Encodes the event and hands it to the publisher of this process. Resolves with no value once that has accepted it, also
   * without any subscriber; whether anyone receives or handles it is not known here. A publisher accepts or refuses at once
   * and never waits for a subscriber, so nothing comes near the send timeout.
   *
   * @param signal - already aborted: nothing is published
   * @throws ZLinkError `NotFound`, `NotConfigured`, `ShuttingDown`, `InvalidOperation` (value that cannot be encoded or is
   *   above 16_777_216 bytes, second submission, host not started); or the signal's reason
   * @see FAN-002, CALL-001, CALL-002
   */
  submit(signal?: AbortSignal): Promise<void>;
}
