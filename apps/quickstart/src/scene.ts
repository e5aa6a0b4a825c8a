/**
 * What there is to see at one moment, as lines of text.
 *
 * Owns wording and layout. Pure: leaves to the view where and when lines are shown.
 */
import { type CallCounts, type Latency, type SendCounts, sum, sumErrors } from './reports.ts';

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

export function sceneLines(scene: Scene): readonly string[] {
  const { calls, sends } = scene;
  const [answered, failed] = [sum(calls.answered), sumErrors(calls.errors)];
  const ending = calls.accepted - answered - failed - calls.wrong - calls.untyped;
  return [
    '',
    `  server  ${'endpoint'.padEnd(23)} weight  ${'state'.padEnd(12)} ${'answered'.padStart(10)}   share now`,
    ...scene.servers.map(serverLine),
    '',
    `  ${count(scene.callsPerSecond)} calls/s   p50 ${ms(scene.latency.p50Ms)}   p99 ${ms(scene.latency.p99Ms)}   one-way ${count(sends.accepted)}`,
    `  accepted ${count(calls.accepted)} = answered ${count(answered)} + typed errors ${count(failed)} + in flight ${count(ending)}`,
    `  ${seconds(scene.elapsedMs)} of ${seconds(scene.totalMs)}`,
  ];
}

function serverLine({ name, endpoint, weight, state, answered, share }: SceneServer): string {
  const bar = '█'.repeat(Math.round(share * barChars));
  const figures = `${count(answered).padStart(10)}   ${percent(share).padStart(5)}  ${bar}`;
  return `  ${name.padEnd(7)} ${endpoint.padEnd(23)} ${String(weight).padStart(6)}  ${state.padEnd(12)} ${figures}`.trimEnd();
}

/** The same in one line, for logs. */
export function sceneLine({ callsPerSecond, latency, servers, calls }: Scene): string {
  const each = servers.map(({ name, state, share }) => `${name} ${state} ${percent(share)}`).join(', ');
  const figures = `${count(callsPerSecond)} calls/s  p50 ${ms(latency.p50Ms)}  p99 ${ms(latency.p99Ms)}`;
  return `${figures}  typed errors ${count(sumErrors(calls.errors))}  [${each}]`;
}

/** 12345.6 as `12,346`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** At most three digits that matter. */
export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
}

function seconds(elapsedMs: number): string {
  return `${(elapsedMs / 1_000).toFixed(1)} s`;
}
