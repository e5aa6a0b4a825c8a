/**
 * What there is to see of the shop at one moment, as text.
 *
 * Owns wording and layout. Pure: leaves to the view where and when it is shown.
 */
import { type CallCounts, inFlight, type SendCounts, sum, sumErrors } from '../calls.ts';
import { count, ms, percent, seconds } from '../numbers.ts';
import type { Frame } from '../view.ts';
import type { Latency } from './reports.ts';

export interface SceneServer {
  readonly name: string;
  readonly endpoint: string;
  readonly weight: number;
  readonly state: string;
  readonly answered: number;
  /** Share of the answers since the last scene, 0..1. */
  readonly share: number;
}

export interface Scene {
  readonly elapsedMs: number;
  readonly totalMs: number;
  readonly servers: readonly SceneServer[];
  readonly callsPerSecond: number;
  readonly latency: Latency;
  readonly calls: CallCounts;
  readonly sends: SendCounts;
}

const barChars = 20;

export function frameOf(scene: Scene): Frame {
  return { lines: sceneLines(scene), line: sceneLine(scene) };
}

function sceneLines(scene: Scene): readonly string[] {
  const { calls, sends } = scene;
  const [answered, failed] = [sum(calls.answered), sumErrors(calls.errors)];
  return [
    '',
    `  server  ${'endpoint'.padEnd(23)} weight  ${'state'.padEnd(12)} ${'answered'.padStart(10)}   share now`,
    ...scene.servers.map(serverLine),
    '',
    `  ${count(scene.callsPerSecond)} calls/s   quotes: p50 ${ms(scene.latency.p50Ms)}, p99 ${ms(scene.latency.p99Ms)}   one-way messages: ${count(sends.accepted)}`,
    `  accepted ${count(calls.accepted)} = answered ${count(answered)} + typed errors ${count(failed)} + in flight ${count(inFlight(calls))}`,
    `  ${seconds(scene.elapsedMs)} of ${seconds(scene.totalMs)}`,
  ];
}

function serverLine({ name, endpoint, weight, state, answered, share }: SceneServer): string {
  const bar = '█'.repeat(Math.round(share * barChars));
  const figures = `${count(answered).padStart(10)}   ${percent(share).padStart(5)}  ${bar}`;
  return `  ${name.padEnd(7)} ${endpoint.padEnd(23)} ${String(weight).padStart(6)}  ${state.padEnd(12)} ${figures}`.trimEnd();
}

/** The same in one line, for logs. */
function sceneLine({ callsPerSecond, latency, servers, calls }: Scene): string {
  const each = servers.map(({ name, state, share }) => `${name} ${state} ${percent(share)}`).join(', ');
  const figures = `${count(callsPerSecond)} calls/s  quotes: p50 ${ms(latency.p50Ms)}, p99 ${ms(latency.p99Ms)}`;
  return `${figures}  typed errors ${count(sumErrors(calls.errors))}  [${each}]`;
}
