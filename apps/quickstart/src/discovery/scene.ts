/**
 * What there is to see of the fleet at one moment, as text.
 *
 * Owns wording and layout. Pure: leaves to the view where and when it is shown.
 */
import { type CallCounts, inFlight, sum, sumErrors } from '../calls.ts';
import { count, percent } from '../numbers.ts';
import type { Frame } from '../view.ts';

export interface SceneHost {
  readonly name: string;
  readonly state: string;
  readonly weight: number;
  readonly rides: number;
  readonly loads: number;
  /** Share of the answers since the last scene, 0..1. */
  readonly share: number;
}

export interface Scene {
  readonly hosts: readonly SceneHost[];
  readonly callsPerSecond: number;
  readonly calls: CallCounts;
  /** As `Redis answers`. */
  readonly store: string;
}

const barChars = 20;

export function frameOf(scene: Scene): Frame {
  return { lines: sceneLines(scene), line: sceneLine(scene) };
}

function sceneLines({ hosts, callsPerSecond, calls, store }: Scene): readonly string[] {
  const [answered, failed] = [sum(calls.answered), sumErrors(calls.errors)];
  return [
    '',
    `  host    ${'as the caller sees it'.padEnd(24)} weight  ${'rides'.padStart(8)} ${'loads'.padStart(8)}   share now`,
    ...hosts.map(hostLine),
    '',
    `  ${count(callsPerSecond)} calls/s   ${store}`,
    `  accepted ${count(calls.accepted)} = answered ${count(answered)} + typed errors ${count(failed)} + in flight ${count(inFlight(calls))}`,
  ];
}

function hostLine({ name, state, weight, rides, loads, share }: SceneHost): string {
  const bar = '█'.repeat(Math.round(share * barChars));
  const figures = `${count(rides).padStart(8)} ${count(loads).padStart(8)}   ${percent(share).padStart(5)}  ${bar}`;
  return `  ${name.padEnd(7)} ${state.padEnd(24)} ${String(weight).padStart(6)}  ${figures}`.trimEnd();
}

/** The same in one line, for logs. */
function sceneLine({ hosts, callsPerSecond, calls, store }: Scene): string {
  const each = hosts.map(({ name, state, share }) => `${name} ${state} ${percent(share)}`).join(', ');
  return `${count(callsPerSecond)} calls/s  [${each}]  typed errors ${count(sumErrors(calls.errors))}  ${store}`;
}
