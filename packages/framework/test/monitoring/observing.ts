/** Observers of a host, as a test uses them. */
import type { Host, MonitoringEvent, ObservedEvent, ObservedSnapshot, RuntimeSnapshot } from '@zlink/framework';
import { until } from '@zlink/testing';

export type EventType = MonitoringEvent['type'];
export type EventOf<T extends EventType> = Extract<MonitoringEvent, { readonly type: T }>;

/** The events of a host from now on, in order; reading ends with the host. */
export class Witness {
  readonly events: MonitoringEvent[] = [];
  /** Resolves when the iteration has ended. */
  readonly ended: Promise<void>;

  constructor(host: Host) {
    const iterator = host.query.events()[Symbol.asyncIterator]();
    this.ended = this.#read(iterator);
  }

  of<T extends EventType>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  async sees<T extends EventType>(type: T, isMeant: (event: EventOf<T>) => boolean): Promise<void> {
    await until(() => this.of(type).some(isMeant), `an event ${type} is seen`);
  }

  async #read(iterator: AsyncIterator<ObservedEvent>): Promise<void> {
    for (let item = await iterator.next(); item.done !== true; item = await iterator.next()) {
      this.events.push(item.value.event);
    }
  }
}

export function beginSnapshots(host: Host, signal?: AbortSignal): AsyncIterator<ObservedSnapshot> {
  return host.query.observe(signal)[Symbol.asyncIterator]();
}

/** The next item, which has to be there. */
export async function nextOf<T>(iterator: AsyncIterator<T>): Promise<T> {
  const item = await iterator.next();
  if (item.done === true) throw new Error('the iteration has ended');
  return item.value;
}

/** Until what the host shows is as it is meant. */
export async function shows(
  host: Host,
  what: string,
  isMeant: (snapshot: RuntimeSnapshot) => boolean,
): Promise<RuntimeSnapshot> {
  await until(() => isMeant(host.query.snapshot()), what);
  return host.query.snapshot();
}

export function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}
