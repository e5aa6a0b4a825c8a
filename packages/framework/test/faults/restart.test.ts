import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEndpoint } from '@zlink/kernel/identity';
import { MIN_WINDOW_BYTES, RECORD_COST_BYTES } from '@zlink/kernel/internal/wire';
import { loopTurns } from '@zlink/testing';
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
  readonly record = join(folder, 'handled');
  readonly #options: Omit<ServeOptions, 'port' | 'record'>;
  #standby: Server | undefined;
  #current: Server | undefined;
  endpoint = '';

  constructor(options: Omit<ServeOptions, 'port' | 'record'> = {}) {
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
    const port = parseEndpoint(this.endpoint)?.port ?? 0;
    this.endpoint = await this.current.ask('serve', { port, record: this.record, ...this.#options });
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

test('[CS-008] [C01] 10,000 messages while the server is restarted in order 20 times: each is handled or counted', async () => {
  const line = new ServerLine();
  await line.startNext();
  const { routeClient } = await startClient(line.endpoint);
  const sends = new CallLedger((id) => routeClient.sendToChannel(CHANNEL, Note({ id })).submit());
  const requests = new CallLedger((id) => routeClient.requestToChannel(CHANNEL, Echo({ id })).submit());
  const start = (count: number): void => {
    sends.start(count);
    requests.start(count);
  };
  const counters: MessageCounters[] = [];
  for (let restart = 0; restart < 20; restart++) {
    start(125);
    await requests.all(); // this round's server is in use
    await line.standBy();
    const stopping = line.stop();
    for (let left = 125; left > 0; left -= 5) {
      start(5); // some cross the drain, the others find no server
      if (!line.current.hasEnded) await loopTurns(20);
    }
    const stopped = await stopping;
    expect(stopped.outcome).toBe('stopped');
    counters.push(...stopped.counters);
    await line.startNext();
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
  expect(sends.counts()).toEqual({ ok: runs.sends.size + droppedCount });
  expect(Object.keys(requests.counts()).filter((kind) => kind !== 'ok' && kind !== 'Rejected')).toEqual([]);
  expect(requests.idsOf(isOk)).toEqual([...runs.requests.keys()].sort((a, b) => a - b));
}, 120_000);

test('[CALL-004] [C01] 2,500 messages while the server is killed 5 times: one end each, handled once, bounded loss', async () => {
  const jobs = 16;
  const line = new ServerLine({ budgetBytes: MIN_WINDOW_BYTES, jobs });
  await line.startNext();
  const { routeClient } = await startClient(line.endpoint);
  const text = 'x'.repeat(1_000);
  const sends = new CallLedger((id) => routeClient.sendToChannel(CHANNEL, Note({ id, text })).submit());
  const requests = new CallLedger((id) => routeClient.requestToChannel(CHANNEL, Echo({ id })).submit());
  const kills = 5;
  for (let kill = 0; kill < kills; kill++) {
    await requests.one(); // this round's server is in use
    await line.standBy();
    sends.start(150);
    requests.start(100);
    await requests.one();
    sends.start(150);
    requests.start(98);
    await line.current.kill();
    await line.startNext();
    await Promise.all([sends.all(), requests.all()]);
  }
  await line.stop();

  expect([sends.ends.size, requests.ends.size]).toEqual([1_500, 1_000]);
  const runs = { sends: line.handled('n'), requests: line.handled('e') };
  expect(unaccounted(runs.sends, sends)).toEqual([]);
  expect(unaccounted(runs.requests, requests)).toEqual([]);
  const isKnown = (kind: string): boolean => ['ok', 'DeadlineExceeded', 'Unavailable'].includes(kind);
  expect(Object.keys({ ...sends.counts(), ...requests.counts() }).filter((kind) => !isKnown(kind))).toEqual([]);
  expect(requests.idsOf(isOk).filter((id) => !runs.requests.has(id))).toEqual([]);
  // What was accepted and died with its server was in the server's window or waited there for its handler.
  const lost = sends.idsOf(isOk).filter((id) => !runs.sends.has(id));
  const inWindow = MIN_WINDOW_BYTES / (RECORD_COST_BYTES + text.length);
  expect(lost.length).toBeLessThanOrEqual(kills * (inWindow + jobs));
}, 120_000);
