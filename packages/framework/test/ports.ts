/** Ports of this machine, looked at with plain sockets: what a host holds and what it has given back. */
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';

export interface OccupiedPort {
  readonly port: number;
  release(): Promise<void>;
}

/** Takes a free port of 127.0.0.1, or this one. */
export async function occupyPort(port = 0): Promise<OccupiedPort> {
  const server = createServer();
  await listen(server, port);
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no TCP address');
  return { port: bound.port, release: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const occupied = await occupyPort();
  await occupied.release();
  return occupied.port;
}

export async function isFree(port: number): Promise<boolean> {
  try {
    await (await occupyPort(port)).release();
    return true;
  } catch {
    return false;
  }
}

export function hasIpv6Loopback(): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}
