/** Makes scenes for the view out of what the client reports. */
import { type CallCounts, type ClientReport, type ServerView, sum } from './reports.ts';
import type { Scene, SceneServer } from './scene.ts';

export type Progress = Extract<ClientReport, { readonly kind: 'progress' }>;

export interface ScreenedServer {
  readonly name: string;
  readonly endpoint: string;
  readonly weight: number;
}

export class Screening {
  readonly #servers: readonly ScreenedServer[];
  readonly #totalMs: number;
  #last: Progress | undefined;
  #sceneServers: readonly SceneServer[] = [];

  constructor(servers: readonly ScreenedServer[], totalMs: number) {
    this.#servers = servers;
    this.#totalMs = totalMs;
  }

  /** Called more often than there is progress it shows the last shares again. */
  sceneOf(progress: Progress, elapsedMs: number): Scene {
    if (progress !== this.#last) {
      const before = this.#last?.calls;
      this.#sceneServers = this.#servers.map((server) => sceneServer(server, progress.servers, progress.calls, before));
      this.#last = progress;
    }
    return { ...progress, elapsedMs, totalMs: this.#totalMs, servers: this.#sceneServers };
  }
}

function sceneServer(
  { name, endpoint, weight }: ScreenedServer,
  views: readonly ServerView[],
  calls: CallCounts,
  before: CallCounts | undefined,
): SceneServer {
  const answered = calls.answered[name] ?? 0;
  const allSince = sum(calls.answered) - sum(before?.answered ?? {});
  const since = answered - (before?.answered[name] ?? 0);
  const view = views.find((one) => one.endpoint === endpoint);
  return {
    name,
    endpoint,
    weight: view === undefined || view.weight === 0 ? weight : view.weight, // who is gone announces none
    state: view?.state ?? 'unknown',
    answered,
    share: allSince === 0 ? 0 : since / allSince,
  };
}
