/**
 * Who may connect to a listener, decided before the peer can say anything (SEC-001, SEC-002).
 *
 * Owns the order of the checks. Leaves counting attempts to attempt-rate.ts, the keys to client-keys.ts and asking to
 * zap.ts.
 *
 * 1. The checks go from cheap to dear: a listener that takes nobody, the address's rate, the key.
 * 2. A key callback that throws, rejects or takes too long has refused. At most `pendingKeyLimit` may be under way.
 * 3. Every refusal is reported once, by label.
 */
import type { Clock } from '@zlink/kernel/internal/time';
import type { AttemptRate } from './attempt-rate.ts';
import type { ClientKeys } from './client-keys.ts';

export type AdmissionRefusal = 'busy' | 'rateLimited' | 'stopping' | 'unknownClientKey';

export interface AdmissionGateOptions {
  readonly rate: AttemptRate;
  /** Undefined: an unsecured listener, where peers have no keys. */
  readonly clientKeys: ClientKeys | undefined;
  readonly clock: Clock;
  readonly onRefused: (reason: AdmissionRefusal) => void;
}

const keyAnswerMs = 4_000; // the handshake as a whole has a second more
const pendingKeyLimit = 1_024;

export class AdmissionGate {
  readonly #rate: AttemptRate;
  readonly #clientKeys: ClientKeys | undefined;
  readonly #clock: Clock;
  readonly #onRefused: (reason: AdmissionRefusal) => void;
  #closed = false;
  #pendingKeys = 0;

  constructor(options: AdmissionGateOptions) {
    this.#rate = options.rate;
    this.#clientKeys = options.clientKeys;
    this.#clock = options.clock;
    this.#onRefused = options.onRefused;
  }

  /** Takes nobody any more. */
  close(): void {
    this.#closed = true;
  }

  /**
   * @param ip - where the attempt comes from
   * @param clientKey - the key the peer has shown; undefined on an unsecured listener
   */
  async admits(ip: string, clientKey: string | undefined): Promise<boolean> {
    const refusal = await this.#check(ip, clientKey);
    if (refusal !== undefined) this.#onRefused(refusal); // 3
    return refusal === undefined;
  }

  async #check(ip: string, clientKey: string | undefined): Promise<AdmissionRefusal | undefined> {
    if (this.#closed) return 'stopping';
    if (!this.#rate.take(ip)) return 'rateLimited';
    if (this.#clientKeys === undefined) return undefined;
    if (clientKey === undefined) return 'unknownClientKey';
    if (this.#pendingKeys >= pendingKeyLimit) return 'busy';
    this.#pendingKeys++;
    const allowed = await this.#ask(this.#clientKeys, clientKey);
    this.#pendingKeys--;
    this.#clientKeys.note(clientKey, allowed);
    return allowed ? undefined : 'unknownClientKey';
  }

  /** Never rejects (2). */
  #ask(keys: ClientKeys, clientKey: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(() => resolve(false), keyAnswerMs);
      const settle = (allowed: boolean): void => {
        this.#clock.clearTimer(timer);
        resolve(allowed);
      };
      void new Promise<boolean>((answer) => answer(keys.ask(clientKey))).then(
        (allowed) => settle(allowed === true), // plain JavaScript may answer anything
        () => settle(false),
      );
    });
  }
}
