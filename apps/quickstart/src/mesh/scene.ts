/**
 * What there is to see of the mesh at one moment, as text.
 *
 * Owns wording and layout. Pure: leaves to the view where and when it is shown.
 */
import { type CallCounts, inFlight, sum, sumErrors } from '../calls.ts';
import { count, percent, seconds } from '../numbers.ts';
import type { Frame } from '../view.ts';
import type { RoundCounts } from './reports.ts';

export interface SceneNode {
  readonly rid: string;
  readonly endpoint: string;
  readonly weight: number;
  readonly state: string;
  /** Answers to calls to the channel, and to direct ones. */
  readonly channel: number;
  readonly direct: number;
  /** Share of the channel's answers since the last scene, 0..1. */
  readonly share: number;
  /** Answers to calls to the channel while all servers were ready. */
  readonly answeredInRounds: number;
}

export interface Scene {
  readonly elapsedMs: number;
  readonly totalMs: number;
  readonly nodes: readonly SceneNode[];
  readonly callsPerSecond: number;
  readonly calls: CallCounts;
  readonly rounds: RoundCounts;
}

const barChars = 20;

export function frameOf(scene: Scene): Frame {
  return { lines: sceneLines(scene), line: sceneLine(scene) };
}

function sceneLines(scene: Scene): readonly string[] {
  const { calls, callsPerSecond } = scene;
  const [answered, failed] = [sum(calls.answered), sumErrors(calls.errors)];
  return [
    '',
    `  node    ${'endpoint'.padEnd(23)} weight  ${'state'.padEnd(12)} ${'of channel'.padStart(10)}  direct   share now`,
    ...scene.nodes.map(nodeLine),
    '',
    `  ${count(callsPerSecond)} calls/s   while both were ready: ${sharesOf(scene)}`,
    `  accepted ${count(calls.accepted)} = answered ${count(answered)} + typed errors ${count(failed)} + in flight ${count(inFlight(calls))}`,
    `  ${seconds(scene.elapsedMs)} of ${seconds(scene.totalMs)}`,
  ];
}

function nodeLine({ rid, endpoint, weight, state, channel, direct, share }: SceneNode): string {
  const bar = '█'.repeat(Math.round(share * barChars));
  const figures = `${count(channel).padStart(10)}  ${count(direct).padStart(6)}   ${percent(share).padStart(5)}  ${bar}`;
  return `  ${rid.padEnd(7)} ${endpoint.padEnd(23)} ${String(weight).padStart(6)}  ${state.padEnd(12)} ${figures}`.trimEnd();
}

/** Exactly by weight, or not: no round may be uneven. */
function sharesOf({ nodes, rounds }: Scene): string {
  if (rounds.even + rounds.uneven === 0) return 'nothing yet';
  const shares = nodes.map(({ answeredInRounds }) => count(answeredInRounds)).join(' : ');
  const weights = nodes.map(({ weight }) => weight).join(' : ');
  return `${shares} calls, ${rounds.uneven === 0 ? 'exactly' : 'not'} ${weights}`;
}

/** The same in one line, for logs. */
function sceneLine(scene: Scene): string {
  const each = scene.nodes.map(({ rid, state, share }) => `${rid} ${state} ${percent(share)}`).join(', ');
  const errors = `typed errors ${count(sumErrors(scene.calls.errors))}`;
  return `${count(scene.callsPerSecond)} calls/s  [${each}]  ${errors}  while both were ready: ${sharesOf(scene)}`;
}
