/**
 * The description of a node: what its builder collects and the checks of the start.
 *
 * Owns values and rules. Leaves channels to `channel-roles` and the builder's face to `mesh-builder`.
 *
 * 1. All mistakes are reported together, and nothing is bound then (ERR-002).
 */
import {
  DEFAULT_CONCURRENCY,
  type HandlerTable,
  HandlerRegistry,
  type NodeContext,
  requireServices,
} from '@zlink/kernel/dispatch';
import { describeValue } from '@zlink/kernel/errors';
import { isName, isRid, nameRule } from '@zlink/kernel/identity';
import type { MailboxLimits } from '@zlink/kernel/internal/execution';
import {
  type Bind,
  checkConcurrency,
  checkListen,
  checkName,
  checkRid,
  checkTimeoutMs,
  DIALABLE_ENDPOINT,
  isDialable,
  OwnDescriptor,
  type ValidationContext,
} from '@zlink/kernel/internal/host';
import { checkInteger } from '@zlink/kernel/internal/options';
import { DESCRIPTOR_BYTES, encodeDescriptor } from '@zlink/kernel/internal/wire';
import { type ChannelRoles, checkChannel, type CheckedChannel } from './channel-roles.ts';
import type { PeerAddress } from './peer/manual-peers.ts';

/** What a descriptor in the Location Store has room for. */
const STORED_CHANNELS_LIMIT = 1_024;

export interface MeshOptions {
  /** A port, or an endpoint that also names the host to bind. */
  listen: number | string;
  bindHost: string | undefined;
  advertiseHost: string | undefined;
  routingId: string | undefined;
  ridPrefix: string | undefined;
  sendTimeoutMs: number | undefined;
  requestTimeoutMs: number | undefined;
  concurrency: number;
  mailboxLimits: Partial<MailboxLimits>;
  readonly peers: PeerAddress[];
  /** By ChannelName. */
  readonly channels: Map<string, ChannelRoles>;
  /** Of direct messages. */
  readonly handlers: HandlerRegistry<NodeContext>;
}

/** What the checks of the start have made of a description. */
export interface CheckedMesh {
  readonly meshName: string;
  /** Names the mesh in messages: `mesh "game"`. */
  readonly where: string;
  readonly options: MeshOptions;
  readonly bind: Bind;
  /** Handlers of direct messages. */
  readonly direct: HandlerTable;
  /** Channels that are served here, by ChannelName. */
  readonly channels: ReadonlyMap<string, CheckedChannel>;
}

export function newMeshOptions(where: string): MeshOptions {
  return {
    listen: 0,
    bindHost: undefined,
    advertiseHost: undefined,
    routingId: undefined,
    ridPrefix: undefined,
    sendTimeoutMs: undefined,
    requestTimeoutMs: undefined,
    concurrency: DEFAULT_CONCURRENCY,
    mailboxLimits: {},
    peers: [],
    channels: new Map(),
    handlers: new HandlerRegistry(where),
  };
}

export function checkMesh(
  meshName: string,
  where: string,
  options: MeshOptions,
  context: ValidationContext,
): CheckedMesh {
  const { problems } = context;
  checkName('mesh name', meshName, problems);
  const bind = checkListen('listen', where, options, context);
  checkRid(where, options, problems);
  checkNoFixedRid(where, options, context);
  checkTimeoutMs(`${where} sendTimeoutMs`, options.sendTimeoutMs, problems);
  checkTimeoutMs(`${where} requestTimeoutMs`, options.requestTimeoutMs, problems);
  checkConcurrency(`${where} concurrency`, options.concurrency, problems);
  for (const limit of ['messages', 'bytes'] as const) {
    const value = options.mailboxLimits[limit];
    if (value !== undefined) checkInteger(`${where} mailboxLimits.${limit}`, value, 1, undefined, problems);
  }
  checkPeers(where, options, context);
  const channels = new Map<string, CheckedChannel>();
  for (const [channelName, roles] of options.channels) {
    const served = checkChannel(channelName, roles, context);
    if (served !== undefined) channels.set(channelName, served);
  }
  checkDescriptorSize(where, [...channels.keys()], context);
  const direct = options.handlers.freeze(problems);
  requireServices(direct.classes(), where, context.services, problems);
  return { meshName, where, options, bind, direct, channels };
}

/** Allocated RIDs have at most a prefix (HOSTREG-003). */
function checkNoFixedRid(where: string, { routingId }: MeshOptions, context: ValidationContext): void {
  if (routingId === undefined || !context.hasLocationStore) return;
  const text = `routingId ${describeValue(routingId)} is fixed, with a location store routing ids are allocated`;
  context.problems.note(`${where}: ${text}; use setRoutingIdPrefix`);
}

function checkPeers(where: string, { peers, routingId }: MeshOptions, context: ValidationContext): void {
  const { problems } = context;
  const { dialProblem, hasLocationStore } = context;
  if (dialProblem !== undefined) {
    if (peers.length > 0) problems.note(`${where} connect: ${dialProblem}`);
    else if (hasLocationStore) problems.note(`${where} dials the peers that it discovers: ${dialProblem}`);
  }
  const expected = new Map<string, string | undefined>();
  for (const { endpoint, expectedRid } of peers) {
    if (!isDialable(endpoint)) problems.add(`${where} connect`, endpoint, DIALABLE_ENDPOINT);
    if (expectedRid !== undefined && !isRid(expectedRid)) {
      problems.add(`${where} connect, expected RID`, expectedRid, nameRule);
    } else if (expectedRid !== undefined && expectedRid === routingId) {
      problems.note(`${where} connect: "${expectedRid}" is the RID of this node, which has no link to itself`);
    }
    if (expected.has(endpoint) && expected.get(endpoint) !== expectedRid) {
      problems.note(`${where} connect: ${describeValue(endpoint)} is given twice, with different expected RIDs`);
    }
    expected.set(endpoint, expectedRid);
  }
}

/** A hello has room for so many names of channels; longer lists would be refused by every peer as malformed. */
function checkDescriptorSize(where: string, channelNames: readonly string[], context: ValidationContext): void {
  const { problems, hasLocationStore } = context;
  if (hasLocationStore && channelNames.length > STORED_CHANNELS_LIMIT) {
    const text = `${channelNames.length} channel servers, allowed with a location store: up to ${STORED_CHANNELS_LIMIT}`;
    problems.note(`${where}: ${text}`); // LOC-033
  }
  if (!channelNames.every(isName)) return; // reported already
  const { current } = new OwnDescriptor(new Map(channelNames.map((name) => [name, 0])));
  const { length } = encodeDescriptor(current);
  if (length <= DESCRIPTOR_BYTES) return;
  const text = `${channelNames.length} channel servers make a descriptor of ${length} bytes, allowed: up to ${DESCRIPTOR_BYTES}`;
  problems.note(`${where}: ${text}`);
}
