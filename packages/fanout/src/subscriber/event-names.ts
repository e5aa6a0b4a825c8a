/**
 * The names on the events of one publisher, each looked up once.
 *
 * Owns the memory of them, by content type and packet name. Leaves what a name leads to to the dispatchers.
 *
 * 1. A publisher may invent names without end: so many are remembered and no more (WIRE-004).
 * 2. Each dispatcher keeps what it resolved in a name of its own.
 */
import type { InboundName } from '@zlink/kernel/internal/transport';
import { type EventReader, NAME_LIMIT } from '@zlink/kernel/internal/wire';

export interface EventName {
  /** One per dispatch that an event of this name becomes, by rank (2). */
  readonly byRank: readonly InboundName[];
  /** Of the last event, which most often has the same as the next: a copy of our own. */
  topic: Uint8Array;
}

export class EventNames {
  readonly #dispatchesOf: (packetName: string) => number;
  /** By packet name, then by content type. */
  readonly #names = new Map<string, Map<string, EventName>>();
  #count = 0;
  /** The last one that was known: most often the next event has it, too. */
  #lastType = '';
  #lastPacketName = '';
  #last: EventName | undefined;

  constructor(dispatchesOf: (packetName: string) => number) {
    this.#dispatchesOf = dispatchesOf;
  }

  get(contentType: string, packetName: string): EventName {
    const last = this.#last;
    if (last !== undefined && packetName === this.#lastPacketName && contentType === this.#lastType) return last;
    const known = this.#names.get(packetName)?.get(contentType);
    if (known === undefined) return this.#add(contentType, packetName);
    this.#lastType = contentType;
    this.#lastPacketName = packetName;
    return (this.#last = known);
  }

  #add(contentType: string, packetName: string): EventName {
    const byRank = Array.from({ length: this.#dispatchesOf(packetName) }, () => ({
      scope: '',
      contentType,
      packetName,
      slot: undefined,
    }));
    const name = { byRank, topic: NO_TOPIC };
    if (this.#count >= NAME_LIMIT) return name; // 1
    this.#count++;
    const byType = this.#names.get(packetName) ?? new Map<string, EventName>();
    byType.set(contentType, name);
    this.#names.set(packetName, byType);
    return name;
  }
}

/** The topic of the event that `name` is on, as bytes that no frame is kept alive by. */
export function topicOf(name: EventName, event: EventReader): Uint8Array {
  if (!hasTopic(event, name.topic)) name.topic = Uint8Array.from(event.topic);
  return name.topic;
}

/** Compared where it lies: a view of it would cost as much as the rest of reading an event. */
function hasTopic({ payload, topicStart, topicEnd }: EventReader, topic: Uint8Array): boolean {
  if (topicEnd - topicStart !== topic.length) return false;
  for (let at = 0; at < topic.length; at++) if (payload[topicStart + at] !== topic[at]) return false;
  return true;
}

const NO_TOPIC = new Uint8Array(0);
