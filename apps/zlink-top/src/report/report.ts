/**
 * What a host sends, a line each: a report whenever one is due, and what else ends a connection.
 *
 * Owns the lines in both directions. Leaves when they are sent to the inspector.
 *
 * 1. `bigint` is written as decimal text, a date in ISO 8601.
 * 2. Every line says its version and kind; unknown fields are left out, another version is refused.
 * 3. What is read can be written again: a line that nests deeper than that is refused, in unknown fields as well.
 */
import { LINE_DEPTH, PROTOCOL, REASON_LENGTH } from './limits.ts';
import { date, flag, integer, isDeeper, list, Misfit, number, optional, record, shape, text, textOf } from './shape.ts';

const linkState = { state: text, reason: optional(text) };

const topology = { state: text, reasons: list(text) };

const totals = {
  sentMessages: number,
  sentBytes: number,
  receivedMessages: number,
  receivedBytes: number,
};

const traffic = shape({
  ...totals,
  outstandingBytes: number,
  windowBytes: number,
  waitingMessages: number,
});

const peer = shape({
  ...linkState,
  endpoint: text,
  routingId: optional(text),
  channels: list(shape({ name: text, weight: number })),
  draining: flag,
  source: text,
  traffic: optional(traffic),
});

const mesh = shape({
  ...topology,
  meshName: text,
  nodeRid: text,
  peers: list(peer),
  channels: list(
    shape({ channelName: text, role: text, weight: optional(number), readyMembers: number, members: list(shape({})) }),
  ),
});

const server = shape({
  ...linkState,
  endpoint: text,
  serverRid: optional(text),
  weight: number,
  draining: flag,
  local: flag,
  traffic: optional(traffic),
});

const publisher = shape({
  ...linkState,
  endpoint: text,
  publisherRid: optional(text),
  intent: text,
  missedEvents: number,
});

const host = shape({
  state: text,
  lifecycleGeneration: integer,
  deadline: optional(date),
  jobs: shape({ permitsInUse: number, max: number, reserved: number, queued: number, flow: text }),
  core: shape({ budgetBytes: number, queuedBytes: number }),
  links: optional(shape({ open: number, ...totals })),
  backlog: shape({ runningHandlers: number, pendingRequests: number, unitsLeft: number }),
});

const snapshot = shape({
  sequence: integer,
  observedAt: date,
  host,
  routeMeshes: list(mesh),
  clientServerChannels: list(shape({ ...topology, channelName: text, role: text, servers: list(server) })),
  fanoutChannels: list(shape({ ...topology, channelName: text, publishers: list(publisher) })),
  location: shape({ store: text, leaseValidUntil: optional(date) }),
});

const counters = shape({
  owner: text,
  surface: text,
  meshName: optional(text),
  verb: text,
  accepted: number,
  handled: number,
  failed: number,
  dropped: record(number),
  running: number,
  queued: number,
});

const report = shape({
  pid: number,
  name: text,
  /** Since the host started its inspector; of a clock that never jumps, so that rates can be taken from it. */
  uptimeMs: number,
  snapshot,
  counters: list(counters),
  listeners: list(shape({ kind: text, name: text, endpoint: text })),
});

export type Report = ReturnType<typeof report>;
export type Counters = ReturnType<typeof counters>;
export type HostReport = ReturnType<typeof host>;
export type MeshReport = ReturnType<typeof mesh>;
export type Traffic = ReturnType<typeof traffic>;

/** What one line says. */
export type HostLine =
  | { readonly kind: 'report'; readonly report: Report; readonly raw: object }
  /** The host stops its inspector, and itself. */
  | { readonly kind: 'end' }
  | { readonly kind: 'refused'; readonly reason: string };

const head = shape({ zlink: number, kind: text });
const refusal = shape({ reason: textOf(REASON_LENGTH) });

/** @throws Misfit that says what is wrong with the line */
export function readHostLine(line: string): HostLine {
  const value = parse(line);
  if (isDeeper(value, LINE_DEPTH)) throw new Misfit(`it nests deeper than ${LINE_DEPTH} levels`); // 3
  const { zlink, kind } = head(value, 'line');
  if (zlink !== PROTOCOL) throw new Misfit(`it speaks version ${zlink}, this program version ${PROTOCOL}`);
  switch (kind) {
    case 'report':
      return { kind, report: report(value, 'report'), raw: value as object }; // `head` has found an object
    case 'end':
      return { kind };
    case 'refused':
      return { kind, reason: refusal(value, 'line').reason };
    default:
      throw new Misfit(`line.kind is not known`);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Misfit('it sends what is no JSON');
  }
}

export function hostLine(kind: HostLine['kind'], fields: object = {}): string {
  return `${JSON.stringify({ zlink: PROTOCOL, kind, ...fields }, writeInteger)}\n`;
}

function writeInteger(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value; // 1; dates have a toJSON of their own
}
