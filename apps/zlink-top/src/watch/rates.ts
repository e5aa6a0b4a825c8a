/**
 * What has become of messages, and gone over links, per second: from two reports of a host.
 *
 * 1. Only time by the host's own monotonic clock counts: neither a slow terminal nor a changed calendar makes a rate.
 * 2. There is no rate between different starts of a host, and none where a counter went back.
 */
import type { Counters, Report } from '../report/report.ts';
import { type LinkRates, linkRates, linksOf } from './links.ts';

/** Per second. */
interface MessageRates {
  readonly accepted: number;
  readonly handled: number;
  readonly failed: number;
  readonly dropped: number;
}

export interface Rates {
  /** By `counterKey`. */
  readonly messages: ReadonlyMap<string, MessageRates>;
  /** By `linkKey`. */
  readonly links: ReadonlyMap<string, LinkRates>;
  /** Of all links of the host; undefined if the reports do not say. */
  readonly allLinks: LinkRates | undefined;
}

export function counterKey({ surface, meshName = '', owner, verb }: Counters): string {
  return JSON.stringify([surface, meshName, owner, verb]);
}

function droppedCount({ dropped }: Counters): number {
  return [...dropped.values()].reduce((sum, count) => sum + count, 0);
}

/** Undefined if no time lies between them, or another start. */
export function ratesBetween(before: Report, after: Report): Rates | undefined {
  const elapsedMs = after.uptimeMs - before.uptimeMs;
  const isSameStart =
    before.pid === after.pid && before.snapshot.host.lifecycleGeneration === after.snapshot.host.lifecycleGeneration;
  if (!isSameStart || !(elapsedMs > 0)) return undefined; // 2
  const [from, to] = [before.snapshot.host.links, after.snapshot.host.links];
  return {
    messages: ratesByKey(countersOf(before), countersOf(after), (from, to) => messageRates(from, to, elapsedMs)),
    links: ratesByKey(linksOf(before), linksOf(after), (from, to) => linkRates(from.traffic, to.traffic, elapsedMs)),
    allLinks: from === undefined || to === undefined ? undefined : linkRates(from, to, elapsedMs),
  };
}

function countersOf({ counters }: Report): ReadonlyMap<string, Counters> {
  return new Map(counters.map((row) => [counterKey(row), row]));
}

/** Of what is in both. */
function ratesByKey<T, R>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  rateOf: (from: T, to: T) => R | undefined,
): ReadonlyMap<string, R> {
  const rates = new Map<string, R>();
  for (const [key, to] of after) {
    const from = before.get(key);
    const rate = from === undefined ? undefined : rateOf(from, to);
    if (rate !== undefined) rates.set(key, rate);
  }
  return rates;
}

function messageRates(from: Counters, to: Counters, elapsedMs: number): MessageRates | undefined {
  const perSecond = (count: number): number => (count * 1_000) / elapsedMs;
  const rates = {
    accepted: perSecond(to.accepted - from.accepted),
    handled: perSecond(to.handled - from.handled),
    failed: perSecond(to.failed - from.failed),
    dropped: perSecond(droppedCount(to) - droppedCount(from)),
  };
  return Object.values(rates).every((rate) => rate >= 0) ? rates : undefined; // 2
}
