/**
 * A link that speaks the port to a dispatcher and keeps what it was told.
 *
 * Like the real one it encodes at admission, a second time when the first try found no credit, and keeps an account of
 * requests that are not answered yet.
 */
import type { ErrorKindName } from '../../src/errors/index.ts';
import { errorKindOf, ZLinkError } from '../../src/errors/index.ts';
import type {
  InboundName,
  InboundRecord,
  Link,
  OutboundRecord,
  PeerFacts,
} from '../../src/internal/transport/index.ts';
import { RecordKind } from '../../src/internal/wire/index.ts';

export interface Answer {
  readonly correlation: number;
  /** Kind of an error reply; undefined on a reply. */
  readonly error: ErrorKindName | undefined;
  /** Payload as text. */
  readonly text: string;
  readonly contentType: string | undefined;
  readonly packetName: string | undefined;
}

let nextId = 1;

export class FakeLink implements Link {
  readonly id = nextId++;
  readonly correlationScope = { own: `own-${this.id}-`, peer: `peer-${this.id}-` };
  readonly outstandingBytes = 0;
  readonly pendingRequests = 0;
  readonly answers: Answer[] = [];
  phase: Link['phase'] = 'open';
  /** What this link does with a reply. */
  mode: 'write' | 'wait' | 'refuse' = 'write';
  /** Replies with more characters than this are too large for the peer. */
  largestText = Infinity;
  unansweredRequests = 0;
  forgone = 0;
  readonly #peerRid: string;
  readonly #waiting = new Set<OutboundRecord>();

  /** @param peerRid - of the other side */
  constructor(peerRid = 'peer-1') {
    this.#peerRid = peerRid;
  }

  get peer(): PeerFacts {
    return {
      scope: 'game',
      rid: this.#peerRid,
      generation: 1n,
      endpoint: '',
      securityIdentity: undefined,
      maxMessageBytes: 0,
    };
  }

  get descriptor(): never {
    throw new Error('a dispatcher has no business with the descriptor');
  }

  get traffic(): never {
    throw new Error('a dispatcher has no business with the traffic');
  }

  get waitingRecords(): number {
    return this.#waiting.size;
  }

  submit(record: OutboundRecord): boolean {
    if (this.phase === 'closed' || this.mode === 'refuse')
      throw new ZLinkError('Unavailable', 'link takes no new work');
    const answer = this.#encode(record);
    if (this.mode === 'wait') {
      record.costBytes = 64 + answer.text.length;
      this.#waiting.add(record);
      return false;
    }
    this.#write(answer);
    return true;
  }

  withdraw(record: OutboundRecord): boolean {
    return this.#waiting.delete(record);
  }

  abandon(): never {
    throw new Error('a dispatcher starts no requests');
  }

  forgo(): void {
    this.forgone++;
    this.unansweredRequests--;
  }

  finish(): never {
    throw new Error('a dispatcher ends no link');
  }

  fail(): never {
    throw new Error('a dispatcher ends no link');
  }

  /** Credit comes back: everything that waits is written. */
  grant(): void {
    this.mode = 'write';
    for (const record of [...this.#waiting]) {
      this.#waiting.delete(record);
      let answer: Answer;
      try {
        answer = this.#encode(record);
      } catch (error) {
        record.onRefused(new ZLinkError('InternalFailure', 'message could not be encoded', { cause: error }));
        continue;
      }
      this.#write(answer);
      record.onAdmitted();
    }
  }

  /** The link ends; its sink would call `linkClosed` next. */
  end(): void {
    this.phase = 'closed';
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const record of waiting) record.onRefused(new ZLinkError('Unavailable', 'link ended: test'));
  }

  #write(answer: Answer): void {
    this.answers.push(answer);
    this.unansweredRequests--;
  }

  #encode(record: OutboundRecord): Answer {
    const texts: string[] = [];
    record.encode({
      writeText: (text) => texts.push(text),
      writeBytes: (bytes) => texts.push(Buffer.from(bytes).toString('utf8')),
    });
    const text = texts.join('');
    if (text.length > this.largestText) throw new ZLinkError('InvalidOperation', 'message is too large for the peer');
    expect(record.metadata).toBeUndefined();
    return {
      correlation: record.correlation,
      error: record.kind === RecordKind.error ? errorKindOf(record.errorNumber) : undefined,
      text,
      contentType: record.name?.contentType,
      packetName: record.name?.packetName,
    };
  }
}

export interface RecordFields {
  readonly kind: 'send' | 'request';
  readonly name: InboundName;
  readonly payload: Uint8Array;
  readonly correlation?: number;
  readonly remainingMs?: number;
  readonly metadata?: Uint8Array;
  readonly trace?: Uint8Array;
}

export function inboundRecord(fields: RecordFields): InboundRecord {
  return {
    kind: RecordKind[fields.kind],
    correlation: fields.correlation ?? 0,
    remainingMs: fields.remainingMs ?? 0,
    errorKind: undefined,
    name: fields.name,
    payload: fields.payload,
    payloadStart: 0,
    payloadEnd: fields.payload.length,
    metadata: fields.metadata,
    trace: fields.trace,
    readTrace: (read) => fields.trace && read(fields.trace, 0, fields.trace.length),
    costBytes: 64 + fields.payload.length + (fields.metadata?.length ?? 0),
  };
}
