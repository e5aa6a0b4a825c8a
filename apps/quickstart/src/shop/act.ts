/**
 * The shop: three servers and a client; one server is drained, one is killed, and calls go on.
 *
 * Owns the order of events. Leaves servers to `player`, pictures to `screening` and `scene`, the arithmetic to `proof`.
 */
import { availableParallelism } from 'node:os';
import { soFarLine } from '../accounts.ts';
import type { Act, Proof, Stage } from '../act.ts';
import type { DemoOptions } from '../arguments.ts';
import type { Child } from '../child.ts';
import { startShow } from '../show.ts';
import { invoiceMs } from './durations.ts';
import { findProblems } from './proof.ts';
import { type Player, startPlayer } from './player.ts';
import type { ClientReport } from './reports.ts';
import { frameOf } from './scene.ts';
import { Screening } from './screening.ts';
import { summaryLines } from './summary.ts';

type ClientProcess = Child<ClientReport>;

const readyWithinMs = 15_000;
const endWithinMs = 10_000;

const cast = [
  { name: 'ash', weight: 100 },
  { name: 'birch', weight: 300 },
  { name: 'cedar', weight: 100 },
] as const;

/** Parts of the time after which ash is drained and birch is killed. */
const drainAt = 0.35;
const killAt = 0.65;

export function createShopAct(options: DemoOptions): Act {
  return new ShopAct(options);
}

class ShopAct implements Act {
  readonly #options: DemoOptions;
  #client: ClientProcess | undefined;

  constructor(options: DemoOptions) {
    this.#options = options;
  }

  async play(stage: Stage): Promise<Proof> {
    const tell = (line: string): void => stage.view.tell([line]);
    tell('ZLink quickstart: one channel, three server processes, one client process, real TCP connections');
    const players = await this.#startServers(stage);
    for (const { name, endpoint, weight, pid } of players)
      tell(`   ${name} serves at ${endpoint} with weight ${weight} (process ${pid})`);
    const client = await this.#startClient(stage, players);
    const showUntil = this.#startShow(stage, client, players);
    const [ash, birch, cedar] = players;

    tell('1  All three serve. The client shares its calls out by weight:');
    tell(`   quotes, answered at once, and invoices, which take a server ${invoiceMs} ms.`);
    await showUntil(drainAt);
    const { calls: steady } = await stage.wait(client.expect('progress', readyWithinMs));

    tell('2  ash is drained (SIGTERM): it takes nothing new, ends what it accepted, and leaves. Calls go on.');
    ash.drain();
    await showUntil(killAt);
    const drained = await ash.leaving(stage, 'drained');

    tell('3  birch is killed (SIGKILL): calls in its hands fail at once with typed errors. cedar takes over.');
    birch.kill();
    await showUntil(1);
    const killed = birch.remains();

    tell('4  No new calls. The client waits until each one has ended; then everybody leaves.');
    client.ask('finish');
    const { calls, sends, latency } = await stage.wait(client.expect('finished', endWithinMs));
    await stage.wait(client.expectEnd(endWithinMs));
    cedar.drain();
    const stopped = await cedar.leaving(stage, 'stopped');

    const evidence = { calls, steady, sends, latency, servers: [drained, killed, stopped] };
    const problems = findProblems(evidence);
    return { lines: summaryLines(evidence, problems, availableParallelism()), problems };
  }

  soFar(): readonly string[] {
    return [soFarLine((this.#client?.latest('finished') ?? this.#client?.latest('progress'))?.calls)];
  }

  async #startServers(stage: Stage): Promise<readonly [Player, Player, Player]> {
    const { port } = this.#options;
    const starting = cast.map((role, index) => startPlayer(stage, role, port === 0 ? 0 : port + index));
    const players = await stage.wait(Promise.all(starting));
    return players as [Player, Player, Player]; // as many as the cast has
  }

  async #startClient({ processes, wait }: Stage, players: readonly Player[]): Promise<ClientProcess> {
    const endpoints = players.map(({ endpoint }) => endpoint);
    const client = processes.start<ClientReport>('the client', new URL('./client.js', import.meta.url), endpoints);
    this.#client = client;
    await wait(client.expect('ready', readyWithinMs));
    return client;
  }

  #startShow(stage: Stage, client: ClientProcess, players: readonly Player[]): (part: number) => Promise<void> {
    const totalMs = this.#options.seconds * 1_000;
    const screening = new Screening(players, totalMs);
    return startShow(stage, {
      totalMs,
      frameAt: (elapsedMs) => {
        const progress = client.latest('progress');
        return progress && frameOf(screening.sceneOf(progress, elapsedMs));
      },
    });
  }
}
