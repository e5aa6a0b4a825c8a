/**
 * Where one run of a scenario takes place: its hosts, proxies and servers, in the settings of its cell.
 *
 * Owns that all of it ends with the run. Leaves what happens to the scenario.
 *
 * 1. With the memory store all hosts share a process, else each has one.
 * 2. A run that went well ends in order: counters add up, hosts shut down, and nothing holds their processes then: each rests
 *    for another stage, or ends by itself.
 * 3. However it went, no process, proxy or server is left.
 */
import assert from 'node:assert/strict';
import { createCurveKeys, type CurveKeys, type MessageCounters } from '@zlink/framework';
import { createFaultProxy, type FaultProxy, type RedisServer, startRedisServer } from '@zlink/testing';
import { CHANNEL, MESH_CHANNEL } from '../contracts.ts';
import type { Cell } from '../matrix.ts';
import type {
  CallPlan,
  ClientPlan,
  HostPlan,
  NodePlan,
  PartPlan,
  PlainHostOptions,
  ServerPlan,
  StorePlan,
  SubscriberPlan,
} from '../roles/plan.ts';
import type { StartEnd } from '../roles/role-host.ts';
import { unbalanced, unfinished } from './conservation.ts';
import { HostHandle } from './host-handle.ts';
import { endOf, type ProcessPool } from './process-pool.ts';
import { RoleProcess } from './role-process.ts';
import { keyed, nodePlan, quickLocation } from './stage-plans.ts';

const leaveWithinMs = 20_000;
/** A receiver that gets no time keeps nobody from sending; scenarios about this limit set their own. */
const sendTimeoutMs = 20_000;

export interface StageParts {
  readonly cell: Cell;
  /** Of the run's Redis, where the cell has one. */
  readonly redisUrl: () => Promise<string>;
  readonly pool: ProcessPool;
  /** New for each stage. */
  readonly namespace: string;
  /** Of a running peer, with `--against`. */
  readonly against: string | undefined;
}

/** What a scenario says of a host beside its parts. */
export interface HostSetup {
  readonly options?: PlainHostOptions;
  /** In place of what the cell says; `none`: without. */
  readonly store?: StorePlan | 'none';
  readonly codec?: HostPlan['codec'];
  /** How wrong the wall clock of its process is. */
  readonly clockSkewMs?: number;
}

export class Stage {
  readonly cell: Cell;
  readonly #parts: StageParts;
  readonly #hosts: HostHandle[] = [];
  readonly #processes = new Set<RoleProcess>();
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #keys: CurveKeys = createCurveKeys();
  #shared: RoleProcess | undefined;
  #isOver = false;

  constructor(parts: StageParts) {
    this.#parts = parts;
    this.cell = parts.cell;
  }

  get isDiscovering(): boolean {
    return this.cell.store !== 'manual';
  }

  get namespace(): string {
    return this.#parts.namespace;
  }

  /** For `test/fixtures/own-chapters.mjs`, which looks past the hosts. */
  get processes(): ReadonlySet<RoleProcess> {
    return this.#processes;
  }

  /** A host that is not started. */
  async describe(name: string, parts: readonly PartPlan[], setup: HostSetup = {}): Promise<HostHandle> {
    const { store = await this.#storePlan(), codec = this.cell.codec, options = {}, clockSkewMs } = setup;
    const plan: HostPlan = {
      name,
      parts,
      codec,
      ...(store === 'none' || store === undefined ? {} : { store }),
      options: {
        sendTimeoutMs,
        ...(this.cell.security === 'curve' ? { security: keyed(this.#keys) } : {}),
        ...options,
        ...(store === 'none' || store === undefined ? {} : { location: { ...quickLocation, ...options.location } }),
      },
    };
    const isShared = store !== 'none' && store?.kind === 'memory'; // 1
    const process = isShared ? (this.#shared ??= this.#fork()) : this.#fork(clockSkewMs);
    await process.describe(plan, isShared);
    const host = new HostHandle(plan, process);
    this.#hosts.push(host);
    return host;
  }

  /** A host that serves. */
  async start(name: string, parts: readonly PartPlan[], setup: HostSetup = {}): Promise<HostHandle> {
    const host = await this.describe(name, parts, setup);
    const end = await host.tryStart();
    assert.ok(end.ok, `host ${name} did not start: ${end.ok ? '' : end.error.message}`);
    return host;
  }

  /** A start that must fail; the process stays. */
  async failStart(name: string, parts: readonly PartPlan[], setup: HostSetup = {}): Promise<StartEnd & { ok: false }> {
    const host = await this.describe(name, parts, setup);
    const end = await host.tryStart();
    assert.ok(!end.ok, `host ${name} started`);
    return end;
  }

  /** A second host in the process of another one. */
  describeBeside(other: HostHandle, name: string, parts: readonly PartPlan[]): Promise<HostHandle> {
    return this.describeIn(other.process, { ...other.plan, name, parts });
  }

  /** A host exactly as planned, whatever the cell says, in that process. */
  async describeIn(process: RoleProcess, plan: HostPlan): Promise<HostHandle> {
    await process.describe(plan, false);
    const host = new HostHandle(plan, process);
    this.#hosts.push(host);
    return host;
  }

  server(name: string, plan: Partial<ServerPlan> = {}, setup: HostSetup = {}): Promise<HostHandle> {
    return this.start(name, [{ role: 'server', ...plan }], setup);
  }

  /** A client with all those servers ready: dialled, or found. */
  async client(
    servers: readonly HostHandle[],
    plan: Partial<ClientPlan> = {},
    setup: HostSetup = {},
  ): Promise<HostHandle> {
    const client = await this.dialing(servers, plan, setup);
    await client.ask('servers.ready', servers.length);
    return client;
  }

  /** A client that dials or looks for them; nothing is ready yet. */
  dialing(
    servers: readonly (HostHandle | string)[],
    plan: Partial<ClientPlan> = {},
    setup: HostSetup = {},
  ): Promise<HostHandle> {
    const hand = servers.map((server) => (typeof server === 'string' ? server : server.endpoint));
    const connect = this.isDiscovering && setup.store === undefined ? [] : hand;
    return this.start(this.#freeName('client'), [{ role: 'client', connect, ...plan }], setup);
  }

  /** A node under that name, which is its RID where RIDs are chosen, with all those peers ready. */
  async node(
    name: string,
    peers: readonly HostHandle[] = [],
    plan: Partial<NodePlan> = {},
    setup: HostSetup = {},
  ): Promise<HostHandle> {
    const node = await this.start(name, [nodePlan(this, name, peers, plan)], setup);
    await node.ask('peers.ready', peers.length);
    return node;
  }

  publisher(name = 'publisher'): Promise<HostHandle> {
    return this.start(name, [{ role: 'publisher' }]);
  }

  /** A subscriber that every one of those publishers knows. */
  async subscriber(
    name: string,
    publishers: readonly HostHandle[],
    plan: Partial<SubscriberPlan> = {},
    setup: HostSetup = {},
  ): Promise<HostHandle> {
    const connect = this.isDiscovering ? {} : { connect: publishers.map((publisher) => publisher.feedEndpoint) };
    const subscriber = await this.start(name, [{ role: 'subscriber', ...connect, ...plan }], setup);
    await subscriber.publishers(
      (rows) => rows.filter(({ state }) => state === 'ready' || state === 'admitted').length === publishers.length,
      'is connected with all publishers',
    );
    return subscriber;
  }

  /** A client of a peer with the echo role: the running one, or one of its own. */
  async peerClient(): Promise<HostHandle> {
    const { against } = this.#parts;
    if (against === undefined) return this.client([await this.server('server')]);
    const client = await this.dialing([against]);
    await client.ask('servers.ready', 1);
    return client;
  }

  /** A Redis of this stage alone, to be disturbed. */
  async redis(options: Parameters<typeof startRedisServer>[0] = {}): Promise<RedisServer> {
    const server = await startRedisServer(options);
    this.atEnd(() => server.close());
    return server;
  }

  /** The URL of the run's Redis. */
  redisUrl(): Promise<string> {
    return this.#parts.redisUrl();
  }

  async proxy(target: string): Promise<FaultProxy> {
    const proxy = await createFaultProxy({ target });
    this.atEnd(() => proxy.close());
    return proxy;
  }

  atEnd(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** 2 */
  async leave(): Promise<void> {
    const problems: string[] = [];
    const live = this.#hosts.filter(({ process }) => process.isRunning);
    for (const host of live) problems.push(...unbalanced(host.name, await this.#countersOf(host)));
    await Promise.all(
      live.map(async (host) => {
        const rows = await host.ask('host.leave', leaveWithinMs);
        problems.push(...unbalanced(host.name, rows), ...unfinished(host.name, rows));
      }),
    );
    const ends = await Promise.all([...this.#processes].map((process) => this.#restOrEnd(process)));
    problems.push(...ends.flatMap((problem) => problem ?? []));
    assert.deepEqual(problems, [], 'what is left behind');
  }

  /** 3 */
  async clear(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#processes].map((process) => process.kill()));
    for (const close of this.#closers.splice(0).reverse()) await close();
  }

  /** What hosts logged and processes wrote, newest last. */
  logs(): readonly string[] {
    const lines = [...this.#processes].flatMap((process) => [
      ...process.logs.map(({ host, level, record }) => `${host} ${level} ${JSON.stringify(record)}`),
      ...(process.errorText === '' ? [] : [`stderr of ${process.pid}: ${process.errorText.trim()}`]),
    ]);
    return lines.slice(-60);
  }

  /** To the conformance channel of the server role, or of nodes. */
  readonly toServers: CallPlan = { to: { channel: CHANNEL } };
  readonly toNodes: CallPlan = { to: { channel: MESH_CHANNEL } };

  #fork(clockSkewMs?: number): RoleProcess {
    assert.ok(!this.#isOver, 'the time of this scenario is over');
    const process = clockSkewMs === undefined ? this.#parts.pool.take() : new RoleProcess(clockSkewMs);
    this.#processes.add(process);
    return process;
  }

  #freeName(name: string): string {
    const count = this.#hosts.filter((host) => host.name.startsWith(name)).length;
    return count === 0 ? name : `${name}-${count + 1}`;
  }

  async #storePlan(): Promise<StorePlan | undefined> {
    if (this.cell.store === 'manual') return undefined;
    if (this.cell.store === 'memory') return { kind: 'memory' };
    return { kind: 'redis', connection: { url: await this.#parts.redisUrl() }, keyPrefix: this.namespace };
  }

  async #countersOf(host: HostHandle): Promise<readonly MessageCounters[]> {
    return host.ask('running.counters').catch(() => []); // it was never described to its end
  }

  /** What is wrong, if it can neither play another host nor end by itself. */
  async #restOrEnd(process: RoleProcess): Promise<string | undefined> {
    const { pool } = this.#parts;
    if (!process.isRunning || !pool.wants(process)) return endOf(process);
    const left = await process.rest();
    if (left.length > 0)
      return `process ${process.pid} is still held by ${left.join(', ')} after all its hosts have ended`;
    this.#processes.delete(process);
    pool.give(process);
    return undefined;
  }
}
