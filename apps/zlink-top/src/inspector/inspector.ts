/**
 * Shows one host to `zlink-top`, as a hosted service of it.
 *
 * Owns the socket and who looks at a time. Leaves reports to the source, and each connection to its viewer.
 *
 * 1. Nothing that fails here fails or delays the host: problems are told, and the host runs without an inspector.
 * 2. After `stop` no file, socket or timer is left.
 * 3. It holds no process: that is up to the host.
 */
import type { Socket } from 'node:net';
import type { HostedService } from '@zlink/framework';
import { hostLine } from '../report/report.ts';
import { type ControlSocket, openControlSocket, PathTaken } from '../socket/control-socket.ts';
import { removeIfDead } from '../socket/probe.ts';
import { currentSurroundings, findPaths, ownPaths, type Surroundings } from '../socket/socket-places.ts';
import { type Clock, processClock } from './clock.ts';
import { type InspectorOptions, type ResolvedInspectorOptions, resolveInspectorOptions } from './inspector-options.ts';
import { type Inspectable, ReportSource } from './report-source.ts';
import { Viewer } from './viewer.ts';

/** Hosts of one process that can be looked at. */
const PATHS_PER_PROCESS = 16;

/** Connections that have not asked yet, each for 5 s at most. */
const WAITING_CLIENTS = 64;

export interface Inspector extends HostedService {
  /** Where it listens; undefined before its start, after its stop, and if it could not listen. */
  readonly path: string | undefined;
}

/**
 * Lets `zlink-top` look at `host`: `host.addHostedService(inspector(host))`. Local to this machine and this user.
 *
 * @throws ConfigurationError with every option that is not allowed
 */
export function inspector(host: Inspectable, options: InspectorOptions = {}): Inspector {
  return createInspector(host, resolveInspectorOptions(options), currentSurroundings(), processClock);
}

/** With surroundings and a clock of a test. */
export function createInspector(
  host: Inspectable,
  options: ResolvedInspectorOptions,
  surroundings: Surroundings,
  clock: Clock,
): Inspector {
  return new HostInspector(host, options, surroundings, clock);
}

class HostInspector implements Inspector {
  readonly #host: Inspectable;
  readonly #options: ResolvedInspectorOptions;
  readonly #surroundings: Surroundings;
  readonly #clock: Clock;
  readonly #viewers = new Set<Viewer>();
  #socket: ControlSocket | undefined;
  #isStopped = false;

  constructor(host: Inspectable, options: ResolvedInspectorOptions, surroundings: Surroundings, clock: Clock) {
    this.#host = host;
    this.#options = options;
    this.#surroundings = surroundings;
    this.#clock = clock;
  }

  get path(): string | undefined {
    return this.#socket?.path;
  }

  async start(): Promise<void> {
    const source = new ReportSource(this.#host, this.#options.name, this.#clock);
    try {
      this.#socket = await this.#open((socket) => this.#accept(socket, source));
    } catch (error) {
      this.#tell(error); // 1
    }
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    this.#isStopped = true;
    this.#socket = undefined;
    for (const viewer of this.#viewers) viewer.end();
    await socket?.close(); // 2
  }

  async #open(accept: (socket: Socket) => void): Promise<ControlSocket> {
    const { path } = this.#options;
    if (path !== undefined) return openControlSocket(path, accept);
    // What a killed process has left nobody else would remove.
    await Promise.all((await findPaths(this.#surroundings)).map(removeIfDead));
    for (const own of await ownPaths(this.#surroundings, process.pid, PATHS_PER_PROCESS)) {
      try {
        return await openControlSocket(own, accept);
      } catch (error) {
        if (!(error instanceof PathTaken)) throw error; // else of another host of this process
      }
    }
    throw new Error(`this process has ${PATHS_PER_PROCESS} inspectors already`);
  }

  #accept(socket: Socket, source: ReportSource): void {
    const viewer = new Viewer({
      socket,
      clock: this.#clock,
      refusal: () => this.#refusal(),
      line: () => source.line(),
      onProblem: (error) => this.#tell(error),
    });
    if (this.#isStopped) {
      viewer.end();
    } else if (this.#viewers.size - this.#lookingCount >= WAITING_CLIENTS) {
      viewer.end(hostLine('refused', { reason: `${WAITING_CLIENTS} have connected and not asked yet` }));
    } else {
      this.#viewers.add(viewer);
      socket.once('close', () => this.#viewers.delete(viewer));
    }
  }

  #refusal(): string | undefined {
    const { maxClients } = this.#options;
    return this.#lookingCount >= maxClients ? `${maxClients} look at it already` : undefined;
  }

  get #lookingCount(): number {
    return [...this.#viewers].filter(({ isLooking }) => isLooking).length;
  }

  #tell(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    try {
      this.#options.onProblem(new Error(`zlink-top cannot look at this host: ${text}`, { cause: error }));
    } catch {
      // 1: there is nobody left to be told
    }
  }
}
