/**
 * A primary, its replica and a Sentinel, for a failover to a replica that lacks the last writes.
 *
 * Owns the three servers and the cut between them. Leaves to the test what is written in between.
 *
 * 1. Between the cut and the crash of the primary a few seconds may pass: a replica that was cut off for longer is not
 *    promoted.
 */
import type { RedisConnectionOptions } from '@zlink/location-redis';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { eventually } from './eventually.ts';

const NAME = 'zlink';

export class SentinelRedis {
  readonly replica: RedisServer;
  readonly #primary: RedisServer;
  readonly #sentinel: RedisServer;

  private constructor(primary: RedisServer, replica: RedisServer, sentinel: RedisServer) {
    this.#primary = primary;
    this.replica = replica;
    this.#sentinel = sentinel;
  }

  static async start(): Promise<SentinelRedis> {
    const servers: RedisServer[] = [];
    const start = async (...options: Parameters<typeof startRedisServer>): Promise<RedisServer> => {
      const server = await startRedisServer(...options);
      servers.push(server);
      return server;
    };
    try {
      const primary = await start({ args: ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'] });
      const replica = await start({ args: ['--replicaof', `127.0.0.1 ${primary.port}`] });
      const config = [
        `sentinel monitor ${NAME} 127.0.0.1 ${primary.port} 1`,
        `sentinel down-after-milliseconds ${NAME} 500`,
        `sentinel failover-timeout ${NAME} 2000`,
      ];
      const sentinel = await start({ args: ['--sentinel'], config: config.join('\n') });
      await says(replica, 'INFO replication', /master_link_status:up/, 'the replica is in step');
      await says(sentinel, 'INFO sentinel', /slaves=1,/, 'Sentinel knows the replica');
      return new SentinelRedis(primary, replica, sentinel);
    } catch (error) {
      await Promise.all(servers.map((server) => server.close()));
      throw error;
    }
  }

  get connection(): RedisConnectionOptions {
    return { sentinels: [{ host: '127.0.0.1', port: this.#sentinel.port }], name: NAME };
  }

  get primaryUrl(): string {
    return this.#primary.url;
  }

  /** From here on the replica gets nothing. */
  async cutReplication(): Promise<void> {
    await this.replica.command('REPLICAOF 127.0.0.1 1'); // nobody listens there
  }

  /** The primary is gone; resolves when the replica has taken its place. */
  async failOver(): Promise<void> {
    await this.#primary.stop();
    const port = new RegExp(`\\b${this.replica.port}\\b`);
    await says(this.#sentinel, `SENTINEL GET-MASTER-ADDR-BY-NAME ${NAME}`, port, 'Sentinel names the replica');
    await says(this.replica, 'INFO replication', /role:master/, 'the replica is the primary');
  }

  async close(): Promise<void> {
    await Promise.all([this.#primary, this.replica, this.#sentinel].map((server) => server.close()));
  }
}

async function says(server: RedisServer, command: string, answer: RegExp, what: string): Promise<void> {
  await eventually(async () => answer.test(await server.command(command)), what);
}
