/**
 * Topics of events: what a publisher may give its event beside the packet name.
 *
 * Owns their check. Leaves what they mean to applications: no handler is chosen by a topic (FAN-003).
 *
 * 1. The topic of the beacon is refused however it is given, and no other one is (FAN-002).
 */
import { describeValue, ZLinkError } from '@zlink/kernel/errors';
import { isWellFormed } from '@zlink/kernel/identity';
import { isBeaconTopic } from '@zlink/kernel/internal/wire';

/** As text, or as bytes of any content. */
export type Topic = string | Uint8Array;

const MAX_BYTES = 255;
/** Of one unit of a text. */
const MAX_UNIT_BYTES = 3;
const ALLOWED = `a string of up to ${MAX_BYTES} bytes in UTF-8, or as many bytes`;

const encoder = new TextEncoder();

/**
 * The topic as it travels; bytes are copied, as the caller may go on to use them.
 *
 * @throws ZLinkError `InvalidOperation` if it is none, too long or reserved
 */
export function requireTopic(topic: unknown): Topic {
  if (typeof topic === 'string') return requireText(topic);
  if (!(topic instanceof Uint8Array)) throw refusal(`${describeValue(topic)} is not allowed, allowed: ${ALLOWED}`);
  if (topic.length > MAX_BYTES) throw refusal(`${topic.length} bytes are too many, allowed: ${ALLOWED}`);
  if (isBeaconTopic(topic)) throw reserved();
  return Uint8Array.from(topic);
}

function requireText(topic: string): string {
  if (topic.length > MAX_BYTES || !isWellFormed(topic)) {
    throw refusal(`${describeValue(topic)} is not allowed, allowed: ${ALLOWED}`);
  }
  // Every publish comes by: what is short in any case is not encoded to be counted.
  const bytes = topic.length * MAX_UNIT_BYTES > MAX_BYTES ? encoder.encode(topic).length : 0;
  if (bytes > MAX_BYTES) throw refusal(`${bytes} bytes are too many, allowed: ${ALLOWED}`);
  if (isBeaconTopic(topic)) throw reserved();
  return topic;
}

function refusal(text: string): ZLinkError {
  return new ZLinkError('InvalidOperation', `topic: ${text}`);
}

function reserved(): ZLinkError {
  return refusal('the bytes 01 5A 4C 46 31 are reserved'); // also when they come as the packet name
}
