/**
 * The roles that a node has in the channels of its mesh (MESH-004).
 *
 * Owns what the builders collect and its checks. Leaves what may be set on a channel server in general to the kernel.
 *
 * 1. One role per name. A server may call its channel too, so both roles for one name are a mistake.
 */
import {
  CHANNEL_SERVER_DEFAULTS,
  type ChannelContext,
  type ChannelServerBuilder,
  HandlerRegistry,
} from '@zlink/kernel/dispatch';
import type { HandlerTable, RequestHandler, SendHandler } from '@zlink/kernel/dispatch';
import { requireServices } from '@zlink/kernel/dispatch';
import { checkConcurrency, checkName, checkWeight, type ValidationContext } from '@zlink/kernel/internal/host';
import type { PacketKey } from '@zlink/kernel/message';

/** The server role of a channel on a mesh; without handlers it is a mere member. */
export type MeshChannelServerBuilder = ChannelServerBuilder;

/** Chooses the one role that this node has in a channel. */
export interface MeshChannelBuilder {
  /**
   * Starts sends and requests; peers learn nothing of it.
   *
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see MESH-004
   */
  client(): object;
  /**
   * Serves them, and may start some itself.
   *
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see MESH-004
   */
  server(): MeshChannelServerBuilder;
}

interface ServerRole {
  weight: number;
  concurrency: number;
  readonly handlers: HandlerRegistry<ChannelContext>;
}

export interface ChannelRoles {
  /** How often a role was chosen. */
  count: number;
  server: ServerRole | undefined;
}

/** The builder of one channel: frozen, and nothing of `roles` can be reached through it (HOSTREG-005). */
export function channelBuilderOf(where: string, roles: ChannelRoles, requireOpen: () => void): MeshChannelBuilder {
  const client = Object.freeze({});
  return Object.freeze({
    client: () => {
      requireOpen();
      roles.count++;
      return client;
    },
    server: () => {
      requireOpen();
      roles.count++;
      roles.server ??= { ...CHANNEL_SERVER_DEFAULTS, handlers: new HandlerRegistry(where) };
      return serverBuilderOf(roles.server, requireOpen);
    },
  });
}

function serverBuilderOf(role: ServerRole, requireOpen: () => void): MeshChannelServerBuilder {
  const builder: MeshChannelServerBuilder = {
    setWeight: (weight) => {
      requireOpen();
      role.weight = weight;
      return builder;
    },
    concurrency: (n) => {
      requireOpen();
      role.concurrency = n;
      return builder;
    },
    addSendHandler: <T>(packet: PacketKey<T>, handler: SendHandler<T, ChannelContext>) => {
      requireOpen();
      role.handlers.addSend(packet, handler);
      return builder;
    },
    addRequestHandler: <T, R>(packet: PacketKey<T, R>, handler: RequestHandler<T, NoInfer<R>, ChannelContext>) => {
      requireOpen();
      role.handlers.addRequest(packet, handler);
      return builder;
    },
  };
  return Object.freeze(builder);
}

/** A channel that is served here, after its checks. */
export interface CheckedChannel {
  readonly handlers: HandlerTable;
  readonly concurrency: number;
}

/** Checks one channel of a mesh; the handlers of its server role, if it has one. */
export function checkChannel(
  channelName: string,
  roles: ChannelRoles,
  context: ValidationContext,
): CheckedChannel | undefined {
  const { problems } = context;
  const where = `channel "${channelName}"`;
  checkName('channel name', channelName, problems);
  if (roles.count === 0) problems.note(`${where}: neither a client nor a server role is registered`);
  if (roles.count > 1) problems.note(`${where}: it has one role on a mesh, ${roles.count} are registered`); // 1
  const { server } = roles;
  if (server === undefined) return undefined;
  checkWeight(`${where} server weight`, server.weight, problems);
  checkConcurrency(`${where} server concurrency`, server.concurrency, problems);
  const handlers = server.handlers.freeze(problems);
  requireServices(handlers.classes(), where, context.services, problems);
  return { handlers, concurrency: server.concurrency };
}
