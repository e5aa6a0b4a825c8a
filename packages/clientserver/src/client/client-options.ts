/** Configuration of a channel's client role: what the builder collects and what start makes of it. */
import { isTimeoutMs, MAX_TIMEOUT_MS } from '@zlink/kernel/call';
import type { Problems } from '@zlink/kernel/errors';
import { isWildcardHost, parseEndpoint } from '@zlink/kernel/identity';

export interface ClientOptions {
  readonly endpoints: string[];
  sendTimeoutMs: number | undefined;
  requestTimeoutMs: number | undefined;
}

/**
 * The client role of a ClientServer channel: starts sends and requests.
 *
 * Values are checked when the host starts, all mistakes together. Afterwards every method throws ZLinkError
 * `InvalidOperation` (HOSTREG-004).
 */
export interface ClientServerClientBuilder {
  /**
   * Adds a server by its address; repeatable. A server role of the same process needs none. Without any address and
   * without such a role the servers are discovered, which needs a location store.
   *
   * @param endpoint - `tcp://host:port`, port 1..65_535, no wildcard; IPv6 addresses in brackets
   * @see CS-002
   */
  connect(endpoint: string): this;
  /**
   * Bounds the wait for acceptance, counted from the choice of a server.
   *
   * @param ms - milliseconds, integer 1..2_147_483_647; default: the host's `sendTimeoutMs` (1_000)
   * @see CALL-003
   */
  setSendTimeoutMs(ms: number): this;
  /**
   * Bounds a whole request, and (up to 5_000) the wait of any call for a first server.
   *
   * @param ms - milliseconds, integer 1..2_147_483_647; default: the host's `requestTimeoutMs` (30_000)
   * @see CALL-003, CHAN-003
   */
  setRequestTimeoutMs(ms: number): this;
}

export class ClientBuilder implements ClientServerClientBuilder {
  readonly options: ClientOptions = { endpoints: [], sendTimeoutMs: undefined, requestTimeoutMs: undefined };
  readonly #requireOpen: () => void;

  constructor(requireOpen: () => void) {
    this.#requireOpen = requireOpen;
  }

  connect(endpoint: string): this {
    this.#requireOpen();
    this.options.endpoints.push(endpoint);
    return this;
  }

  setSendTimeoutMs(ms: number): this {
    this.#requireOpen();
    this.options.sendTimeoutMs = ms;
    return this;
  }

  setRequestTimeoutMs(ms: number): this {
    this.#requireOpen();
    this.options.requestTimeoutMs = ms;
    return this;
  }
}

export function validateClient(options: ClientOptions, where: string, problems: Problems): void {
  for (const endpoint of options.endpoints) {
    if (!isDialable(endpoint))
      problems.add(`${where} connect`, endpoint, 'tcp://host:port, no wildcard, port 1..65535');
  }
  for (const name of ['sendTimeoutMs', 'requestTimeoutMs'] as const) {
    const value = options[name];
    if (value !== undefined && !isTimeoutMs(value)) {
      problems.add(`${where} ${name}`, value, `integer 1..${MAX_TIMEOUT_MS}`);
    }
  }
}

function isDialable(endpoint: unknown): boolean {
  const parsed = typeof endpoint === 'string' ? parseEndpoint(endpoint) : undefined;
  return parsed !== undefined && parsed.port > 0 && !isWildcardHost(parsed.host);
}
