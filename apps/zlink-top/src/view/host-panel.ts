/**
 * One host as lines.
 *
 * Owns what of a report is shown and in which order. Leaves width and colour to the view.
 *
 * 1. What needs attention comes first among its like, in case the terminal has no room for the rest.
 */
import type { HostReport, MeshReport, Report, Traffic } from '../report/report.ts';
import type { HostView } from '../watch/host-watch.ts';
import { linkKey, type LinkRates } from '../watch/links.ts';
import { counterKey, type Rates } from '../watch/rates.ts';
import { byteRate, bytes, count, duration, rate, timeOfDay } from './figures.ts';
import { type Cell, cell, type Line, numberCell, span, table, type Tone } from './line.ts';

/** Without a report for so many intervals, and at least as long, a host is called silent. */
const SILENT_INTERVALS = 3;
const SILENT_MS = 2_000;

const GOOD = new Set(['serving', 'ready', 'RUNNING']);
const BAD = new Set(['error', 'failed', 'rejected', 'closed', 'PAUSED']);
const CALM = new Set(['stopped', 'notRequired', 'not_configured']);

function toneOf(state: string): Tone {
  if (GOOD.has(state)) return 'good';
  if (BAD.has(state)) return 'bad';
  return CALM.has(state) ? 'dim' : 'warning';
}

const word = (state: string) => span(state.replaceAll('_', ' '), toneOf(state));

export interface Moment {
  readonly nowMs: number;
  readonly intervalMs: number;
}

export function hostPanel(view: HostView, moment: Moment): readonly Line[] {
  switch (view.kind) {
    case 'connecting':
      return [[span(view.path, 'title'), span('  no answer yet', 'warning')]];
    case 'failed':
      return [[span(view.path, 'title'), span(`  ${view.reason}`, 'bad')]];
    case 'ended':
      return [[...nameOf(view.report, view.path), span('  ended', 'dim')]];
    case 'lost':
      return [[...nameOf(view.report, view.path), span('  ended without a word: killed, or crashed', 'bad')]];
    case 'live':
      return [
        [...headOf(view.report), ...silenceOf(moment.nowMs - view.receivedAtMs, moment.intervalMs)],
        ...statusLines(view.report),
        ...linksLine(view.report, view.rates),
        ...messageLines(view.report, view.rates),
        ...topologyLines(view.report, view.rates),
      ];
  }
}

function nameOf(report: Report | undefined, path: string): Line {
  if (report === undefined) return [span(path, 'title')];
  return [span(report.name, 'title'), span(`  pid ${report.pid}`)];
}

function headOf(report: Report): Line {
  const { host, observedAt } = report.snapshot;
  const { state, lifecycleGeneration, deadline } = host;
  const left = deadline === undefined ? '' : ` for ${duration(deadline.getTime() - observedAt.getTime())} at most`;
  return [
    ...nameOf(report, ''),
    span('  '),
    word(state),
    span(left),
    span(`  up ${duration(report.uptimeMs)}`),
    span(`  generation ${lifecycleGeneration}`, 'dim'),
  ];
}

function silenceOf(ageMs: number, intervalMs: number): Line {
  if (ageMs < Math.max(SILENT_MS, SILENT_INTERVALS * intervalMs)) return [];
  return [span(`  silent for ${duration(ageMs)}`, 'bad')];
}

function statusLines({ snapshot, listeners }: Report): readonly Line[] {
  const { host, location } = snapshot;
  const { leaseValidUntil } = location;
  const lease = leaseValidUntil === undefined ? '' : `  lease until ${timeOfDay(leaseValidUntil)}`;
  return [
    jobsLine(host),
    labelled('memory', [span(`${bytes(host.core.queuedBytes)} of ${bytes(host.core.budgetBytes)} wait in links`)]),
    labelled('store', [word(location.store), span(lease)]),
    ...listeners.map(({ kind, name, endpoint }) =>
      labelled('listens', [span(`${endpoint}  ${kind.toLowerCase().replaceAll('_', ' ')} ${name}`)]),
    ),
  ];
}

function jobsLine({ jobs, backlog }: HostReport): Line {
  const { permitsInUse, max, reserved, queued, flow } = jobs;
  const left = backlog.unitsLeft > 0 ? `  units left ${count(backlog.unitsLeft)}` : '';
  return labelled('jobs', [
    span(`${count(permitsInUse)} of ${count(max)} permits  `),
    word(flow),
    span(`  queued ${count(queued)}  reserved ${count(reserved)}  handlers ${count(backlog.runningHandlers)}`),
    span(`  own requests ${count(backlog.pendingRequests)}${left}`),
  ]);
}

function labelled(label: string, spans: Line): Line {
  return [span(`  ${label.padEnd(9)}`, 'dim'), ...spans];
}

/** All links together; nothing of an inspector that does not say, as its rows are not all links. */
function linksLine({ snapshot }: Report, rates: Rates | undefined): readonly Line[] {
  const { links } = snapshot.host;
  if (links === undefined) return [];
  const [line = []] = table([[cell(`${count(links.open)} open`), ...rateCells(rates?.allLinks)]], 0);
  return [labelled('links', line)];
}

function rateCells(rates: LinkRates | undefined): readonly Cell[] {
  return [
    numberCell(`${rate(rates?.sentMessages)} out/s`),
    numberCell(byteRate(rates?.sentBytes)),
    numberCell(`${rate(rates?.receivedMessages)} in/s`),
    numberCell(byteRate(rates?.receivedBytes)),
  ];
}

const COLUMNS = ['in/s', 'handled/s', 'failed/s', 'dropped/s', 'running', 'queued'];

function messageLines({ counters }: Report, rates: Rates | undefined): readonly Line[] {
  const used = counters.filter(({ accepted }) => accepted > 0);
  if (used.length === 0) return [];
  const rows = used.map((row): readonly Cell[] => {
    const { owner, surface, meshName, verb, dropped, failed, running, queued } = row;
    const perSecond = rates?.messages.get(counterKey(row));
    const place = `${meshName === undefined || meshName === owner ? '' : `${meshName}/`}${owner} ${verb}`;
    return [
      cell(place),
      numberCell(rate(perSecond?.accepted)),
      numberCell(rate(perSecond?.handled)),
      numberCell(rate(perSecond?.failed), (perSecond?.failed ?? 0) > 0 ? 'bad' : 'plain'),
      numberCell(rate(perSecond?.dropped), (perSecond?.dropped ?? 0) > 0 ? 'bad' : 'plain'),
      numberCell(count(running)),
      numberCell(count(queued)),
      cell(surface.replaceAll('_', ' '), 'dim'),
      cell(totalsOf(failed, dropped), 'warning'),
    ];
  });
  const head = [cell('messages', 'dim'), ...COLUMNS.map((column) => numberCell(column, 'dim'))];
  return table([head, ...rows], 2);
}

/** What went wrong since the start, by reason. */
function totalsOf(failed: number, dropped: ReadonlyMap<string, number>): string {
  const reasons = [...dropped].map(([reason, times]) => `${reason} ${count(times)}`);
  const parts = [...(failed > 0 ? [`failed ${count(failed)}`] : []), ...reasons];
  return parts.length === 0 ? '' : `so far: ${parts.join(', ')}`;
}

function topologyLines({ snapshot }: Report, rates: Rates | undefined): readonly Line[] {
  const { routeMeshes, clientServerChannels, fanoutChannels } = snapshot;
  return [
    ...routeMeshes.flatMap((mesh) => meshLines(mesh, rates)),
    ...clientServerChannels.flatMap(({ channelName, role, servers, ...status }) => [
      topologyLine(`channel ${channelName}`, role.replaceAll('_', ' '), status),
      ...endRows(
        servers.map(({ weight, local, serverRid, ...end }) => ({
          ...end,
          rid: serverRid,
          rates: rates?.links.get(linkKey({ ...end, topology: 'channel', name: channelName, rid: serverRid })),
          notes: [`weight ${count(weight)}`, ...(local ? ['local'] : [])],
        })),
        'server',
      ),
    ]),
    ...fanoutChannels.flatMap(({ channelName, publishers, ...status }) => [
      topologyLine(`fanout ${channelName}`, 'subscriber', status),
      ...endRows(
        publishers.map(({ missedEvents, publisherRid, intent, ...end }) => ({
          ...end,
          rid: publisherRid,
          draining: false,
          traffic: undefined,
          rates: undefined,
          notes: [`missed ${count(missedEvents)}`, ...(intent === 'open' ? [] : [intent])],
        })),
        'publisher',
      ),
    ]),
  ];
}

function meshLines(
  { meshName, nodeRid, peers, channels, ...status }: MeshReport,
  rates: Rates | undefined,
): readonly Line[] {
  const ofChannels = channels.map(({ channelName, role, weight, readyMembers, members }): Line => {
    const own = weight === undefined ? '' : `  weight ${count(weight)}`;
    const ready = span(
      `${count(readyMembers)} of ${count(members.length)} ready`,
      readyMembers > 0 ? 'plain' : 'warning',
    );
    return [span('    channel ', 'dim'), span(`${channelName}  ${role.replaceAll('_', ' ')}${own}  members `), ready];
  });
  const ends = peers.map(({ routingId, source, channels: served, ...end }) => ({
    ...end,
    rid: routingId,
    rates: rates?.links.get(linkKey({ ...end, topology: 'mesh', name: meshName, rid: routingId })),
    notes: [source, ...served.map(({ name, weight }) => `${name} ${count(weight)}`)],
  }));
  return [topologyLine(`mesh ${meshName}`, `node ${nodeRid}`, status), ...ofChannels, ...endRows(ends, 'peer')];
}

function topologyLine(title: string, role: string, status: { state: string; reasons: readonly string[] }): Line {
  const { state, reasons } = status;
  const why = reasons.length === 0 ? '' : `: ${reasons.join(', ')}`;
  return [span(`  ${title}`, 'title'), span(`  ${role}  `), word(state), span(why, 'warning')];
}

/** The other end of a link. */
interface End {
  readonly endpoint: string;
  readonly rid: string | undefined;
  readonly state: string;
  readonly reason: string | undefined;
  readonly draining: boolean;
  /** Undefined without a link. */
  readonly traffic: Traffic | undefined;
  /** Undefined before the second report of the link. */
  readonly rates: LinkRates | undefined;
  readonly notes: readonly string[];
}

function endRows(ends: readonly End[], what: string): readonly Line[] {
  const needsAttention = ({ state, draining }: End): boolean => toneOf(state) !== 'good' || draining;
  const sorted = [...ends.filter(needsAttention), ...ends.filter((end) => !needsAttention(end))]; // 1
  const traffic = trafficLines(sorted);
  const rows = sorted.map((end) => {
    const { endpoint, rid = '-', state, notes } = end;
    return [
      cell(what, 'dim'),
      cell(endpoint),
      cell(state, toneOf(state)),
      // One column: an end without a link has a reason, one with a link seldom.
      { spans: [...troubleOf(end), ...(traffic.get(end) ?? [])], isNumber: false },
      cell(notes.join(', ')),
      cell(rid, 'dim'),
    ];
  });
  return table(rows, 4);
}

function troubleOf({ draining, reason, traffic }: End): Line {
  const text = [...(draining ? ['draining'] : []), ...(reason === undefined ? [] : [reason])].join(', ');
  return [span(text, 'warning'), span(text !== '' && traffic !== undefined ? '  ' : '')];
}

/** Below each other like a table of their own. */
function trafficLines(ends: readonly End[]): ReadonlyMap<End, Line> {
  const linked = ends.filter(({ traffic }) => traffic !== undefined);
  const lines = table(
    linked.map(({ traffic, rates }) => [...rateCells(rates), ...(traffic === undefined ? [] : [windowCell(traffic)])]),
    0,
  );
  return new Map(linked.map((end, at) => [end, lines[at]?.slice(0, -1) ?? []])); // without the gap behind the last cell
}

function windowCell({ outstandingBytes, windowBytes, waitingMessages }: Traffic): Cell {
  const wait = waitingMessages > 0 ? `, ${count(waitingMessages)} wait` : '';
  const spans = [span(`window ${bytes(outstandingBytes)} of ${bytes(windowBytes)}`), span(wait, 'warning')];
  return { spans, isNumber: false };
}
