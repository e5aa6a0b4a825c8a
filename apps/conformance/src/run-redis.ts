/** The Redis of a run: started when the first scenario wants it, one for all that leave it in peace. */
import { type RedisServer, startRedisServer } from '@zlink/testing';

export class RunRedis {
  #server: Promise<RedisServer> | undefined;

  async url(): Promise<string> {
    return (await (this.#server ??= startRedisServer())).url;
  }

  async close(): Promise<void> {
    await (await this.#server?.catch(() => undefined))?.close();
  }
}
