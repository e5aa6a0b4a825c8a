/**
 * The view of one owner's message counters.
 *
 * Owns the shape only; whoever dispatches messages counts them.
 *
 * 1. At any moment accepted = handled + failed + sum(dropped) + running + queued.
 */

import type { FlowSurface } from './flow/index.ts';

/** What several owners have in hand, added up: whoever owns some adds to it. */
export interface MessageBacklog {
  running: number;
  queued: number;
}

export interface MessageCounters {
  /** Who the messages were for: a channel or mesh name. */
  readonly owner: string;
  /** What has that name: `node` a mesh, `channel` a channel of either kind, `classic_fanout` a fanout channel. */
  readonly surface: FlowSurface;
  /** Of a node, and of a channel in a mesh. */
  readonly meshName?: string;
  /**
   * - `send`, `request`: messages to the owner's handlers
   * - `stray`: messages to a channel's client, or replies to a node, that no request waited for; all are dropped, late
   *   replies as `reply`
   */
  readonly verb: string;
  readonly accepted: number;
  readonly handled: number;
  /** The handler, a filter or the encoding of the reply failed. */
  readonly failed: number;
  /** By reason label; reasons that never happened are absent. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Handlers at work, and replies that wait for credit. */
  readonly running: number;
  readonly queued: number;
}
