/**
 * The links that a report shows, and what has gone over each, and over all of the host, per second.
 *
 * Owns which rows are of one link. Leaves time to the rates, and layout to the view.
 *
 * 1. A node that was configured with several addresses has several rows and one link, which counts once.
 * 2. Totals that went back are of another link, which has no rate yet. One that has overtaken the former one within a look
 *    cannot be told from it.
 * 3. An inspector of before there was traffic shows none. Links without a row, those of a server to its clients, are in the
 *    totals of the host only: rows are no substitute for these.
 */
import type { Report, Traffic } from '../report/report.ts';

export interface ShownLink {
  readonly topology: 'mesh' | 'channel';
  readonly name: string;
  readonly endpoint: string;
  readonly rid: string | undefined;
  readonly traffic: Traffic;
}

type LinkTotals = Pick<Traffic, 'sentMessages' | 'sentBytes' | 'receivedMessages' | 'receivedBytes'>;

/** Per second. */
export type LinkRates = LinkTotals;

export function linkKey({ topology, name, endpoint, rid = endpoint }: Omit<ShownLink, 'traffic'>): string {
  return JSON.stringify([topology, name, rid]);
}

/** By `linkKey` (1). */
export function linksOf({ snapshot }: Report): ReadonlyMap<string, ShownLink> {
  const links = new Map<string, ShownLink>();
  const note = (end: Omit<ShownLink, 'traffic'>, traffic: Traffic | undefined): void => {
    if (traffic !== undefined) links.set(linkKey(end), { ...end, traffic }); // 3
  };
  for (const { meshName: name, peers } of snapshot.routeMeshes) {
    for (const { endpoint, routingId: rid, traffic } of peers) note({ topology: 'mesh', name, endpoint, rid }, traffic);
  }
  for (const { channelName: name, servers } of snapshot.clientServerChannels) {
    for (const { endpoint, serverRid: rid, traffic } of servers) {
      note({ topology: 'channel', name, endpoint, rid }, traffic);
    }
  }
  return links;
}

/** Undefined: these are two links (2). */
export function linkRates(from: LinkTotals, to: LinkTotals, elapsedMs: number): LinkRates | undefined {
  const perSecond = (total: keyof LinkTotals): number => ((to[total] - from[total]) * 1_000) / elapsedMs;
  const rates = {
    sentMessages: perSecond('sentMessages'),
    sentBytes: perSecond('sentBytes'),
    receivedMessages: perSecond('receivedMessages'),
    receivedBytes: perSecond('receivedBytes'),
  };
  return Object.values(rates).every((rate) => rate >= 0) ? rates : undefined;
}
