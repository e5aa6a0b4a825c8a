/**
 * What a handler may know about the message it got.
 *
 * Owns the public shapes only. They name logical facts; links, endpoints and selection belong to monitoring (DISP-003).
 */
import type { Metadata } from '../message/index.ts';
import type { Flow } from '../observe/index.ts';

export interface MessageContext {
  readonly kind: 'send' | 'request';
  readonly packetName: string;
  readonly contentType: string;
  /** Immutable; valid for as long as anyone holds it. */
  readonly metadata: Metadata;
  /** Names this request among all that this process received; undefined on a send. */
  readonly correlationId: string | undefined;
  /** Aborts when the caller no longer waits, when the time of the request is over, and when the host gives up waiting. */
  readonly signal: AbortSignal;
  /**
   * What this message belongs to; given to a call, `call.flow(context.flow)`, the call belongs to it, too. Undefined at
   * diagnostics level `off`.
   *
   * @see TRACE-022, TRACE-026
   */
  readonly flow: Flow | undefined;
}

export interface ChannelContext extends MessageContext {
  readonly channelName: string;
}

export interface NodeContext extends MessageContext {
  readonly meshName: string;
  readonly sourceNodeRid: string;
  readonly targetNodeRid: string;
}

/** What a handler may know about the event it got; nothing of the publisher, who is not answered either. */
export interface FanoutContext {
  readonly channelName: string;
  /** As the publisher gave it; without one it is the packet name in UTF-8. A copy, this handler's own. */
  readonly topic: Uint8Array;
  /** The topic read as UTF-8; bytes that are none are shown as U+FFFD. */
  readonly topicText: string;
  readonly packetName: string;
  /** Aborts when the host gives up waiting. */
  readonly signal: AbortSignal;
  /** As that of a message. */
  readonly flow: Flow | undefined;
}
