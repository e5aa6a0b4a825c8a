// Owns: the test environment that fails a suite which leaves something open.
// Leaves to others: counting results (jest-counts-reporter), how a transport closes (the transport).
//
// 1. A suite may not end with more timers, sockets or child processes than it began with.
// 2. A suite may not end with an open transport; what is left is closed, so that Jest itself can end.
// 3. A late close is no leak: counts get a grace before they are judged.
//
// An environment rather than an afterAll: hooks run in the order they were defined, so an afterAll set up here would
// judge a suite before the suite's own afterAll has cleaned up.
import { TestEnvironment } from 'jest-environment-node';

const graceMs = 10_000;
const closeMs = 1_000;
const pruneCount = 1_000;
/** Handle kinds a test can leak. Pipes, terminals and file requests belong to Jest and its workers. */
const watchedKinds = ['TCPSocketWrap', 'TCPServerWrap', 'UDPWrap', 'ProcessWrap'];

function countHandles() {
  const counts = new Map(watchedKinds.map((kind) => [kind, 0]));
  for (const kind of process.getActiveResourcesInfo()) {
    const count = counts.get(kind);
    if (count !== undefined) counts.set(kind, count + 1);
  }
  return counts;
}

/**
 * The timers of one suite, by identity: Jest's reporters run timers of their own in the same process, so a count of all
 * timers would blame them on the suite or hide the suite's among them.
 */
class SuiteTimers {
  #started = new Set();

  watch(global, name) {
    const start = global[name];
    const watched = (...args) => {
      const timer = start(...args);
      if (this.#started.size >= pruneCount) this.#prune();
      this.#started.add(timer);
      return timer;
    };
    for (const key of Object.getOwnPropertySymbols(start)) {
      Object.defineProperty(watched, key, Object.getOwnPropertyDescriptor(start, key)); // util.promisify finds its variant there
    }
    global[name] = watched;
  }

  /** Timers that still hold the process; Node marks a fired or cleared one as destroyed and has no public word for it. */
  countLive() {
    this.#prune();
    return [...this.#started].filter((timer) => timer.hasRef()).length;
  }

  #prune() {
    for (const timer of this.#started) if (timer._destroyed) this.#started.delete(timer);
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

const nameOf = (transport) => String(transport?.name ?? transport?.constructor?.name ?? 'transport');

async function closeWithin(transport, ms) {
  let timer;
  const expiry = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([transport.close?.(), expiry]);
  } catch {
    // The leak is what gets reported; how its late close went is of no interest.
  } finally {
    clearTimeout(timer);
  }
}

export default class LeakGuardEnvironment extends TestEnvironment {
  #handlesBefore = new Map();
  #timers = new SuiteTimers();

  async setup() {
    await super.setup();
    this.#handlesBefore = countHandles();
    this.#timers.watch(this.global, 'setTimeout');
    this.#timers.watch(this.global, 'setInterval');
  }

  async handleTestEvent(event, state) {
    if (event.name !== 'run_finish') return;
    for (const problem of await this.#findLeaks()) {
      const error = new Error(`leak: ${problem}`);
      error.stack = error.message; // the stack of this file says nothing about the leak
      state.unhandledErrors.push([error, error]);
    }
  }

  async #findLeaks() {
    const problems = [];
    const open = this.global.__zlinkOpenTransports;
    for (let round = 0; open?.size > 0 && round < 5; round += 1) await turn();
    if (open?.size > 0) {
      const left = [...open];
      problems.push(`open transports when the suite ended: ${left.map(nameOf).join(', ')}`);
      for (const transport of left) await closeWithin(transport, closeMs);
      open.clear();
    }
    const excess = await this.#waitForClean();
    if (excess.length > 0) problems.push(`resources left when the suite ended: ${excess.join(', ')}`);
    return problems;
  }

  async #waitForClean() {
    const giveUpAt = performance.now() + graceMs;
    for (let round = 0; ; round += 1) {
      const excess = this.#findExcess();
      if (excess.length === 0 || performance.now() > giveUpAt) return excess;
      await (round < 5 ? turn() : new Promise((resolve) => setTimeout(resolve, 10)));
    }
  }

  #findExcess() {
    const excess = [];
    const timerCount = this.#timers.countLive();
    if (timerCount > 0) excess.push(`${timerCount} timers`);
    for (const [kind, count] of countHandles()) {
      const more = count - this.#handlesBefore.get(kind);
      if (more > 0) excess.push(`${more} ${kind}`);
    }
    return excess;
  }
}
