/** Ports of this machine, looked at with plain sockets: what a host holds and what it has given back. */
import { connect, createServer, type Server } from 'node:net';
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

/** Whether anybody listens there. */
export function isListening(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => socket.destroy().once('close', () => resolve(true)));
    socket.once('error', () => resolve(false));
  });
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
