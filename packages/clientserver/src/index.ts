export { builderOf, runtimeOf } from './channel-facades.ts';
export {
  ClientServerChannel,
  type ClientServerChannelBuilder,
  type ClientServerRuntime,
} from './client-server-channel.ts';
export type { ClientServerClientBuilder } from './client/client-options.ts';
export type { ClientServerServerBuilder } from './server/server-options.ts';
export type { ServerStatus } from './server-status.ts';
