/**
 * One end of a link: what was given to it, and what has arrived there.
 *
 * Owns the account of the link, C1 to C4 of credit.sim.ts. Each message names the end that it was given to, and its place there.
 */
import type { InboundRecord, Link } from '../../src/internal/transport/index.ts';
import { MIN_WINDOW_BYTES, RECORD_COST_BYTES } from '../../src/internal/wire/index.ts';
import { TestRecord } from '../internal/link/test-record.ts';
import { ensure } from './simulation.ts';

export const maxWindowBytes = 2 * MIN_WINDOW_BYTES;
const headerBytes = 8;

export class LinkEnd {
  readonly id: number;
  readonly name: string;
  readonly link: Link;
  readonly sent: TestRecord[] = [];
  readonly closed: string[] = [];
  readonly #ends: ReadonlyMap<number, LinkEnd>;
  /** Known from what has arrived. */
  #other: LinkEnd | undefined;
  /** Places in the order of the other end. */
  readonly #received: number[] = [];
  readonly #wrong: string[] = [];

  constructor(id: number, name: string, link: Link, ends: ReadonlyMap<number, LinkEnd>) {
    this.id = id;
    this.name = name;
    this.link = link;
    this.#ends = ends;
  }

  get isOver(): boolean {
    return this.closed.length > 0;
  }

  get state(): string {
    const { outstandingBytes, waitingRecords, phase } = this.link;
    return `${this.link.id} ${phase} ${outstandingBytes} B +${waitingRecords} <${this.#received.length}`;
  }

  send(bytes: number, name: TestRecord['name']): void {
    const payload = new Uint8Array(headerBytes + bytes);
    const view = new DataView(payload.buffer);
    view.setUint32(0, this.id);
    view.setUint32(4, this.sent.length);
    this.sent.push(TestRecord.send({ payload, name }).submit(this.link));
  }

  /** C2; a sink must not throw. */
  receive({ payload, payloadStart, payloadEnd }: InboundRecord): void {
    const view = new DataView(payload.buffer, payload.byteOffset + payloadStart, payloadEnd - payloadStart);
    const from = this.#ends.get(view.getUint32(0));
    const place = view.getUint32(4);
    this.#other ??= from;
    const last = this.#received.at(-1) ?? -1;
    const missing = from?.sent.slice(last + 1, place).findIndex((record) => record.isWritten) ?? -1;
    if (from === undefined || from !== this.#other) this.#wrong.push(`message of another link, ${from?.name}`);
    else if (place <= last) this.#wrong.push(`message ${place} behind ${last}`);
    else if (missing >= 0) this.#wrong.push(`message ${last + 1 + missing} was written and left out`);
    else if (from.sent[place]?.isWritten !== true) this.#wrong.push(`message ${place} was never written`);
    this.#received.push(place);
  }

  /** C1, C2 */
  check(): void {
    ensure(this.#wrong.length === 0, `${this.name} got a ${this.#wrong[0]}`);
    const { outstandingBytes } = this.link;
    if (outstandingBytes <= maxWindowBytes) return;
    const isOneAlone = this.sent.some(({ payload }) => payload.byteLength + RECORD_COST_BYTES === outstandingBytes);
    ensure(isOneAlone, `${this.name} has ${outstandingBytes} bytes under way`);
  }

  checkOver(ends: ReadonlyMap<number, LinkEnd>): void {
    const { outstandingBytes, waitingRecords, phase } = this.link;
    const wrong = this.sent.map((record) => record.fault).find((fault) => fault !== undefined);
    if (phase === 'closed') {
      ensure(wrong === undefined, `${this.name}: ${wrong}`); // C3
      ensure(this.closed.length === 1, `${this.name} has ended and was told ${this.closed.length} times`); // C3
      return;
    }
    ensure(phase === 'open', `${this.name} is ${phase}`);
    ensure(outstandingBytes === 0 && waitingRecords === 0, `${this.name}: ${this.state}`); // C4
    const written = this.sent.flatMap((record, place) => (record.isWritten ? [place] : []));
    const others = [...ends.values()].filter((end) => end.#other === this && !end.isOver);
    const arrived = others.flatMap((end) => end.#received);
    ensure(written.join() === arrived.join(), `${this.name} has written what did not arrive`); // C3
  }
}
