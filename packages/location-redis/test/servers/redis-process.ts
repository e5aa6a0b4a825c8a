/**
 * One redis-server of a test, with a client to look at it.
 *
 * Owns the client. Leaves the process to @zlink/testing, and what several servers are together to the deployments beside
 * this file.
 */
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { Redis } from 'ioredis';

export class RedisProcess {
  readonly admin: Redis;
  readonly #server: RedisServer;

  private constructor(server: RedisServer) {
    this.#server = server;
    this.admin = new Redis({
      host: '127.0.0.1',
      port: server.port,
      lazyConnect: true,
      maxRetriesPerRequest: null,
      retryStrategy: () => 20,
      disconnectTimeout: 50,
    });
    this.admin.on('error', () => undefined); // it outlives its server
  }

  /** @param args - beside port, folder and no persistence; `config` becomes a file in front of them, as Sentinel demands */
  static async start(args: readonly string[] = [], config?: string): Promise<RedisProcess> {
    return new RedisProcess(await startRedisServer({ args, ...(config === undefined ? {} : { config }) }));
  }

  get port(): number {
    return this.#server.port;
  }

  start(): Promise<void> {
    return this.#server.start();
  }

  /** Stops all of its work without closing anything, as a host that hangs. */
  pause(): void {
    this.#server.pause();
  }

  resume(): void {
    this.#server.resume();
  }

  /** A crash: nothing is saved. */
  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** The same port, an empty server. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async close(): Promise<void> {
    const { admin } = this;
    const gone = admin.status === 'wait' || admin.status === 'end' || admin.status === 'reconnecting';
    const ended = gone ? undefined : new Promise((resolve) => admin.once('end', resolve));
    admin.disconnect();
    await ended;
    await this.#server.close();
  }
}
