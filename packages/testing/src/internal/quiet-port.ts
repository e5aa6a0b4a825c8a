/**
 * Ports for listeners that end and begin again at one address.
 *
 * Owns where they are taken from: below all that systems give away by themselves, to listeners at port 0 and to connections, so
 * that nobody gets one while its listener is away.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** A node of a Redis Cluster needs the port 10,000 above as well, which no system gives away either. */
const ports = { from: 10_000, below: 20_000 };
const given = new Set<number>();

/** A port of loopback that nobody listens on, and that neither the system nor this process gives to anybody else. */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.from, ports.below);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

/** `tcp://127.0.0.1:port` of such a port. */
export async function quietAddress(): Promise<string> {
  return `tcp://127.0.0.1:${await quietPort()}`;
}

/** Whether that port of loopback can be listened on. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
