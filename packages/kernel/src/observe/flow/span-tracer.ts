/**
 * The port between messages and spans (TRACE-025).
 *
 * Owns the contract. Calls and dispatches use it at the levels `normal` and `detailed`; whoever exports traces implements it.
 *
 * 1. Without a tracer provider there is no tracer: messages find `undefined` and do nothing.
 * 2. An implementation never throws, whatever provider, propagator or span do; `run` throws what its work throws, and only that.
 * 3. A span ends exactly once.
 */
import type { MessageFields } from './records.ts';
import type { TraceContext } from './trace-context.ts';

/** `producer`: a send leaves. `client`: a request, until it has ended. `consumer`, `server`: the handler of either. */
export type SpanKind = 'producer' | 'client' | 'consumer' | 'server';

export interface MessageSpan {
  /** Sent along with the message, and given to what its handler starts; undefined: there is none to send. */
  readonly context: TraceContext | undefined;
  /** Runs the handler within the span's context; what the handler awaits goes on in it, what follows does not (TRACE-024). */
  run<R>(work: () => R): R;
  /**
   * The message is over.
   *
   * @param fields - all that is known of it now, its outcome included: attributes with the prefix `zlink.`
   * @param errorKind - kind of the error it ended with: status ERROR and `error.type`; undefined: none, or merely cancelled
   */
  end(fields: MessageFields, errorKind: string | undefined): void;
}

export interface SpanTracer {
  /**
   * Starts `send <packet>`, `request <packet>` or `process <packet>`.
   *
   * @param parent - `consumer` and `server`: the sender's span. `producer` and `client`: the handler that the call belongs to;
   *   where the application has a span of its own active, that one is the parent
   * @param fields - what is known so far
   */
  start(kind: SpanKind, packetName: string, parent: TraceContext | undefined, fields: MessageFields): MessageSpan;
}
