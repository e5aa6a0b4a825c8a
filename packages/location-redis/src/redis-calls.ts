/**
 * One call to the primary of a key: finds the connection, sends, and says what is known when it fails.
 *
 * Owns the loop around a call: waiting for a connection that has been looked at, redirections, patience. Leaves the words
 * for failures to redis-errors.ts, and what a connection is looked at for to its `inspect`.
 *
 * 1. A command goes out only over a connection that was inspected since it was made (REDIS-007).
 * 2. Until something is written a call may try again as long as its patience lasts; afterwards it never does, unless Redis
 *    says that it did not run the command (REDIS-004).
 * 3. A connection that owes an answer for too long is dropped if it is the store's own: its peer may be gone.
 */
import type { Clock } from '@zlink/kernel/internal/time';
import { isStoreError } from '@zlink/kernel/location';
import type { Redis } from 'ioredis';
import { CallLimit } from './call-limit.ts';
import { command } from './command.ts';
import type { RedisConnection } from './connection.ts';
import type { PrimaryRoute } from './primary-route.ts';
import { abandoned, ended, failureOf, isIncompatible, notUsable, timedOut } from './redis-errors.ts';

/** How often a call without connection looks again; all of them share the timer. */
const LOOK_AGAIN_MS = 20;

/** What is sent; it writes before it returns. `asText`: without relying on what the server remembers. */
export type Send<T> = (node: Redis, asText: boolean) => Promise<T>;

export interface RedisCallsOptions {
  readonly connection: RedisConnection;
  readonly route: PrimaryRoute;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Before the first call over a connection; rejects when it is of no use. */
  readonly inspect: (node: Redis) => Promise<void>;
}

/** Thrown by a `send`: the server did nothing, since what was known of it is no longer true. The call looks again. */
export class OutdatedInspection extends Error {}

type Stream = Redis['stream'];
type Answer<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'over' };

export class RedisCalls {
  readonly #options: RedisCallsOptions;
  readonly #inspected = new WeakSet<Stream>();
  readonly #inspections = new WeakMap<Stream, Promise<void>>();
  #lookAgain: Promise<void> | undefined;
  #ended = false;

  constructor(options: RedisCallsOptions) {
    this.#options = options;
  }

  /** @throws StoreError alone */
  async run<T>(key: string, send: Send<T>, signal?: AbortSignal): Promise<T> {
    const limit = new CallLimit(this.#options.clock, this.#options.timeoutMs, signal);
    try {
      return await this.#attempt(key, send, limit);
    } finally {
      limit.dispose();
    }
  }

  /** Looks at the connection of `key` again, if there is one. */
  async inspectAgain(key: string): Promise<void> {
    const node = this.#options.route.find(key);
    if (node === undefined) return;
    this.#inspected.delete(node.stream);
    await this.#inspect(node);
  }

  /** Calls that wait for a connection end at their next look. */
  end(): void {
    this.#ended = true;
  }

  async #attempt<T>(key: string, send: Send<T>, limit: CallLimit): Promise<T> {
    let asked: string | undefined;
    for (;;) {
      const node = await this.#reach(key, asked, limit);
      this.#giveUpIfOver(limit, undefined);
      const { stream } = node;
      const sent = asked === undefined ? send(node, false) : sendAsking(node, send);
      asked = undefined;
      const answer = await settle(sent, limit);
      if (answer.kind === 'value') {
        // A passed-in client may have sent it again over a connection that nobody has looked at yet.
        if (node.stream !== stream) await this.#reach(key, undefined, limit);
        return answer.value;
      }
      if (answer.kind === 'over') throw this.#noAnswer(node, limit);
      if (answer.error instanceof OutdatedInspection) {
        this.#inspected.delete(stream);
        continue;
      }
      if (isStoreError(answer.error)) throw answer.error; // what the `send` made of the answer
      const failure = failureOf(answer.error);
      switch (failure.kind) {
        case 'notSent':
          break;
        case 'moved':
          this.#options.route.refresh();
          break;
        case 'ask':
          asked = failure.address;
          continue;
        case 'demoted':
          this.#drop(node);
          throw failure.error;
        default:
          if (failure.kind === 'lost') this.#options.route.refresh();
          throw failure.error;
      }
      await this.#wait(limit);
    }
  }

  /** A connection that is there and inspected. */
  async #reach(key: string, address: string | undefined, limit: CallLimit): Promise<Redis> {
    const { route, connection } = this.#options;
    let obstacle: unknown;
    for (;;) {
      if (this.#ended) throw ended();
      const node = address === undefined ? route.find(key) : route.findNamed(address);
      if (node !== undefined) {
        if (this.#inspected.has(node.stream)) return node;
        const answer = await settle(this.#inspect(node), limit);
        if (answer.kind === 'value') continue;
        if (answer.kind === 'error' && isIncompatible(answer.error)) throw answer.error;
        if (answer.kind === 'error') obstacle = answer.error;
      } else obstacle = connection.lastError ?? obstacle;
      await this.#wait(limit, obstacle);
    }
  }

  /** Each connection is looked at once, whoever asks. */
  #inspect(node: Redis): Promise<void> {
    const { stream } = node;
    const running = this.#inspections.get(stream);
    if (running !== undefined) return running;
    const inspection = this.#inspectWithin(node).finally(() => this.#inspections.delete(stream));
    this.#inspections.set(stream, inspection);
    return inspection;
  }

  async #inspectWithin(node: Redis): Promise<void> {
    const { stream } = node;
    const limit = new CallLimit(this.#options.clock, this.#options.timeoutMs, undefined);
    try {
      const answer = await settle(this.#options.inspect(node), limit);
      if (answer.kind === 'over') throw this.#noAnswer(node, limit);
      if (answer.kind === 'error') throw this.#ofInspection(node, answer.error);
      if (node.stream === stream) this.#inspected.add(stream);
    } finally {
      limit.dispose();
    }
  }

  #ofInspection(node: Redis, error: unknown): unknown {
    if (isIncompatible(error)) return error;
    if (isStoreError(error) || failureOf(error).kind === 'demoted') this.#drop(node); // no primary: another may be
    return error;
  }

  async #wait(limit: CallLimit, obstacle?: unknown): Promise<void> {
    if (limit.reason === undefined) {
      this.#lookAgain ??= new Promise((resolve) => {
        this.#options.clock.setTimer(() => {
          this.#lookAgain = undefined;
          resolve();
        }, LOOK_AGAIN_MS);
      });
      await Promise.race([this.#lookAgain, limit.over]);
    }
    this.#giveUpIfOver(limit, obstacle);
  }

  /** Before anything was written. */
  #giveUpIfOver(limit: CallLimit, obstacle: unknown): void {
    if (limit.reason === 'aborted') throw abandoned('notApplied', limit.abortReason);
    if (limit.reason !== 'timeout') return;
    const { address, client } = this.#options.connection;
    throw notUsable(address, client.status, obstacle);
  }

  #noAnswer(node: Redis, limit: CallLimit): Error {
    if (limit.reason === 'aborted') return abandoned('unknown', limit.abortReason);
    this.#drop(node); // 3
    return timedOut(limit.timeoutMs);
  }

  #drop(node: Redis): void {
    this.#inspected.delete(node.stream);
    if (this.#options.connection.isOwn) node.stream.destroy();
    this.#options.route.refresh();
  }
}

async function sendAsking<T>(node: Redis, send: Send<T>): Promise<T> {
  command(node, 'ASKING').catch(() => undefined); // what follows fails as well, and is heard
  return send(node, true); // the permission holds for one command, so it must not fail for want of a script
}

/** What comes first; a later rejection is of no interest. */
async function settle<T>(work: Promise<T>, limit: CallLimit): Promise<Answer<T>> {
  const outcome = work.then(
    (value): Answer<T> => ({ kind: 'value', value }),
    (error: unknown): Answer<T> => ({ kind: 'error', error }),
  );
  return Promise.race([outcome, limit.over.then((): Answer<T> => ({ kind: 'over' }))]);
}
