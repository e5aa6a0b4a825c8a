/**
 * The endpoints that this node was told to connect to (MESH-002).
 *
 * Owns one intent per endpoint, from `connect` to `disconnect`, and which RIDs they make members. Leaves dialling,
 * reconnecting and duplicates to the transport.
 *
 * M1 An intent makes a member of the RID it expects, and of the one it was last admitted with or rests for. Whoever
 *    merely answered and was refused is none (NODE-001).
 * M2 `disconnect` lets accepted work end; the calls have their own deadlines, so nothing bounds it before the node closes.
 */
import { ZLinkError } from '@zlink/kernel/errors';
import type { Intent } from '@zlink/kernel/internal/transport';

export interface PeerAddress {
  readonly endpoint: string;
  /** Only this RID is admitted; undefined: any. */
  readonly expectedRid: string | undefined;
}

export interface ManualPeer extends PeerAddress {
  readonly intent: Intent;
  /** M1 */
  readonly admittedRid: string | undefined;
}

export interface ManualPeersOptions {
  /** Names the mesh in messages: `mesh "game"`. */
  readonly where: string;
  dial(address: PeerAddress, onState: (intent: Intent) => void): Intent;
  /** What is known about this RID has changed, its membership perhaps. */
  onMember(rid: string): void;
}

interface Entry extends PeerAddress {
  /** Set by `connect`; the intent may speak before `dial` has returned it. */
  intent: Intent | undefined;
  admittedRid: string | undefined;
}

/** Long enough for everything that is bounded by itself (M2). */
const DISCONNECT_LINGER_MS = 2_147_483_647;

export class ManualPeers {
  readonly #options: ManualPeersOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ManualPeersOptions) {
    this.#options = options;
  }

  /** @throws ZLinkError `AlreadyExists` if the endpoint is wanted with another expected RID */
  connect(address: PeerAddress): void {
    const { endpoint, expectedRid } = address;
    const known = this.#entries.get(endpoint);
    if (known !== undefined) {
      if (known.expectedRid === expectedRid) return;
      throw this.#otherExpectation(known);
    }
    const entry: Entry = { endpoint, expectedRid, intent: undefined, admittedRid: undefined };
    this.#entries.set(endpoint, entry);
    entry.intent = this.#options.dial(address, (intent) => this.#onState(entry, intent));
  }

  disconnect(endpoint: string): void {
    const entry = this.#entries.get(endpoint);
    if (entry?.intent === undefined) return;
    this.#entries.delete(endpoint);
    entry.intent.link?.finish(); // waiting sends end `Unavailable`: it is not the host that ends
    void entry.intent.close(DISCONNECT_LINGER_MS);
    for (const rid of ridsOf(entry)) this.#options.onMember(rid);
  }

  /** Whether this RID is a member because of an intent (M1). */
  knows(rid: string): boolean {
    for (const entry of this.#entries.values()) if (ridsOf(entry).includes(rid)) return true;
    return false;
  }

  /** Of all that intents make members (M1), some perhaps twice. */
  *rids(): Iterable<string> {
    for (const entry of this.#entries.values()) yield* ridsOf(entry);
  }

  /** Whether an intent is meant for this very node: for its RID, or for its endpoint while any RID would do (M1). */
  standsFor(rid: string, endpoint: string): boolean {
    if (this.knows(rid)) return true;
    const entry = this.#entries.get(endpoint);
    return entry !== undefined && ridsOf(entry).length === 0;
  }

  /** Whether some endpoint should be connected: none that has refused a link as needless. */
  get expectsPeer(): boolean {
    for (const { intent } of this.#entries.values()) if (intent?.state !== 'notRequired') return true;
    return false;
  }

  /** In the order of `connect`. */
  all(): ManualPeer[] {
    return [...this.#entries.values()].flatMap(({ intent, ...entry }) =>
      intent === undefined ? [] : { intent, ...entry },
    );
  }

  async close(lingerMs: number): Promise<void> {
    const intents = this.all().map(({ intent }) => intent);
    this.#entries.clear();
    await Promise.all(intents.map((intent) => intent.close(lingerMs)));
  }

  #onState(entry: Entry, intent: Intent): void {
    if (intent.state !== 'admitted' && intent.state !== 'resting') return;
    const rid = intent.link?.peer.rid ?? intent.rid;
    const before = entry.admittedRid;
    if (rid === undefined || rid === before) return;
    entry.admittedRid = rid;
    if (before !== undefined) this.#options.onMember(before);
    this.#options.onMember(rid);
  }

  #otherExpectation({ endpoint, expectedRid }: Entry): ZLinkError {
    const expected = expectedRid === undefined ? 'any RID' : `RID "${expectedRid}"`;
    const text = `${this.#options.where} peers: ${endpoint} is connected already, expecting ${expected}`;
    return new ZLinkError('AlreadyExists', `${text}; disconnect it first`);
  }
}

function ridsOf(entry: Entry): string[] {
  return [entry.expectedRid, entry.admittedRid].filter((rid) => rid !== undefined);
}

/** Of the arguments of `connect`: an endpoint, or an expected RID and an endpoint. */
export function peerAddress(first: string, second: string | undefined): PeerAddress {
  return second === undefined ? { endpoint: first, expectedRid: undefined } : { endpoint: second, expectedRid: first };
}
