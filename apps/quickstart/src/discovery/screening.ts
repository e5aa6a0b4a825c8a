/**
 * Makes scenes out of what the caller reports and what the act has done to hosts.
 *
 * Owns which hosts are shown: all that were ever seen, in the order in which they were.
 */
import { sharesSince } from '../shares.ts';
import { allCalls } from './evidence.ts';
import type { Progress } from './reports.ts';
import type { Scene, SceneHost } from './scene.ts';
import { find, isForgotten, isLeftOut, type Sight, waysOf } from './sights.ts';

export interface ScreenedRun {
  readonly progress: Progress;
  readonly sights: readonly Sight[];
  /** What was done to hosts, by name: more than a caller can see. */
  readonly fates: ReadonlyMap<string, string>;
  readonly store: string;
}

export class Screening {
  readonly #names = new Set<string>();
  #last: Progress | undefined;
  #shares: Readonly<Record<string, number>> = {};

  /** Called more often than there is progress it shows the last shares again. */
  sceneOf({ progress, sights, fates, store }: ScreenedRun): Scene {
    const { counts, callsPerSecond } = progress;
    const calls = allCalls(counts);
    if (progress !== this.#last) {
      this.#shares = sharesSince(this.#last && allCalls(this.#last.counts).answered, calls.answered);
      this.#last = progress;
    }
    for (const { name } of sights) this.#names.add(name);
    const hosts = [...this.#names].map((name): SceneHost => {
      const sight = find(sights, name);
      return {
        name,
        state: stateOf(sights, name, fates.get(name)),
        weight: sight?.weight ?? 0,
        rides: counts.rides.answered[name] ?? 0,
        loads: counts.loads.answered[name] ?? 0,
        share: this.#shares[name] ?? 0,
      };
    });
    return { hosts, callsPerSecond, calls, store };
  }
}

/** What was done to a host explains the ways to it; what became of it since then is seen. */
function stateOf(sights: readonly Sight[], name: string, fate: string | undefined): string {
  if (isForgotten(sights, name)) return fate === undefined ? 'forgotten' : `${fate}, forgotten`;
  if (fate === undefined) return waysOf(sights, name);
  return isLeftOut(sights, name) ? `${fate}, left out` : fate;
}
