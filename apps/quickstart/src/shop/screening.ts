/** Makes scenes out of what the client reports and what the act knows of the servers. */
import { sharesSince } from '../shares.ts';
import type { Fate } from './player.ts';
import type { ClientReport } from './reports.ts';
import type { Scene, SceneServer } from './scene.ts';

export type Progress = Extract<ClientReport, { readonly kind: 'progress' }>;

export interface ScreenedServer {
  readonly name: string;
  readonly endpoint: string;
  readonly weight: number;
  readonly fate: Fate | undefined;
}

export class Screening {
  readonly #servers: readonly ScreenedServer[];
  readonly #totalMs: number;
  #last: Progress | undefined;
  #shares: Readonly<Record<string, number>> = {};

  constructor(servers: readonly ScreenedServer[], totalMs: number) {
    this.#servers = servers;
    this.#totalMs = totalMs;
  }

  /** Called more often than there is progress it shows the last shares again. */
  sceneOf(progress: Progress, elapsedMs: number): Scene {
    if (progress !== this.#last) {
      this.#shares = sharesSince(this.#last?.calls.answered, progress.calls.answered);
      this.#last = progress;
    }
    const servers = this.#servers.map((server) => this.#sceneServer(server, progress));
    return { ...progress, elapsedMs, totalMs: this.#totalMs, servers };
  }

  #sceneServer({ name, endpoint, weight, fate }: ScreenedServer, { servers, calls }: Progress): SceneServer {
    const seen = servers.find((one) => one.endpoint === endpoint);
    return {
      name,
      endpoint,
      weight: seen === undefined || seen.weight === 0 ? weight : seen.weight, // who is gone announces none
      state: fate ?? seen?.state ?? 'unknown', // to the client, whoever is gone may come back: it tries to reconnect
      answered: calls.answered[name] ?? 0,
      share: this.#shares[name] ?? 0,
    };
  }
}
