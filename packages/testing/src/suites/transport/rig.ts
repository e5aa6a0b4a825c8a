/**
 * The stage of one case of the transport suite.
 *
 * Owns hosts, time and the check after each case. Leaves what happens to the case.
 *
 * T1 Time moves only through the rig: with `advance`, and while `until` waits, by as much as really passes, so that the
 *    transports' own short timers run; a turn in which the process got no time is a short one. It never moves past the turn in
 *    which a condition has come true.
 * T2 After every case: all permits are back, every link has ended once, every record kept its contract, no timer is
 *    left. A case that only passes because nobody looked does not pass.
 */
import assert from 'node:assert/strict';
import { JobPermits } from '@zlink/kernel/internal/execution';
import type { Intent, Link, Listener } from '@zlink/kernel/internal/transport';
import { loopTurns, until } from '../../loop-turns.ts';
import { ManualClock } from '../../manual-clock.ts';
import { seededRandom } from '../../seeded-random.ts';
import type { TransportHarness, TransportHarnessFactory } from './harness.ts';
import { type HostOptions, RigHost, groupsOf } from './rig-host.ts';
import type { RigGroup } from './rig-group.ts';
import type { Shape } from './shapes.ts';

/** Tells a hang from a success, also on a machine that has no time for the test. */
const GIVE_UP_MS = 30_000;
const STEP_MS = 20;
/** One message through two threads, and its answer. */
const CATCH_UPS = 3;
/** For what the threads have brought. */
const TURNS_PER_CATCH_UP = 50;
const PLENTY = 1_024;
export const MIB = 1_048_576;

/** A dialled link, seen from both ends. */
export interface RigPair {
  readonly near: RigHost;
  readonly far: RigHost;
  readonly nearLink: Link;
  readonly farLink: Link;
  readonly nearGroup: RigGroup;
  readonly farGroup: RigGroup;
  readonly listener: Listener;
  readonly intent: Intent;
}

export class TransportRig {
  readonly clock = new ManualClock();
  readonly harness: TransportHarness;
  readonly #hosts: RigHost[] = [];

  private constructor(harness: TransportHarness) {
    this.harness = harness;
  }

  /** Runs a case on a fresh rig and judges what is left. */
  static async run(factory: TransportHarnessFactory, act: (rig: TransportRig) => Promise<void>): Promise<void> {
    const rig = new TransportRig(await factory());
    try {
      await act(rig);
      await rig.#finish();
    } catch (error) {
      await rig.#closeAll().catch(() => undefined); // what the case has found matters more
      await rig.harness.close();
      throw error;
    }
    await rig.harness.close();
    assert.equal(rig.clock.pendingTimers, 0, 'timers left after everything was closed');
  }

  get #giveUpMs(): number {
    return this.harness.giveUpMs ?? GIVE_UP_MS;
  }

  host(shape: Shape, options: HostOptions = {}): RigHost {
    const permits = new JobPermits({
      max: PLENTY,
      pauseThresholdPercent: 100,
      resumeThresholdPercent: 60,
      ...options.permits,
    });
    const transport = this.harness.makeTransport({
      clock: this.clock,
      permits,
      budgetBytes: options.budgetBytes ?? 64 * MIB,
      maxWindowBytes: options.maxWindowBytes ?? 4 * MIB,
      random: seededRandom(this.#hosts.length + 1),
    });
    const rid = `host-${this.#hosts.length + 1}`;
    const host = new RigHost(shape, options, permits, transport, this.harness.address(), rid);
    this.#hosts.push(host);
    return host;
  }

  /** Two hosts and a link between them. */
  async pair(shape: Shape, near: HostOptions = {}, far: HostOptions = {}): Promise<RigPair> {
    const dialer = this.host(shape, near);
    const listening = this.host(shape, far);
    const listener = await listening.listen();
    return await this.connect(dialer, listening, listener);
  }

  async connect(near: RigHost, far: RigHost, listener: Listener): Promise<RigPair> {
    const { shape } = near;
    const before = far.listenGroup.opened.length;
    const intent = near.dial(listener.endpoint, shape.symmetric ? { through: await near.listen() } : {});
    await this.until(
      () => intent.link !== undefined && far.listenGroup.opened.length > before,
      `${near.identity.rid} is admitted by ${far.identity.rid}`,
    );
    const nearLink = intent.link;
    const farLink = far.listenGroup.opened.at(-1);
    assert.ok(nearLink !== undefined && farLink !== undefined);
    return {
      near,
      far,
      nearLink,
      farLink,
      nearGroup: near.dialGroup,
      farGroup: far.listenGroup,
      listener,
      intent,
    };
  }

  /** For listeners that begin anew at their address. */
  async addressToKeep(): Promise<string> {
    return (await this.harness.addressToKeep?.()) ?? this.harness.address();
  }

  /** Waits until `condition` holds; time passes as it really does (T1). */
  async until(condition: () => boolean, what: string): Promise<void> {
    const startedAtMs = performance.now();
    let seenMs = startedAtMs;
    while (!condition()) {
      await loopTurns(1);
      if (condition()) return;
      const nowMs = performance.now();
      if (nowMs - startedAtMs > this.#giveUpMs) assert.fail(`did not happen within ${this.#giveUpMs} ms: ${what}`);
      this.clock.advance(Math.min(nowMs - seenMs, STEP_MS));
      seenMs = nowMs;
    }
  }

  /** Waits until `condition` holds; time stands still. */
  async untilArrived(condition: () => boolean, what: string): Promise<void> {
    await until(condition, what, this.#giveUpMs);
  }

  /** Moves time forward in steps, letting everything under way arrive after each. */
  async advance(ms: number, stepMs = STEP_MS): Promise<void> {
    await this.settle();
    for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
      this.clock.advance(Math.min(stepMs, leftMs));
      await this.settle();
    }
  }

  /** Lets what was sent arrive; time stands still. */
  async settle(): Promise<void> {
    const { quietTurns, threadsCaughtUp } = this.harness;
    await loopTurns(quietTurns);
    if (threadsCaughtUp === undefined) return;
    for (let round = 0; round < CATCH_UPS; round++) {
      await threadsCaughtUp();
      await loopTurns(TURNS_PER_CATCH_UP);
    }
  }

  /** Lets held records go, so that an orderly end is possible, and ends all links and transports. */
  async #finish(): Promise<void> {
    for (const host of this.#hosts) for (const group of groupsOf(host)) group.letGo();
    await this.#closeAll();
    for (const host of this.#hosts) this.#judge(host);
  }

  async #closeAll(): Promise<void> {
    let closed = false;
    const closing = Promise.all(this.#hosts.map((host) => host.transport.close())).then(() => (closed = true));
    await this.until(() => closed, 'all transports are closed');
    await closing;
    await this.settle();
  }

  /** T2 */
  #judge(host: RigHost): void {
    const { rid } = host.identity;
    const { permits, transport, records, intents } = host;
    assert.equal(permits.inUse, 0, `permits of ${rid} in use at the end`);
    assert.equal(transport.status.links, 0, `links of ${rid} at the end`);
    assert.equal(transport.status.grantedBytes, 0, `bytes that ${rid} grants at the end`);
    for (const intent of intents) assert.equal(intent.state, 'closed', `intent of ${rid} to ${intent.address}`);
    for (const group of groupsOf(host)) {
      const ended = group.closed.map((end) => end.link.id).sort((a, b) => a - b);
      const opened = group.opened.map((link) => link.id).sort((a, b) => a - b);
      assert.deepEqual(ended, opened, `links of ${rid} that have ended, each once`);
      for (const link of group.opened) {
        assert.equal(link.phase, 'closed');
        assert.equal(link.waitingRecords + link.pendingRequests, 0, `records left on a link of ${rid}`);
      }
    }
    for (const record of records) if (record.fault !== undefined) assert.fail(`${rid}: ${record.fault}`);
  }
}
