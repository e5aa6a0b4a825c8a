/**
 * Someone who speaks the protocol of ZeroMQ to a port, but not that of ZLink.
 *
 * Owns one connection and the records it has heard. Leaves to the test what is said.
 */
import { createZmqEngine } from '@zlink/core-binding';
import { newGeneration } from '@zlink/kernel/identity';
import type { Pipe, PipeEngine } from '@zlink/kernel/internal/transport';
import {
  DescriptorState,
  EndpointKind,
  encodeHello,
  HEADER_BYTES,
  ObjectRole,
  RecordKind,
  RejectReason,
  WIRE_MAJOR,
  WIRE_MINOR,
} from '@zlink/kernel/internal/wire';
import { until } from '@zlink/testing';

export interface Heard {
  readonly kind: number;
  /** Of a rejection. */
  readonly reason: string | undefined;
}

const reasons = new Map<number, string>(Object.entries(RejectReason).map(([label, code]) => [code, label]));

export class ZmtpStrangers {
  readonly #engine: PipeEngine = createZmqEngine();
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  /** Connects; resolves when messages can be sent. */
  async connect(): Promise<ZmtpStranger> {
    const stranger = new ZmtpStranger();
    await stranger.connect(this.#engine, this.#address);
    return stranger;
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

export class ZmtpStranger {
  readonly heard: Heard[] = [];
  #pipe: Pipe | undefined;

  connect(engine: PipeEngine, address: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pipe = engine.connect(
        { address, maxPartBytes: 0 },
        {
          onPipeOpen: resolve,
          onPipeClosed: (reason) => reject(new Error(reason)),
          onPipeMessage: (parts, first) => this.heard.push(...readRecords(parts[first] ?? new Uint8Array(0))),
        },
      );
    });
  }

  say(...parts: Uint8Array[]): void {
    this.#pipe?.send(parts);
  }

  /** Resolves when a record of this kind has come. */
  async hear(kind: RecordKind): Promise<Heard> {
    const find = (): Heard | undefined => this.heard.find((record) => record.kind === kind);
    await until(() => find() !== undefined, `record of kind ${kind}`);
    return find()!; // it was found just now
  }

  hangUp(): void {
    this.#pipe?.close(0);
  }
}

/** What a client of the channel says first, changed as the test likes. */
export function hello(changes: Partial<Parameters<typeof encodeHello>[0]> = {}): Uint8Array {
  return encodeHello({
    major: WIRE_MAJOR,
    minor: WIRE_MINOR,
    kind: EndpointKind.channelClient,
    capabilities: 0,
    generation: newGeneration(),
    windowBytes: 65_536,
    maxMessageBytes: 0,
    rid: 'stranger',
    scope: 'faults',
    endpoint: '',
    publicKey: '',
    descriptor: { revision: 1n, state: DescriptorState.serving, objectRole: ObjectRole.none, channels: [] },
    ...changes,
  });
}

/** A record with a payload and no sections. */
export function record(kind: number, payload: Uint8Array, nameId = 0): Uint8Array {
  const bytes = Buffer.alloc(HEADER_BYTES + payload.length);
  bytes.writeUInt8(kind, 0);
  bytes.writeUInt16LE(nameId, 2);
  bytes.writeUInt32LE(payload.length, 12);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

function readRecords(batch: Uint8Array): Heard[] {
  const bytes = Buffer.from(batch);
  const records: Heard[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length; at += HEADER_BYTES + bytes.readUInt32LE(at + 12)) {
    const kind = bytes.readUInt8(at);
    const reason = kind === RecordKind.reject ? reasons.get(bytes.readUInt8(at + HEADER_BYTES)) : undefined;
    records.push({ kind, reason });
  }
  return records;
}
