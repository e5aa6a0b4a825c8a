/**
 * Someone who speaks anything but ZLink to a port, and what strangers typically say.
 *
 * Owns one raw TCP connection. Leaves to the test how long the other side may keep it.
 */
import { connect, type Socket } from 'node:net';
import { parseEndpoint } from '@zlink/kernel/identity';
import type { RandomSource } from '@zlink/kernel/internal/time';
import { randomBytes, seededRandom } from './seeded-random.ts';

export interface StrangerInput {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface StrangerEnd {
  /** `ended`: closed in order; `reset`: broken off. */
  readonly how: 'ended' | 'reset';
  /** Real time from the connection to its end. */
  readonly afterMs: number;
}

export interface RawStranger {
  /** Resolves when the other side has closed the connection, or this one has. */
  readonly closed: Promise<StrangerEnd>;
  /** Writes more. */
  write(bytes: Uint8Array): void;
  /** Breaks the connection off. */
  close(): Promise<void>;
}

/** Connects, writes `bytes` and listens; resolves once connected. */
export async function openStranger(address: string, bytes: Uint8Array): Promise<RawStranger> {
  const endpoint = parseEndpoint(address);
  if (endpoint === undefined) throw new Error(`address ${address} is malformed`);
  const socket = connect({ host: endpoint.host, port: endpoint.port, allowHalfOpen: true, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const stranger = new TcpStranger(socket);
  if (bytes.length > 0) stranger.write(bytes);
  return stranger;
}

class TcpStranger implements RawStranger {
  readonly closed: Promise<StrangerEnd>;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    const openedAtMs = performance.now();
    this.closed = new Promise((resolve) => {
      let how: StrangerEnd['how'] = 'ended';
      socket.on('error', () => (how = 'reset'));
      socket.resume(); // its end comes behind all that was said before
      socket.on('end', () => socket.destroy());
      socket.on('close', () => resolve({ how, afterMs: performance.now() - openedAtMs }));
    });
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  async close(): Promise<void> {
    this.#socket.destroy();
    await this.closed;
  }
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** Byte strings of 1 to 4,096 bytes. */
export function* randomInputs(random: RandomSource, count: number): Generator<Uint8Array, void, undefined> {
  for (let made = 0; made < count; made++) yield randomBytes(random, 1 + Math.floor(random() * 4_096));
}

/** What people, scanners and other protocols send to a port that is not theirs (C06). */
export const strangerInputs: readonly StrangerInput[] = [
  { name: 'typed text', bytes: text('asdfasdf\r\n') },
  { name: 'HTTP request', bytes: text('GET / HTTP/1.1\r\n\r\n') },
  { name: 'TLS hello', bytes: Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01) },
  { name: '64 bytes ff', bytes: new Uint8Array(64).fill(0xff) },
  { name: 'no bytes', bytes: new Uint8Array(0) },
  { name: '8192 bytes 00', bytes: new Uint8Array(8_192) },
  ...[...randomInputs(seededRandom(6), 8)].map((bytes, at) => ({ name: `random bytes ${at + 1}`, bytes })),
];
