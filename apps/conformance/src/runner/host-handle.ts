/**
 * A host somewhere, as scenarios see it.
 *
 * Owns the names by which it is asked. Leaves the process to `RoleProcess`.
 */
import assert from 'node:assert/strict';
import type {
  MessageCounters,
  MonitoringEvent,
  PeerStatus,
  PublisherStatus,
  RuntimeSnapshot,
  ServerStatus,
} from '@zlink/framework';
import type { Command, CommandArgs, CommandResult } from '../roles/commands.ts';
import type { HostFacts } from '../roles/host-facts.ts';
import type { CallEnd, CallPlan, ErrorFacts, HostPlan, JournalEntry, ReplyFacts } from '../roles/plan.ts';
import type { ProbeArgs, ProbeName, ProbeResult } from '../roles/probes.ts';
import type { LogFacts } from '../roles/protocol.ts';
import type { ShutdownEnd, StartEnd } from '../roles/role-host.ts';
import { waitLimitMs } from '../wait-limit.ts';
import { eventually } from './eventually.ts';
import type { RoleProcess } from './role-process.ts';

/** A call that goes on. */
export interface BegunCall {
  readonly end: Promise<CallEnd>;
  abort(): Promise<void>;
}

let begun = 0;

export class HostHandle {
  readonly name: string;
  readonly plan: HostPlan;
  readonly process: RoleProcess;
  #facts: HostFacts | undefined;

  constructor(plan: HostPlan, process: RoleProcess) {
    this.name = plan.name;
    this.plan = plan;
    this.process = process;
  }

  ask<C extends Command>(command: C, ...args: CommandArgs<C>): Promise<CommandResult<C>> {
    return this.process.ask(this.name, command, args) as Promise<CommandResult<C>>; // what that command gives
  }

  probe<N extends ProbeName>(name: N, ...args: ProbeArgs<N>): Promise<ProbeResult<N>> {
    return this.process.probe(this.name, name, args) as Promise<ProbeResult<N>>; // what that probe gives
  }

  async tryStart(timeoutMs?: number): Promise<StartEnd> {
    const end = await this.ask('host.start', timeoutMs);
    if (end.ok) this.#facts = end.facts;
    return end;
  }

  /** What the host said of itself when it had started. */
  get facts(): HostFacts {
    assert.ok(this.#facts, `host ${this.name} has not started`);
    return this.#facts;
  }

  get endpoint(): string {
    return known(this.facts.endpoint, this.name, 'server');
  }

  /** Of the server of another channel than the conformance one. */
  endpointOf(channel: string): string {
    return known(
      this.facts.listeners.find(({ name }) => name === channel)?.endpoint,
      this.name,
      `server of ${channel}`,
    );
  }

  get meshEndpoint(): string {
    return known(this.facts.meshEndpoint, this.name, 'node');
  }

  get meshRid(): string {
    return known(this.facts.meshRid, this.name, 'node');
  }

  get feedEndpoint(): string {
    return known(this.facts.feedEndpoint, this.name, 'publisher');
  }

  call(plan: CallPlan): Promise<CallEnd> {
    return this.ask('calls.call', plan);
  }

  /** A call that must succeed. */
  async reply(plan: CallPlan): Promise<ReplyFacts> {
    const end = await this.call(plan);
    assert.ok(end.ok, `${this.name} called and got ${end.ok ? '' : end.error.message}`);
    assert.ok(end.reply, 'a request has a reply');
    return end.reply;
  }

  /** A call that must fail with that kind. */
  async refusal(plan: CallPlan, kind: string): Promise<ErrorFacts & { readonly ms: number }> {
    const end = await this.call(plan);
    assert.ok(!end.ok, `${this.name} called and got a reply in place of ${kind}`);
    assert.equal(end.error.kind ?? end.error.name, kind, end.error.message);
    return { ...end.error, ms: end.ms };
  }

  async begin(plan: CallPlan): Promise<BegunCall> {
    const id = ++begun;
    await this.ask('calls.begin', id, plan);
    return { end: this.ask('calls.end', id), abort: () => this.ask('calls.abort', id) };
  }

  /** The journal, once it has so many entries of that kind. */
  async seen(count: number, what?: string): Promise<readonly JournalEntry[]> {
    const journal = this.ask('handlers.seen', count, what);
    journal.catch(() => undefined); // it may be asked for no more when the time is over
    return within(journal, `${this.name} has ${count} entries${what === undefined ? '' : ` "${what}"`}`);
  }

  logged(eventId: string, count = 1): Promise<readonly LogFacts[]> {
    return within(this.process.logged(this.name, eventId, count), `${this.name} logs ${eventId}`);
  }

  /** All that it has logged under that name so far. */
  logs(eventId: string): readonly LogFacts[] {
    return this.process.logs.flatMap((line) =>
      line.host === this.name && line.record.eventId === eventId ? [line.record] : [],
    );
  }

  servers(check: (rows: readonly ServerStatus[]) => boolean, what: string, limitMs = waitLimitMs): Promise<void> {
    return eventually(async () => check(await this.ask('servers.list')), `${this.name}: ${what}`, limitMs);
  }

  peers(check: (rows: readonly PeerStatus[]) => boolean, what: string, limitMs = waitLimitMs): Promise<void> {
    return eventually(async () => check(await this.ask('peers.list')), `${this.name}: ${what}`, limitMs);
  }

  publishers(check: (rows: readonly PublisherStatus[]) => boolean, what: string): Promise<void> {
    return eventually(async () => check(await this.ask('feeds.publishers')), `${this.name}: ${what}`);
  }

  /** A snapshot that shows that. */
  async shows(check: (snapshot: RuntimeSnapshot) => boolean, what: string): Promise<RuntimeSnapshot> {
    let last: RuntimeSnapshot | undefined;
    const isShown = async (): Promise<boolean> => check((last = await this.ask('observing.snapshot')));
    await eventually(isShown, `${this.name} shows ${what}`);
    return known(last, this.name, 'host that was asked');
  }

  /** The events of an observer, read one after another until one is as said. */
  async eventsUntil(id: string, check: (event: MonitoringEvent) => boolean): Promise<readonly MonitoringEvent[]> {
    const events: MonitoringEvent[] = [];
    for (;;) {
      const [item] = await within(this.ask('observing.read', id, 1), `${this.name} tells what ${id} waits for`);
      assert.ok(item?.event, `${this.name} ended before it told what ${id} waits for`);
      events.push(item.event);
      if (check(item.event)) return events;
    }
  }

  /** Records of messages, once some are as said. */
  async recorded(check: (records: readonly LogFacts[]) => boolean, what: string): Promise<readonly LogFacts[]> {
    let records: readonly LogFacts[] = [];
    await eventually(
      async () => check((records = await this.ask('telemetry.records'))),
      `${this.name} records ${what}`,
    );
    return records;
  }

  async counters(owner: string, verb: string): Promise<MessageCounters> {
    const rows = await this.ask('running.counters');
    const found = rows.find((row) => row.owner === owner && row.verb === verb);
    assert.ok(
      found,
      `${this.name} counts ${verb} of ${owner}; it has ${rows.map((row) => `${row.owner} ${row.verb}`).join(', ')}`,
    );
    return found;
  }

  counted(owner: string, verb: string, check: (row: MessageCounters) => boolean, what: string): Promise<void> {
    return eventually(async () => check(await this.counters(owner, verb)), `${this.name}: ${what}`);
  }

  shutdown(options: CommandArgs<'host.shutdown'>[0] = {}): Promise<ShutdownEnd> {
    return this.ask('host.shutdown', options);
  }
}

function known<T>(value: T | undefined, name: string, role: string): T {
  assert.ok(value !== undefined && value !== '', `host ${name} is no ${role}`);
  return value;
}

async function within<T>(result: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not happen within ${waitLimitMs} ms: ${what}`)), waitLimitMs);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}
