/** A TCP proxy that passes everything on and keeps a copy: what a listener on the wire would see. */
import { connect, createServer, type Server, type Socket } from 'node:net';

const taps: TcpTap[] = [];
afterEach(async () => {
  await Promise.all(taps.splice(0).map((tap) => tap.close()));
});

export async function tapTo(port: number): Promise<TcpTap> {
  const tap = new TcpTap(port);
  taps.push(tap);
  await tap.listen();
  return tap;
}

export class TcpTap {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #seen: Buffer[] = [];

  constructor(port: number) {
    this.#server = createServer((near) => {
      const far = connect({ host: '127.0.0.1', port });
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (bytes: Buffer) => {
          this.#seen.push(bytes);
          to.write(bytes);
        });
        from.on('error', () => to.destroy());
        from.on('close', () => to.destroy());
      }
    });
  }

  get address(): string {
    const bound = this.#server.address();
    if (bound === null || typeof bound === 'string') throw new Error('the tap does not listen');
    return `tcp://127.0.0.1:${bound.port}`;
  }

  /** Everything that went either way, as text. */
  get seen(): string {
    return Buffer.concat(this.#seen).toString('latin1');
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
