/**
 * Which client keys may connect to a secured engine, and which have been let in (SEC-001).
 *
 * Owns the list or callback and the memory of its answers. Leaves time limits to the admission gate, which asks before a
 * peer can say anything, and the proof of a key to curve.ts.
 *
 * 1. libzmq does not tell which key an accepted peer has shown. A peer must therefore not name a key of its own that was
 *    never let in: `wasLetIn` is asked about the key it proves inside the connection.
 * 2. What a callback has let in is remembered until it refuses that key, and within `rememberedKeys`: the key that was let
 *    in longest ago is forgotten first. Between the two questions lie seconds at most.
 */
import type { CurveSecurity } from './curve.ts';

const rememberedKeys = 65_536;

export class ClientKeys {
  readonly #allowed: CurveSecurity['allowedClientKeys'];
  readonly #listed: ReadonlySet<string> | undefined;
  /** In the order in which they were let in last. */
  readonly #letIn = new Set<string>();

  constructor(allowed: CurveSecurity['allowedClientKeys']) {
    this.#allowed = allowed;
    this.#listed = typeof allowed === 'object' ? new Set(allowed) : undefined;
  }

  /** The application's answer; a callback may throw or reject. */
  ask(publicKey: string): boolean | Promise<boolean> {
    if (this.#listed !== undefined) return this.#listed.has(publicKey);
    return typeof this.#allowed === 'function' ? this.#allowed(publicKey) : true;
  }

  /** What the gate has made of the answer. */
  note(publicKey: string, letIn: boolean): void {
    if (typeof this.#allowed !== 'function') return;
    this.#letIn.delete(publicKey);
    if (!letIn) return;
    this.#letIn.add(publicKey);
    if (this.#letIn.size <= rememberedKeys) return;
    for (const oldest of this.#letIn) {
      this.#letIn.delete(oldest); // 2
      return;
    }
  }

  wasLetIn(publicKey: string): boolean {
    if (this.#listed !== undefined) return this.#listed.has(publicKey);
    return typeof this.#allowed === 'function' ? this.#letIn.has(publicKey) : true;
  }
}
