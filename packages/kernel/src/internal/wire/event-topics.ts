/**
 * What a subscription asks for, and what a publisher says to those that ask for another run ([C08]).
 *
 * Owns these topics and their bytes. Leaves counting and choosing by them to the engines, and what a refusal means to the
 * fanout topic.
 *
 * 1. A subscription asks for everything, or for one run of a publisher: for the frames of that run, and for beacons.
 * 2. A publisher refuses another run under the very topic that was asked for. Who asks for everything hears it, too.
 */
import { BEACON_TOPIC } from './beacon.ts';
import { EVENT_MAGIC, EventForm, FORM_AT, GENERATION_AT } from './event-layout.ts';
import { WIRE_MAJOR } from './limits.ts';
import { areSameBytes } from './same-bytes.ts';

const EVERYTHING = new Uint8Array(0);

/** What all frames of that run begin with, and nothing else. */
export function runTopic(generation: bigint): Uint8Array {
  const topic = new Uint8Array(FORM_AT);
  topic.set(EVENT_MAGIC, 0);
  topic[EVENT_MAGIC.length] = WIRE_MAJOR;
  new DataView(topic.buffer).setBigUint64(GENERATION_AT, generation, true);
  return topic;
}

/** Generation of the run that a topic asks for, if any. */
export function runOf(topic: Uint8Array): bigint | undefined {
  if (topic.length !== FORM_AT) return undefined;
  const generation = new DataView(topic.buffer, topic.byteOffset).getBigUint64(GENERATION_AT, true);
  return generation !== 0n && areSameBytes(topic, runTopic(generation)) ? generation : undefined;
}

/** @param generation - undefined: whichever run it is, so everything (1) */
export function topicsOf(generation: bigint | undefined): readonly Uint8Array[] {
  return generation === undefined ? [EVERYTHING] : [BEACON_TOPIC, runTopic(generation)];
}

/** Whether a message is for who has asked for these topics. */
export function isAskedFor(parts: readonly Uint8Array[], topics: readonly Uint8Array[]): boolean {
  const first = parts[0] ?? EVERYTHING;
  return topics.some((topic) => areSameBytes(first.subarray(0, topic.length), topic));
}

/** Says to who has asked for that run that it is not this one (2). */
export function otherRunParts(generation: bigint): Uint8Array[] {
  return [Uint8Array.of(...runTopic(generation), EventForm.otherRun)];
}

/** Generation of the run that a publisher refuses by this message; undefined: it is something else. */
export function refusedRun(parts: readonly Uint8Array[]): bigint | undefined {
  const [frame] = parts;
  if (frame?.length !== FORM_AT + 1 || parts.length !== 1 || frame[FORM_AT] !== EventForm.otherRun) return undefined;
  return runOf(frame.subarray(0, FORM_AT));
}
