/**
 * The script of the demo: what happens, in which order, and what of it is kept as evidence.
 *
 * Owns the order of events. Leaves processes to `processes`, the screen to `view`, the arithmetic to `summary`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { DemoOptions } from './arguments.ts';
import type { ClientProcess, Processes, ServerProcess } from './processes.ts';
import type { ServerCounts } from './reports.ts';
import { Screening, type ScreenedServer } from './screening.ts';
import type { Evidence, ServerEvidence } from './summary.ts';
import type { View } from './view.ts';

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

interface Player extends ScreenedServer {
  readonly process: ServerProcess;
}

export class Script {
  readonly #options: DemoOptions;
  readonly #view: View;
  readonly #processes: Processes;
  /** Rejects with the reason why the demo cannot go on; else it stays open. */
  readonly #trouble: Promise<never>;

  constructor(options: DemoOptions, view: View, processes: Processes, trouble: Promise<never>) {
    this.#options = options;
    this.#view = view;
    this.#processes = processes;
    this.#trouble = trouble;
  }

  async play(): Promise<Evidence> {
    this.#tell('ZLink quickstart: one channel, three server processes, one client process, real TCP connections');
    const players = await this.#startServers();
    for (const { name, endpoint, weight, process } of players)
      this.#tell(`   ${name} serves at ${endpoint} with weight ${weight} (process ${process.pid})`);
    const client = await this.#startClient(players);
    const show = this.#startShow(client, players);
    const [ash, birch, cedar] = players;

    this.#tell('1  All three serve. The client shares its calls out by weight.');
    await show(drainAt);
    const steady = await this.#expect(client.expect('progress', readyWithinMs));

    this.#tell('2  ash is drained (SIGTERM): it takes nothing new, ends what it accepted, and leaves. Calls go on.');
    ash.process.drain();
    await show(killAt);
    const drained = await this.#endOf(ash, 'drained');

    this.#tell('3  birch is killed (SIGKILL): calls in its hands fail at once with typed errors. cedar takes over.');
    birch.process.end('SIGKILL');
    await show(1);
    const killed = evidenceOf(birch, 'killed', undefined, birch.process.latest('counts')?.counts);

    this.#tell('4  No new calls. The client waits until each one has ended; then everybody leaves.');
    client.ask('finish');
    const { calls, sends, latency } = await this.#expect(client.expect('finished', endWithinMs));
    await this.#expect(client.expectEnd(endWithinMs));
    cedar.process.drain();
    const stopped = await this.#endOf(cedar, 'stopped');
    return { calls, steady: steady.calls, sends, latency, servers: [drained, killed, stopped] };
  }

  async #startServers(): Promise<readonly [Player, Player, Player]> {
    const { port } = this.#options;
    const starting = cast.map(async ({ name, weight }, index): Promise<Player> => {
      const process = this.#processes.startServer(name, weight, port === 0 ? 0 : port + index);
      const { endpoint } = await process.expect('ready', readyWithinMs);
      return { name, weight, process, endpoint };
    });
    const players = await this.#expect(Promise.all(starting));
    return players as [Player, Player, Player]; // as many as the cast has
  }

  async #startClient(players: readonly Player[]): Promise<ClientProcess> {
    const client = this.#processes.startClient(players.map(({ endpoint }) => endpoint));
    await this.#expect(client.expect('ready', readyWithinMs));
    return client;
  }

  /** The time of the demo begins; what is returned shows what goes on until that part of it is over. */
  #startShow(client: ClientProcess, players: readonly Player[]): (part: number) => Promise<void> {
    const totalMs = this.#options.seconds * 1_000;
    const startedAtMs = performance.now();
    const elapsedMs = (): number => performance.now() - startedAtMs;
    const screening = new Screening(players, totalMs);
    return async (part) => {
      for (let leftMs = part * totalMs - elapsedMs(); leftMs > 0; leftMs = part * totalMs - elapsedMs()) {
        await this.#expect(delay(Math.ceil(Math.min(leftMs, this.#view.everyMs))));
        const progress = client.latest('progress');
        if (progress !== undefined) this.#view.show(screening.sceneOf(progress, elapsedMs()));
      }
    };
  }

  async #endOf(player: Player, end: 'drained' | 'stopped'): Promise<ServerEvidence> {
    const { outcome, counts } = await this.#expect(player.process.expect('stopped', endWithinMs));
    await this.#expect(player.process.expectEnd(endWithinMs));
    return evidenceOf(player, end, outcome, counts);
  }

  #expect<T>(result: Promise<T>): Promise<T> {
    return Promise.race([result, this.#trouble]);
  }

  #tell(line: string): void {
    this.#view.tell([line]);
  }
}

function evidenceOf(
  { name, weight }: Player,
  end: ServerEvidence['end'],
  outcome: string | undefined,
  counts: ServerCounts | undefined,
): ServerEvidence {
  if (counts === undefined) throw new Error(`server ${name} never reported its counters`);
  return { name, weight, end, outcome, counts };
}
