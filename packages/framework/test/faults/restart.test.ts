import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIN_WINDOW_BYTES, RECORD_COST_BYTES } from '@zlink/kernel/internal/wire';
import { loopTurns } from '@zlink/testing';
import { quietPort } from '@zlink/testing/internal';
import type { Host, MessageCounters } from '../../src/index.ts';
import { type CallEnd, CallLedger } from '../fixtures/fault-call-ledger.ts';
import type { RestartServer, ServeOptions, Stopped } from '../fixtures/fault-restart-server.ts';
import { CHANNEL, Echo, Note } from '../fixtures/fault-packets.ts';
import { makeHost } from '../hosts.ts';
import { endChildren, type FaultChild, startChild } from './fault-child.ts';

type Server = FaultChild<RestartServer>;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zlink-restart-'));
});
afterEach(async () => {
  await endChildren();
  rmSync(folder, { recursive: true });
});

/** One server after the other on one port. */
class ServerLine {
  readonly #port: number;
  readonly record = join(folder, 'handled');
  readonly #options: Omit<ServeOptions, 'port' | 'record'>;
  #standby: Server | undefined;
  #current: Server | undefined;
  endpoint = '';

  constructor(port: number, options: Omit<ServeOptions, 'port' | 'record'> = {}) {
    this.#port = port;
    this.#options = options;
    writeFileSync(this.record, '');
  }

  get current(): Server {
    if (this.#current === undefined) throw new Error('no server was started');
    return this.#current;
  }

  async startNext(): Promise<void> {
    await this.standBy();
    this.#current = this.#standby;
    this.#standby = undefined;
    this.endpoint = await this.current.ask('serve', { port: this.#port, record: this.record, ...this.#options });
  }

  /** Resolves when the process has ended by itself. */
  async stop(): Promise<Stopped> {
    this.current.signal('SIGTERM');
    const stopped = (await this.current.next('stopped')) as Stopped; // told by the fixture under that name
    expect(await this.current.ended).toEqual({ code: 0, signal: null });
    return stopped;
  }

  /** Has the next server ready, so that the channel is not without one for long. */
  async standBy(): Promise<void> {
    this.#standby ??= await startChild<RestartServer>('restart-server');
  }

  /** How often the handler of each message has run. */
  handled(packet: 'e' | 'n'): Map<number, number> {
    const runs = new Map<number, number>();
    for (const line of readFileSync(this.record, 'utf8').split('\n')) {
      if (!line.startsWith(packet)) continue;
      const id = Number(line.slice(1));
      runs.set(id, (runs.get(id) ?? 0) + 1);
    }
    return runs;
  }
}

async function startClient(endpoint: string): Promise<Host> {
  const host = makeHost();
  host.addClientServerChannel(CHANNEL).client().connect(endpoint);
  await host.start();
  return host;
}

const isOk = ({ kind }: CallEnd): boolean => kind === 'ok';
/** So long calls wait for a server. */
const WAIT_MS = 5_000;

/** How long a client was without a server, at most: on a busy machine the next one may be too late for calls that wait. */
class Gaps {
  readonly #client: Host;
  #longestMs = 0;

  constructor(client: Host) {
    this.#client = client;
  }

  /** Resolves when the client has a server. */
  async closes(openedAtMs: number): Promise<void> {
    await this.#client.clientServerChannel(CHANNEL).whenReady(1);
    this.#longestMs = Math.max(this.#longestMs, performance.now() - openedAtMs);
  }

  /** Whether a call may have ended so as it has waited in vain. */
  explain({ kind, text }: CallEnd): boolean {
    return this.#longestMs >= WAIT_MS && kind === 'NotFound' && text.includes(`for ${WAIT_MS} ms`);
  }
}

/** Runs of handlers that no call accounts for. */
function unaccounted(runs: ReadonlyMap<number, number>, ledger: CallLedger): string[] {
  const wrong: string[] = [];
  for (const [id, count] of runs) {
    const end = ledger.ends.get(id);
    if (count > 1) wrong.push(`${id} was handled ${count} times`);
    if (end === undefined) wrong.push(`${id} was handled and never ended`);
    else if (!end.submitted) wrong.push(`${id} was handled, its caller was told it had not left: ${end.text}`);
  }
  return wrong;
}

/** Of each round so many calls have a server, and then so many cross its drain or find none. */
const CALM = 125;
const CROSSING = 125;

/** Calls that have not gone well, apart from those that cross a drain and end as they may then. */
function failed({ ends }: CallLedger, mayEndSo: (end: CallEnd) => boolean): [id: number, end: CallEnd][] {
  const crosses = (id: number): boolean => (id - 1) % (CALM + CROSSING) >= CALM;
  return [...ends].filter(([id, end]) => !isOk(end) && !(crosses(id) && mayEndSo(end)));
}

test('[CS-008] [C01] 10,000 messages while the server is restarted in order 20 times: each is handled or counted', async () => {
  const line = new ServerLine(await quietPort());
  await line.startNext();
  const client = await startClient(line.endpoint);
  const { routeClient } = client;
  const sends = new CallLedger((id) => routeClient.sendToChannel(CHANNEL, Note({ id })).submit());
  const requests = new CallLedger((id) => routeClient.requestToChannel(CHANNEL, Echo({ id })).submit());
  const start = (count: number): void => {
    sends.start(count);
    requests.start(count);
  };
  const counters: MessageCounters[] = [];
  const gaps = new Gaps(client);
  await client.clientServerChannel(CHANNEL).whenReady(1);
  for (let restart = 0; restart < 20; restart++) {
    start(CALM);
    await Promise.all([sends.all(), requests.all()]); // this round's server is in use
    await line.standBy();
    const stoppedAtMs = performance.now();
    const stopping = line.stop();
    for (let left = CROSSING; left > 0; left -= 5) {
      start(5); // some cross the drain, the others find no server
      if (!line.current.hasEnded) await loopTurns(20);
    }
    const stopped = await stopping;
    expect(stopped.outcome).toBe('stopped');
    counters.push(...stopped.counters);
    await line.startNext();
    await gaps.closes(stoppedAtMs);
    await Promise.all([sends.all(), requests.all()]);
  }
  counters.push(...(await line.stop()).counters);

  expect([sends.ends.size, requests.ends.size]).toEqual([5_000, 5_000]);
  const runs = { sends: line.handled('n'), requests: line.handled('e') };
  expect(unaccounted(runs.sends, sends)).toEqual([]);
  expect(unaccounted(runs.requests, requests)).toEqual([]);
  // A send that crosses the drain is dropped, and the server says so; nothing else is ever missing.
  const dropped = counters.filter(({ verb }) => verb === 'send').map((one) => one.dropped['shutdown'] ?? 0);
  const droppedCount = dropped.reduce((sum, count) => sum + count, 0);
  expect(sends.counts()['ok']).toBe(runs.sends.size + droppedCount);
  expect(failed(sends, (end) => gaps.explain(end))).toEqual([]);
  expect(failed(requests, (end) => end.kind === 'Rejected' || gaps.explain(end))).toEqual([]);
  expect(requests.idsOf(isOk)).toEqual([...runs.requests.keys()].sort((a, b) => a - b));
}, 300_000);

test('[CALL-004] [C01] 2,500 messages while the server is killed 5 times: one end each, handled once, bounded loss', async () => {
  const jobs = 16;
  const line = new ServerLine(await quietPort(), { budgetBytes: MIN_WINDOW_BYTES, jobs });
  await line.startNext();
  const client = await startClient(line.endpoint);
  const { routeClient } = client;
  const text = 'x'.repeat(1_000);
  const sends = new CallLedger((id) => routeClient.sendToChannel(CHANNEL, Note({ id, text })).submit());
  const requests = new CallLedger((id) => routeClient.requestToChannel(CHANNEL, Echo({ id })).submit());
  const kills = 5;
  const gaps = new Gaps(client);
  await client.clientServerChannel(CHANNEL).whenReady(1);
  for (let kill = 0; kill < kills; kill++) {
    await requests.one(); // this round's server is in use
    await line.standBy();
    sends.start(150);
    requests.start(100);
    await requests.one();
    sends.start(150);
    requests.start(98);
    const killedAtMs = performance.now();
    await line.current.kill();
    await line.startNext();
    await gaps.closes(killedAtMs);
    await Promise.all([sends.all(), requests.all()]);
  }
  await line.stop();

  expect([sends.ends.size, requests.ends.size]).toEqual([1_500, 1_000]);
  const runs = { sends: line.handled('n'), requests: line.handled('e') };
  expect(unaccounted(runs.sends, sends)).toEqual([]);
  expect(unaccounted(runs.requests, requests)).toEqual([]);
  const isKnown = (end: CallEnd): boolean =>
    ['ok', 'DeadlineExceeded', 'Unavailable'].includes(end.kind) || gaps.explain(end);
  expect([...sends.ends.values(), ...requests.ends.values()].filter((end) => !isKnown(end))).toEqual([]);
  expect(requests.idsOf(isOk).filter((id) => !runs.requests.has(id))).toEqual([]);
  // What was accepted and died with its server was in the server's window or waited there for its handler.
  const lost = sends.idsOf(isOk).filter((id) => !runs.sends.has(id));
  const inWindow = MIN_WINDOW_BYTES / (RECORD_COST_BYTES + text.length);
  expect(lost.length).toBeLessThanOrEqual(kills * (inWindow + jobs));
}, 300_000);
