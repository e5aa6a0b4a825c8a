/** What all calls of one topic go by: the host's time and codecs, how they are followed, and how long they may take. */
import type { CodecTable } from '../codec/index.ts';
import type { Clock, DeadlineWheel } from '../internal/time/index.ts';
import type { MessageFlow } from '../observe/index.ts';

export interface CallTerms {
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly codecs: CodecTable;
  readonly flow: MessageFlow;
  readonly sendTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

/** Limits that a topic sets itself; undefined: the host's (CALL-003). */
interface OwnTimeouts {
  readonly sendTimeoutMs: number | undefined;
  readonly requestTimeoutMs: number | undefined;
}

export function callTerms(host: CallTerms, own: OwnTimeouts): CallTerms {
  const { clock, wheel, codecs, flow } = host;
  const { sendTimeoutMs = host.sendTimeoutMs, requestTimeoutMs = host.requestTimeoutMs } = own;
  return { clock, wheel, codecs, flow, sendTimeoutMs, requestTimeoutMs };
}
