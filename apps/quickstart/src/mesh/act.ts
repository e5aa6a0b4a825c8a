/**
 * The mesh: three nodes that dial each other; one calls the two others, one of those is killed and comes back.
 *
 * Owns the order of events. Leaves nodes to `player`, pictures to `screening` and `scene`, the arithmetic to `proof`.
 */
import { soFarLine } from '../accounts.ts';
import type { Act, Proof, Stage } from '../act.ts';
import type { DemoOptions } from '../arguments.ts';
import { seconds } from '../numbers.ts';
import { startShow } from '../show.ts';
import type { Evidence } from './evidence.ts';
import { type Fate, type Player, type Role, startPlayer } from './player.ts';
import { findProblems } from './proof.ts';
import { frameOf } from './scene.ts';
import { Screening } from './screening.ts';
import { allCalls, summaryLines } from './summary.ts';

const cast = [
  { name: 'lobby', rid: 'lobby', weight: 0 },
  { name: 'play-1', rid: 'play-1', weight: 100 },
  { name: 'play-2', rid: 'play-2', weight: 300 },
] as const;

const successor: Role = { name: 'play-2*', rid: 'play-2', weight: 300 };

/** Parts of the time after which play-2 is killed and starts again. */
const killAt = 0.35;
const restartAt = 0.6;

export function createMeshAct(options: DemoOptions): Act {
  return new MeshAct(options);
}

type Players = readonly [Player, Player, Player];

class MeshAct implements Act {
  readonly #options: DemoOptions;
  #lobby: Player | undefined;
  #fate: Fate | undefined;

  constructor(options: DemoOptions) {
    this.#options = options;
  }

  async play(stage: Stage): Promise<Proof> {
    const tell = (line: string): void => stage.view.tell([line]);
    tell('');
    tell('A mesh: three node processes that are equal, each connected with both others');
    const players = await this.#startAll(stage);
    for (const { rid, endpoint, process } of players) tell(`   ${rid} is at ${endpoint} (process ${process.pid})`);
    const [lobby, play1, play2] = players;

    tell('1  Every node dials both others; of two connections between them one is kept.');
    await Promise.all(players.map((player) => player.meet(stage, others(players, player))));
    const greetings = (await Promise.all(players.map((player) => player.greet(stage)))).flat();
    tell(`   Direct calls to each RID from both other nodes: ${greetings.length} answered.`);

    tell(`2  lobby calls the channel, which play-1 serves with weight ${play1.weight}, play-2 with ${play2.weight}.`);
    const order = await lobby.begin(stage);
    tell(`   The first four calls went to ${order.join(', ')}. Direct calls to both go on beside them.`);
    const showUntil = this.#startShow(stage, players);
    await showUntil(killAt);

    tell('3  play-2 is killed (SIGKILL): calls in its hands fail at once with typed errors. Its share goes to play-1.');
    this.#fate = 'killed';
    const killed = await play2.kill(stage);
    await showUntil(restartAt);

    tell('4  play-2 starts again in a new process, with the same RID and address.');
    const returning = this.#restart(stage, players);
    await Promise.all([returning, showUntil((1 + restartAt) / 2)]);
    const { player: again, tookMs, answers } = await returning;
    tell(`   Direct calls to and from play-2 were answered ${seconds(tookMs)} later; it has its share again.`);
    await showUntil(1);

    tell('5  No new calls. lobby waits until each one has ended; then everybody leaves.');
    const calls = await lobby.finish(stage);
    const [lobbyEnd, play1End, againEnd] = [
      await lobby.leave(stage),
      await play1.leave(stage),
      await again.leave(stage),
    ];
    const nodes = [lobbyEnd, play1End, killed, againEnd];
    const evidence: Evidence = { calls, order, greetings: [...greetings, ...answers], nodes };
    const problems = findProblems(evidence);
    return { lines: summaryLines(evidence, problems), problems };
  }

  soFar(): readonly string[] {
    const process = this.#lobby?.process;
    const counts = (process?.latest('finished') ?? process?.latest('progress'))?.counts;
    return [soFarLine(counts && allCalls(counts))];
  }

  async #startAll(stage: Stage): Promise<Players> {
    const { port } = this.#options;
    const starting = cast.map((role, index) => startPlayer(stage, role, port === 0 ? 0 : port + index));
    const players = (await Promise.all(starting)) as [Player, Player, Player]; // as many as the cast has
    [this.#lobby] = players;
    return players;
  }

  /** Starts play-2 anew; done when direct calls from it to the others, and from lobby to it, are answered. */
  async #restart(stage: Stage, players: Players) {
    const [lobby, , before] = players;
    this.#fate = 'starting';
    const startedAtMs = performance.now();
    const player = await startPlayer(stage, successor, Number(new URL(before.endpoint).port));
    await player.meet(stage, others(players, before));
    const answers = [...(await player.greet(stage)), ...(await lobby.greet(stage))];
    this.#fate = undefined;
    return { player, tookMs: performance.now() - startedAtMs, answers };
  }

  #startShow(stage: Stage, [lobby, play1, play2]: Players): (part: number) => Promise<void> {
    const totalMs = this.#options.seconds * 1_000;
    const screening = new Screening(() => {
      const { rid, endpoint, weight } = play2;
      const names = [play2.name, successor.name];
      return [
        { rid: play1.rid, endpoint: play1.endpoint, weight: play1.weight, names: [play1.name], fate: undefined },
        { rid, endpoint, weight, names, fate: this.#fate },
      ];
    }, totalMs);
    return startShow(stage, {
      totalMs,
      frameAt: (elapsedMs) => {
        const progress = lobby.process.latest('progress');
        return progress && frameOf(screening.sceneOf(progress, elapsedMs));
      },
    });
  }
}

function others(players: readonly Player[], one: Player): readonly Player[] {
  return players.filter((player) => player !== one);
}
