/** What describing a host wrongly looks like, as builder calls and options; every line is one start that must fail. */
import type { PartPlan, PlainHostOptions } from '../../roles/plan.ts';
import { tokens } from '../../roles/plan.ts';

export interface Mistake {
  readonly what: string;
  readonly parts?: readonly PartPlan[];
  readonly options?: PlainHostOptions;
  /** Some mistakes are told by the builder call itself. */
  readonly says: RegExp;
}

const { packet, handler } = tokens;

export function chain(...steps: readonly (readonly unknown[])[]): PartPlan {
  return { role: 'chain', steps };
}

const server = (...more: readonly (readonly unknown[])[]): PartPlan =>
  chain(['addClientServerChannel', 'c'], ['server'], ['addRequestHandler', packet('ask'), handler], ...more);
const mesh = (...more: readonly (readonly unknown[])[]): PartPlan => chain(['addRouteMesh', 'm'], ...more);
const options = (given: object): PlainHostOptions => given; // wrong on purpose

/** HOSTREG-002, DISP-002 */
export const collisions: readonly Mistake[] = [
  { what: 'one MeshName twice', parts: [mesh(), mesh()], says: /"m"/ },
  { what: 'one ClientServer channel twice', parts: [server(), server()], says: /"c"/ },
  {
    what: 'a channel on two meshes',
    parts: [mesh(['channel', 'x'], ['client']), chain(['addRouteMesh', 'n'], ['channel', 'x'], ['client'])],
    says: /"x"/,
  },
  { what: 'a channel on a mesh and ClientServer', parts: [mesh(['channel', 'c'], ['client']), server()], says: /"c"/ },
  {
    what: 'a channel on ClientServer and fanout',
    parts: [server(), chain(['addFanoutChannel', 'c'], ['enablePublisher'])],
    says: /"c"/,
  },
  {
    what: 'a channel on a mesh and fanout',
    parts: [mesh(['channel', 'c'], ['client']), chain(['addFanoutChannel', 'c'], ['enablePublisher'])],
    says: /"c"/,
  },
  {
    what: 'an empty ChannelName',
    parts: [chain(['addClientServerChannel', ''], ['client'])],
    says: /1\.\.255|empty|""/,
  },
  { what: 'an empty MeshName', parts: [chain(['addRouteMesh', ''])], says: /1\.\.255|empty|""/ },
  { what: 'a MeshName with NUL', parts: [chain(['addRouteMesh', 'a\0b'])], says: /NUL/ },
  {
    what: 'a ChannelName of 256 bytes',
    parts: [chain(['addClientServerChannel', 'x'.repeat(256)], ['client'])],
    says: /255/,
  },
  {
    what: 'a role twice',
    parts: [chain(['addClientServerChannel', 'c'], ['client']), chain(['addClientServerChannel', 'c'], ['client'])],
    says: /"c"/,
  },
  {
    what: 'both roles of a channel on one node',
    parts: [mesh(['channel', 'x'], ['client']), mesh(['channel', 'x'], ['server'])],
    says: /"m"|"x"/,
  },
  { what: 'a handler twice', parts: [server(['addRequestHandler', packet('ask'), handler])], says: /conformance\.ask/ },
  {
    what: 'a direct handler twice',
    parts: [mesh(['addRouteSendHandler', packet('note'), handler], ['addRouteSendHandler', packet('note'), handler])],
    says: /conformance\.note/,
  },
  {
    what: 'the same fanout handler twice',
    parts: [
      chain(
        ['addFanoutChannel', 'f'],
        ['connect', 'tcp://127.0.0.1:7000'],
        ['addHandler', packet('tick'), handler],
        ['addHandler', packet('tick'), handler],
      ),
    ],
    says: /conformance\.tick/,
  },
];

/** HOSTREG-006 */
export const wrongHandlers: readonly Mistake[] = [
  {
    what: 'a server without handler',
    parts: [chain(['addClientServerChannel', 'c'], ['server'])],
    says: /"c".*handler/,
  },
  {
    what: 'a subscriber without handler',
    parts: [chain(['addFanoutChannel', 'f'], ['connect', 'tcp://127.0.0.1:7000'])],
    says: /"f".*handler/,
  },
  {
    what: 'a request handler for a one-way message',
    parts: [chain(['addClientServerChannel', 'c'], ['server'], ['addRequestHandler', packet('note'), handler])],
    says: /conformance\.note/,
  },
  {
    what: 'a fanout handler for a request',
    parts: [
      chain(['addFanoutChannel', 'f'], ['connect', 'tcp://127.0.0.1:7000'], ['addHandler', packet('ask'), handler]),
    ],
    says: /conformance\.ask/,
  },
];

/** HOSTREG-003, LOC-002, FAN-001 */
export const contradictions: readonly Mistake[] = [
  { what: 'weight -1', parts: [server(['setWeight', -1])], says: /0\.\.10000|0\.\.10_000/ },
  { what: 'weight 10001', parts: [server(['setWeight', 10_001])], says: /10001/ },
  { what: 'weight 1.5', parts: [server(['setWeight', 1.5])], says: /1\.5/ },
  {
    what: 'a weight on a mesh channel of 10001',
    parts: [mesh(['channel', 'x'], ['server'], ['setWeight', 10_001])],
    says: /10001/,
  },
  { what: 'maxMessageSize -1', parts: [server(['maxMessageSize', -1])], says: /-1/ },
  { what: 'concurrency 0', parts: [server(['concurrency', 0])], says: /concurrency/ },
  { what: 'a server port of 65536', parts: [server(['listen', 65_536])], says: /65536|65_535|65535/ },
  { what: 'a malformed bind host', parts: [server(['setBindHost', 'tcp://x'])], says: /tcp:\/\/x/ },
  { what: 'a wildcard that is advertised', parts: [server(['setAdvertiseHost', '*'])], says: /\*/ },
  { what: 'a wildcard bind without advertise host', parts: [server(['setBindHost', '0.0.0.0'])], says: /advertise/i },
  {
    what: 'a client without server, store or endpoint',
    parts: [chain(['addClientServerChannel', 'c'], ['client'])],
    says: /"c"/,
  },
  {
    what: 'a malformed endpoint',
    parts: [chain(['addClientServerChannel', 'c'], ['client'], ['connect', 'nonsense'])],
    says: /nonsense/,
  },
  {
    what: 'an endpoint with port 0',
    parts: [chain(['addClientServerChannel', 'c'], ['client'], ['connect', 'tcp://127.0.0.1:0'])],
    says: /127\.0\.0\.1:0/,
  },
  {
    what: 'an endpoint with a wildcard',
    parts: [chain(['addClientServerChannel', 'c'], ['client'], ['connect', 'tcp://*:7000'])],
    says: /\*:7000/,
  },
  {
    what: 'a send timeout of 0',
    parts: [
      chain(['addClientServerChannel', 'c'], ['client'], ['connect', 'tcp://127.0.0.1:7000'], ['setSendTimeoutMs', 0]),
    ],
    says: /2147483647|2_147_483_647/,
  },
  { what: 'a mesh request timeout of 2^31', parts: [mesh(['setRequestTimeoutMs', 2_147_483_648])], says: /2147483648/ },
  { what: 'an empty RID', parts: [mesh(['routingId', ''])], says: /rid|routing/i },
  { what: 'a RID of 256 bytes', parts: [mesh(['routingId', 'x'.repeat(256)])], says: /255/ },
  { what: 'a RID with NUL', parts: [mesh(['routingId', 'a\0b'])], says: /NUL/ },
  { what: 'a RID prefix with a blank', parts: [mesh(['setRoutingIdPrefix', 'a b'])], says: /A-Za-z0-9/ },
  { what: 'a RID prefix of 65', parts: [mesh(['setRoutingIdPrefix', 'x'.repeat(65)])], says: /64/ },
  {
    what: 'an expected RID of none',
    parts: [mesh(['connect', '', 'tcp://127.0.0.1:7000'])],
    says: /rid|routing|1\.\.255/i,
  },
  { what: 'a malformed mesh endpoint', parts: [mesh(['listen', 'tcp://nonsense'])], says: /nonsense/ },
  {
    what: 'a subscriber that finds and dials',
    parts: [
      chain(
        ['addFanoutChannel', 'f'],
        ['enableSubscriber'],
        ['connect', 'tcp://127.0.0.1:7000'],
        ['addHandler', packet('tick'), handler],
      ),
    ],
    says: /"f"/,
  },
  {
    what: 'discovery without a store',
    parts: [chain(['addFanoutChannel', 'f'], ['enableSubscriber'], ['addHandler', packet('tick'), handler])],
    says: /store/i,
  },
  {
    what: 'an allocated publisher RID without a store',
    parts: [chain(['addFanoutChannel', 'f'], ['enablePublisher'], ['setRoutingIdPrefix', 'p'])],
    says: /store/i,
  },
  { what: 'a request timeout of 0', options: { requestTimeoutMs: 0 }, says: /requestTimeoutMs/ },
  { what: 'a send timeout that is no integer', options: { sendTimeoutMs: 1.5 }, says: /sendTimeoutMs/ },
  { what: 'a deadline of 0', options: { shutdownDeadlineMs: 0 }, says: /shutdownDeadlineMs/ },
  { what: 'a name that is no option', options: options({ requestTimeout: 5 }), says: /requestTimeout/ },
  { what: 'a wildcard advertise host', options: { network: { advertiseHost: '0.0.0.0' } }, says: /advertiseHost/ },
  {
    what: 'half of a CURVE key pair',
    options: options({ security: { publicKey: 'x' } }),
    says: /security|publicKey|secretKey/,
  },
  { what: 'applicationVersion 0', options: { applicationVersion: 0n }, says: /applicationVersion/ },
  { what: 'an empty maintenanceWave', options: { maintenanceWave: '' }, says: /maintenanceWave/ },
];

/** JOBQ-001 */
export const wrongQueues: readonly Mistake[] = [
  { maxQueuedApplicationJobs: 0 },
  { maxQueuedApplicationJobs: 2_147_483_648 },
  { pauseThresholdPercent: 0 },
  { pauseThresholdPercent: 101 },
  { resumeThresholdPercent: 100 },
  { pauseThresholdPercent: 60, resumeThresholdPercent: 60 },
  { coreHwmBudgetBytes: 0 },
  { coreHwmMemoryLimitBytes: 0 },
  { coreHwmMemoryLimitBytes: Number.MAX_SAFE_INTEGER },
  { coreHwmProfile: 'huge' },
  { applicationJobQueueProfile: 'huge' },
].map((inboundDispatch) => ({
  what: JSON.stringify(inboundDispatch),
  options: options({ inboundDispatch }),
  says: new RegExp(Object.keys(inboundDispatch).join('|')),
}));

/** HOST-009, HOST-010 */
export const wrongLocation: readonly Mistake[] = [
  { ownerLeaseTtlMs: 0 },
  { ownerLeaseRenewIntervalMs: 2_147_483_648 },
  { ownerLeaseRenewTimeoutMs: 1.5 },
  {
    ownerLeaseTtlMs: 10_000,
    ownerLeaseRenewIntervalMs: 5_000,
    ownerLeaseRenewTimeoutMs: 3_000,
    ownerLeaseFencingMarginMs: 2_000,
  },
  { pollingIntervalMs: 0 },
  { storeFailureGraceMs: 0 },
  { routeCacheMaxAgeMs: -1 },
  { routeCacheMaxAgeMs: 26_000 },
  { messageFollowDurationMs: 19_999 },
  { sessionRelocationSealTimeoutMs: 0 },
  { relocationCutoverWaitTimeoutMs: 0 },
  { relocationPayloadChunkLimitBytes: 0 },
  { relocationInFlightPayloadBudgetBytes: 1_000 },
  { relocationNodeInFlightPayloadBudgetBytes: 1_000 },
  { maxActiveOutboundRelocations: 0 },
  { maxActiveInboundRelocations: 0 },
  { maxConcurrentRelocationCaptures: 0 },
  { maxConcurrentRelocationRestores: 0 },
  { maxRelocationPayloadInFlightBytes: 0 },
].map((location) => ({
  what: JSON.stringify(location),
  options: { location },
  says: /location|ownerLease|routeCache|messageFollow|relocation/i,
}));
