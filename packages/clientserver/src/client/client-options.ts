/** Configuration of a channel's client role: what the builder collects and what start makes of it. */
import type { Problems } from '@zlink/kernel/errors';
import { checkTimeoutMs, DIALABLE_ENDPOINT, isDialable } from '@zlink/kernel/internal/host';

export interface ClientOptions {
  readonly endpoints: string[];
  sendTimeoutMs: number | undefined;
  requestTimeoutMs: number | undefined;
}

export function defaultClientOptions(): ClientOptions {
  return { endpoints: [], sendTimeoutMs: undefined, requestTimeoutMs: undefined };
}

/**
 * The client role of a ClientServer channel: starts sends and requests.
 *
 * Values are checked when the host starts, all mistakes together. Afterwards every method throws ZLinkError
 * `InvalidOperation` (HOSTREG-004).
 */
export interface ClientServerClientBuilder {
  /**
   * Adds a server by its address; repeatable. At least one is needed, unless the host has a Location Store, where servers
   * are found, or this process has the channel's server role, too: both are dialled without. Connecting, and connecting
   * again, is ZLink's work; `start` does not wait for it.
   *
   * @param endpoint - `tcp://host:port`, port 1..65_535, no wildcard; IPv6 addresses in brackets
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see CS-002, HOSTREG-003
   */
  connect(endpoint: string): this;
  /**
   * Bounds the wait for acceptance, counted from the choice of a server; then the call ends with `DeadlineExceeded`.
   *
   * @param ms - milliseconds, integer 1..2_147_483_647; default: the host's `sendTimeoutMs` (1_000)
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see CALL-003
   */
  setSendTimeoutMs(ms: number): this;
  /**
   * Bounds a whole request (then `DeadlineExceeded`), and up to 5_000 ms the wait of any call for a first server (then
   * `NotFound`).
   *
   * @param ms - milliseconds, integer 1..2_147_483_647; default: the host's `requestTimeoutMs` (30_000)
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see CALL-003, CHAN-003
   */
  setRequestTimeoutMs(ms: number): this;
}

/** What applications hold of a client role: it writes into the options, which cannot be reached through it (HOSTREG-005). */
export class ClientBuilder implements ClientServerClientBuilder {
  readonly #options: ClientOptions;
  readonly #requireOpen: () => void;

  constructor(options: ClientOptions, requireOpen: () => void) {
    this.#options = options;
    this.#requireOpen = requireOpen;
    Object.freeze(this);
  }

  connect(endpoint: string): this {
    this.#requireOpen();
    this.#options.endpoints.push(endpoint);
    return this;
  }

  setSendTimeoutMs(ms: number): this {
    this.#requireOpen();
    this.#options.sendTimeoutMs = ms;
    return this;
  }

  setRequestTimeoutMs(ms: number): this {
    this.#requireOpen();
    this.#options.requestTimeoutMs = ms;
    return this;
  }
}

export function validateClient(options: ClientOptions, where: string, problems: Problems): void {
  for (const endpoint of options.endpoints) {
    if (!isDialable(endpoint)) problems.add(`${where} connect`, endpoint, DIALABLE_ENDPOINT);
  }
  for (const name of ['sendTimeoutMs', 'requestTimeoutMs'] as const) {
    checkTimeoutMs(`${where} ${name}`, options[name], problems);
  }
}
