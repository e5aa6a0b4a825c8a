/**
 * The port between calls and the paths they take.
 *
 * A path (a ClientServer client, a channel or a node of a mesh) knows targets and selection; a call knows its message, its
 * time and its one result. Neither keeps the other's state.
 */
import type { ZLinkError } from '../errors/index.ts';
import type { Link, OutboundRecord } from '../internal/transport/index.ts';
import type { OutboundName } from '../internal/wire/index.ts';
import type { CallMeter, FlowPlace } from '../observe/index.ts';
import type { CallTerms } from './call-terms.ts';

/** A call that wants a link. */
export interface RoutableCall extends OutboundRecord {
  /** Started with the signal of a handler: part of accepted work, which may end while the host drains. */
  readonly belongsToHandler: boolean;
  /**
   * Submits the call to the link that the path chose.
   *
   * @param limitMs - longest wait for credit; default: the path's send timeout
   */
  takeLink(link: Link, limitMs?: number): void;
  /** No target yet: the call waits for one at most `limitMs`, counted from its submission. */
  awaitTarget(limitMs: number): void;
}

export interface CallPath {
  /** For messages: `channel "billing"`. */
  readonly label: string;
  /** The same object for every call: all paths of a topic share it. */
  readonly terms: CallTerms;
  /** Where its messages leave, for records. */
  readonly place: FlowPlace;
  /** Undefined: nothing is measured. */
  readonly meter: CallMeter | undefined;
  nameOf(contentType: string, packetName: string): OutboundName;
  /**
   * Chooses a target now and calls `takeLink`, or `awaitTarget` and later `takeLink` (CHAN-003, CHAN-004).
   *
   * @throws ZLinkError if the path can never serve the call
   */
  route(call: RoutableCall): void;
  /** The call no longer waits for a target. */
  unroute(call: RoutableCall): void;
  /**
   * Why a call that waited for a target ends without one, as of now: its kind, and for people what is in the way (CALL-005).
   *
   * @param waitedMs - as long as it was to wait; less than the path's own limit: the call's time was over first
   */
  noTarget(waitedMs: number): ZLinkError;
}
