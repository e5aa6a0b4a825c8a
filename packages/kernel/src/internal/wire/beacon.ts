/**
 * The beacon: what a fanout publisher says when it has nothing to say (LIVE-003).
 *
 * Owns its fixed bytes and the check. Leaves when it is sent, and what its absence means, to the fanout topic.
 *
 * 1. A beacon is exactly two parts, topic and payload, as fixed by the specification. Every other message of a publisher has
 *    one part, which begins with other bytes (FAN-006).
 */
import { areSameBytes } from './same-bytes.ts';

/** Never written to; others get copies. */
export const BEACON_TOPIC = Uint8Array.of(0x01, 0x5a, 0x4c, 0x46, 0x31);
/** The text with these bytes: they are ASCII, so there is no other one. */
const BEACON_TEXT = '\u0001ZLF1';
const PAYLOAD = Uint8Array.of(0x5a, 0x46, 0x01, 0x01);

/** A new message; the parts are the caller's. */
export function beaconParts(): Uint8Array[] {
  return [Uint8Array.from(BEACON_TOPIC), Uint8Array.from(PAYLOAD)];
}

/** Whether an application may not use this topic (FAN-002). */
export function isBeaconTopic(topic: string | Uint8Array): boolean {
  return typeof topic === 'string' ? topic === BEACON_TEXT : areSameBytes(topic, BEACON_TOPIC);
}

/** `none`: some other message. `malformed`: it has the topic of a beacon and is none. */
export function checkBeacon(parts: readonly Uint8Array[]): 'beacon' | 'malformed' | 'none' {
  const [topic, payload] = parts;
  if (topic === undefined || !areSameBytes(topic, BEACON_TOPIC)) return 'none';
  return parts.length === 2 && payload !== undefined && areSameBytes(payload, PAYLOAD) ? 'beacon' : 'malformed';
}
