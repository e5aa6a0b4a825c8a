/**
 * One server and its clients on a network that cuts, delays, swallows and holds up; both sides send all they can.
 *
 * Windows are the smallest there are, permits few, messages up to more than a window. Each message names the end of a link
 * that it was given to, and its place in the order there.
 *
 * At every moment:
 *
 * C1 No more bytes are under way than the largest window holds, or one message that is larger alone; nobody finds more than
 *    it has granted, and all grants stay within the budget of the host and one smallest window per link (CORE-004, CORE-007).
 * C2 What arrives on a link comes in the order of its submission and leaves out nothing that was written before (CORE-002);
 *    it was given to the other end of that very link (CORE-014), and comes once (C10).
 *
 * When faults have ended:
 *
 * C3 What was written on a link that lives has arrived; on one that has ended, both ends were told so. What waited was
 *    written or refused (CORE-008).
 * C4 All credit is back, and everybody is connected again (CORE-009).
 * C5 After the end there is no link, no grant, no permit, no connection and no timer (CORE-011).
 */
import { type FaultTarget, MemoryNetwork } from '@zlink/testing';
import { address, type CreditFlaw, CreditHost } from './credit-host.ts';
import type { LinkEnd } from './link-end.ts';
import { ensure, play, type Stage, type Story, type Trace } from './simulation.ts';

export const simulateCredit = (seed: number, flaw: CreditFlaw = 'none'): Promise<Trace> =>
  play(seed, 120, (stage) => CreditStory.begin(stage, flaw));

const clientCount = 3;
/** Longer than the silence that ends a link, a handshake and the longest backoff together. */
const allOverMs = 40_000;

class CreditStory implements Story {
  readonly #stage: Stage;
  readonly #network: MemoryNetwork;
  readonly #server: CreditHost;
  readonly #clients: readonly CreditHost[];
  /** By id. */
  readonly #ends = new Map<number, LinkEnd>();

  private constructor(stage: Stage, flaw: CreditFlaw) {
    this.#stage = stage;
    this.#network = new MemoryNetwork({ clock: stage.clock });
    const host = (rid: string, isServer: boolean): CreditHost =>
      new CreditHost(rid, isServer, { stage, network: this.#network, flaw, clientCount, ends: this.#ends });
    this.#server = host('server', true);
    this.#clients = Array.from({ length: clientCount }, (_, at) => host(`c${at}`, false));
  }

  static async begin(stage: Stage, flaw: CreditFlaw): Promise<CreditStory> {
    const story = new CreditStory(stage, flaw);
    await story.#server.listen();
    return story;
  }

  act(): void | Promise<void> {
    const stage = this.#stage;
    const client = stage.pick(this.#clients);
    if (stage.chance(0.2)) return stage.passTold(stage.someMs(stage.chance(0.1) ? 20_000 : 500));
    if (!client.isDialling) {
      stage.tell(`${client.rid} dials`);
      return client.dial();
    }
    if (stage.chance(0.2)) return this.#disturb();
    const host = stage.chance(0.5) ? this.#server : client;
    switch (stage.below(7)) {
      case 0:
        host.isHolding = stage.chance(0.6);
        stage.tell(`${host.rid} ${host.isHolding ? 'keeps' : 'returns'} its permits`);
        return host.isHolding ? undefined : host.letGo();
      case 1:
        return host.letGoSome(1 + stage.below(4));
      case 2:
        return host.withdrawOne();
      case 3:
        return stage.chance(0.15) ? this.#hangUp(client) : undefined;
      default:
        return host.sendSome(1 + stage.below(8));
    }
  }

  check(): void {
    for (const host of [this.#server, ...this.#clients]) host.check();
    for (const end of this.#ends.values()) end.check();
  }

  state(): string {
    const shown = [this.#server, ...this.#clients].map((host) => host.state);
    return `${shown.join(' ')} ${this.#network.openConnections} connections`;
  }

  async end(): Promise<void> {
    const stage = this.#stage;
    stage.tell('faults end');
    const hosts = [this.#server, ...this.#clients];
    this.#network.restore();
    for (const host of hosts) host.letGo();
    for (const client of this.#clients) if (!client.isDialling) client.dial();
    await stage.pass(allOverMs);
    this.check();
    for (const end of this.#ends.values()) end.checkOver(this.#ends); // C3, C4
    for (const client of this.#clients) ensure(client.isConnected, `${client.rid} is not connected`); // C4
    ensure(await this.#close(), 'the transports do not close');
    for (const host of hosts) host.checkOver(); // C5
    const { openConnections } = this.#network;
    ensure(openConnections === 0, `${openConnections} connections are left`); // C5
    const timers = stage.clock.pendingTimers + stage.clock.pendingBackgroundTimers;
    ensure(timers === 0, `${timers} timers are left`); // C5
  }

  async abandon(): Promise<void> {
    this.#network.restore();
    await this.#close();
  }

  async #close(): Promise<boolean> {
    let isClosed = false;
    const closing = [this.#server, ...this.#clients].map((host) => host.close());
    void Promise.all(closing).then(() => (isClosed = true));
    for (let tries = 0; tries < 50 && !isClosed; tries++) await this.#stage.pass(100);
    return isClosed;
  }

  #hangUp(client: CreditHost): void {
    this.#stage.tell(`${client.rid} withdraws its intent`);
    client.hangUp(this.#stage.pick([0, 500]));
  }

  #disturb(): void {
    const stage = this.#stage;
    const network = this.#network;
    const pipes = network.pipesTo(address);
    const target: FaultTarget = pipes.length > 0 && stage.chance(0.7) ? stage.pick(pipes) : address;
    const where = typeof target === 'string' ? 'everywhere' : 'on one connection';
    const way = stage.pick(['toListener', 'toDialer', 'both'] as const);
    switch (stage.below(12)) {
      case 0:
        stage.tellFault(`cut ${where}`);
        return network.cut(target);
      case 1:
        stage.tellFault(`black hole ${where}, ${way}`);
        return network.blackhole(target, way);
      case 2:
      case 3: {
        const ms = stage.someMs(3_000);
        stage.tellFault(`delay of ${ms} ms ${where}, ${way}`);
        return network.delay(target, ms, way);
      }
      case 4:
      case 5:
        stage.tellFault(`nothing is read ${where}, ${way}`);
        return network.pauseReceiver(target, way);
      case 6:
        stage.tellFault('connections are refused');
        return network.refuse(address);
      default:
        stage.tell('the network is restored');
        return network.restore(stage.chance(0.5) ? undefined : target);
    }
  }
}
