import { addressOf, type Deployment } from './deployment.ts';
import { RedisProcess } from './redis-process.ts';

export interface Standalone extends Deployment {
  readonly server: RedisProcess;
}

/** One server. */
export async function startStandalone(args: readonly string[] = []): Promise<Standalone> {
  const server = await RedisProcess.start(args);
  return {
    server,
    primaries: [server],
    connection: (detours) => ({ url: (detours?.[0]?.address ?? addressOf(server)).replace('tcp:', 'redis:') }),
    admin: () => server.admin,
    close: () => server.close(),
  };
}
