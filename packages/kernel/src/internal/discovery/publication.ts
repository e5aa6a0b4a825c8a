/**
 * One own endpoint in the store: its claim, its changes, its way back after others removed it, and its end.
 *
 * ```text
 * claiming ─► published ─► superseded | withdrawn        phase: what this endpoint is about
 *        └──► refused
 * free | taken ─write─► own ─facts changed, write─► own …       place: what is known of its key in the store
 *    any of them ─ conflict, unknown outcome, audit ─► unread ─read─► free | own | taken
 * ```
 *
 * Owns the record of the endpoint. Leaves repetition of a commit to store-calls.ts, when records are audited to
 * own-records-audit.ts, and revision and content to the source of the facts.
 *
 * 1. One step at a time, a read or a write; each starts from the facts as they are then, so changes that come meanwhile
 *    become one write. Behind a write the next change waits for some time, or no reader of a large topology would ever see
 *    it at rest; only a change of state goes at once.
 * 2. A write is conditional on what was read, and on the own lease. After a conflict, or an outcome that stays unknown, the
 *    key is read and the next step decided anew (LOC-040, FAIL-016).
 * 3. Without admission nothing is written (LOC-052).
 * 4. A record is the own one if its run and its lifecycle generation are. A mesh node never takes the place of another
 *    record (NET-003). Another endpoint takes that of an earlier generation until its claim has succeeded once (CS-013);
 *    whoever finds a newer record of another generation in its place afterwards is superseded for good. An older one is what
 *    stood there before its own: the store has lost the claim, which is made again (FAIL-015).
 * 5. A record that others removed, or the store lost, comes back with a higher revision, raised once per loss (LOC-053).
 * 6. What another version of ZLink wrote into the own record is kept; what stood in the record of an earlier generation says
 *    nothing of this one.
 */
import { ConfigurationError, ZLinkError } from '../../errors/index.ts';
import {
  descriptorKey,
  isStoreError,
  type JsonFields,
  maxValueBytes,
  type RecordCodec,
  stampKey,
  type StoreCondition,
  type StoreMutation,
  type StoreRecord,
  type Topology,
} from '../../location/index.ts';
import { errorText, type Logger } from '../../observe/index.ts';
import { type Clock, type TimerHandle, untilAborted } from '../time/index.ts';
import { areSameBytes, WIRE_MAJOR } from '../wire/index.ts';
import { tryUntil } from './bounded-call.ts';
import { descriptorCodecs } from './descriptor-codecs.ts';
import type { DescriptorOf, OwnFacts, Publication, PublicationSource, TopologyKind } from './discovery.ts';
import type { OwnerLease } from './owner-lease.ts';
import type { StoreCalls } from './store-calls.ts';

/** After a failure of the store, or while the own lease is found absent. */
const retryAfterMs = 1_000;
const leaseCondition = 1; // the place of the own lease among the conditions of every commit

export interface PublicationParts {
  readonly calls: Pick<StoreCalls, 'read' | 'commit'>;
  readonly lease: Pick<OwnerLease, 'ownerId' | 'leaseGeneration' | 'isOpen' | 'condition' | 'foundAbsent'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between two writes of changes that can wait (1). */
  readonly writeIntervalMs: number;
  /** The public key of the endpoint. */
  readonly securityIdentity: string | undefined;
}

type Phase = 'claiming' | 'published' | 'superseded' | 'refused' | 'withdrawn';

/** What is written of the facts. */
interface Written {
  readonly revision: bigint;
  readonly state: OwnFacts<TopologyKind>['state'];
  readonly bytes: Uint8Array;
  readonly otherFields: JsonFields | undefined;
}
interface Own extends Written {
  readonly kind: 'own';
  readonly version: bigint;
}
type Place =
  { readonly kind: 'unread' } | { readonly kind: 'free' } | { readonly kind: 'taken'; readonly version: bigint } | Own;

interface Claim {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class EndpointPublication<K extends TopologyKind> implements Publication {
  readonly topology: Topology;
  readonly key: string;
  readonly #parts: PublicationParts;
  readonly #source: PublicationSource<K>;
  readonly #codec: RecordCodec<DescriptorOf[K]>;
  readonly #generation: bigint;
  #phase: Phase = 'claiming';
  #place: Place = { kind: 'free' };
  #claim: Claim | undefined;
  #work: Promise<void> = Promise.resolve();
  #isWorking = false;
  /** The place must be read, but a step is under way. */
  #isDoubted = false;
  /** Of the newest record that was known to be the own one. */
  #ownVersion = 0n;
  /** For the loss of that record (5). */
  #isRaised = false;
  #wroteAtMs = -Infinity;
  #pause: { readonly timer: TimerHandle; readonly after: 'failure' | 'write' } | undefined;
  readonly #waiting = new Set<{ readonly revision: bigint; readonly resolve: () => void }>();

  constructor(source: PublicationSource<K>, parts: PublicationParts) {
    const { name, rid, lifecycleGeneration } = source.facts();
    this.topology = { kind: source.kind, name };
    this.key = descriptorKey(this.topology, rid);
    this.#parts = parts;
    this.#source = source;
    this.#codec = descriptorCodecs[source.kind];
    this.#generation = lifecycleGeneration;
  }

  /**
   * Resolves when the record is in the store. Called once; until it settles claiming goes on, whatever the store does.
   *
   * @throws ConfigurationError if the RID of a mesh node is taken or the record is too large; ZLinkError `ShuttingDown`
   */
  claim(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#claim = { resolve, reject };
      this.#wake();
    });
  }

  changed(): void {
    if (this.#pause?.after !== 'failure') this.#wake(); // what changes while the store is away waits like the rest
  }

  /** Resolves when everything that is true now has been written, or nothing will be any more. */
  settled(): Promise<void> {
    const { revision } = this.#source.facts();
    if (this.#hasWritten(revision)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ revision, resolve }));
  }

  get isPublished(): boolean {
    return this.#phase === 'published';
  }

  /** What an audit has read of the key; it may be older than the last step, so it decides nothing but to read again. */
  found(record: StoreRecord | undefined): void {
    if (this.#phase !== 'published') return;
    if (this.#isWorking) this.#isDoubted = true;
    else if (!this.#isKnown(record)) this.#become({ kind: 'unread' });
    this.#wake();
  }

  /** The own lease is valid again, or there may be other reasons to try now. */
  resume(): void {
    this.#wake();
  }

  /** Does nothing more; a write that is under way goes on. */
  abandon(): void {
    this.#end('withdrawn', new ZLinkError('ShuttingDown', `publishing ${this.#name()} has ended`));
  }

  /**
   * Deletes the record, if it is the own one; tried until the deadline.
   *
   * @returns why it may still be there, if so
   */
  async remove(deadline: AbortSignal): Promise<string | undefined> {
    this.abandon();
    await untilAborted(deadline, this.#work); // the outcome of a write decides what there is to delete
    if (this.#isWorking) return 'the outcome of the last write is not known';
    // A failover may have brought back what this run has put once, also after it was superseded.
    if (this.#place.kind !== 'own' && this.#ownVersion > 0n) this.#become({ kind: 'unread' });
    return tryUntil(deadline, this.#parts.clock, () => this.#tryRemove(deadline));
  }

  #wake(): void {
    if (this.#isWorking || this.#isOver) return;
    this.#clearPause();
    this.#isWorking = true;
    this.#work = this.#bringUpToDate();
  }

  get #isOver(): boolean {
    return this.#phase !== 'claiming' && this.#phase !== 'published';
  }

  async #bringUpToDate(): Promise<void> {
    try {
      while (this.#isBehind()) {
        const waitMs = this.#msBeforeWrite();
        if (waitMs > 0) this.#pauseAfter('write', waitMs);
        else await this.#step(); // 1
      }
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#isWorking = false;
    }
  }

  #isBehind(): boolean {
    if (this.#isOver || this.#pause !== undefined || !this.#parts.lease.isOpen) return false; // 3
    return this.#place.kind !== 'own' || !areSameBytes(this.#encode().bytes, this.#place.bytes);
  }

  /** 1: how long what has changed can wait. */
  #msBeforeWrite(): number {
    const { clock, writeIntervalMs } = this.#parts;
    if (this.#place.kind !== 'own' || this.#source.facts().state !== this.#place.state) return 0;
    return this.#wroteAtMs + writeIntervalMs - clock.nowMs();
  }

  /** Whether an audit has read what is known already. */
  #isKnown(record: StoreRecord | undefined): boolean {
    const place = this.#place;
    if (place.kind === 'unread') return false;
    return record?.version === (place.kind === 'free' ? undefined : place.version);
  }

  async #step(): Promise<void> {
    const place = this.#place;
    if (place.kind === 'unread') this.#learn(await this.#read());
    else if (place.kind === 'free') await this.#write({ kind: 'absent', key: this.key });
    else await this.#write({ kind: 'version', key: this.key, version: place.version });
    if (!this.#isDoubted) return;
    this.#isDoubted = false;
    this.#become({ kind: 'unread' });
  }

  async #read(signal?: AbortSignal): Promise<StoreRecord | undefined> {
    const { records } = await this.#parts.calls.read({ records: [this.key] }, signal);
    return records[0];
  }

  async #write(condition: StoreCondition): Promise<void> {
    const written = this.#encode();
    const { bytes } = written;
    if (bytes.byteLength > maxValueBytes)
      throw new ConfigurationError([
        `${this.#name()}: its descriptor has ${bytes.byteLength} bytes, allowed: ${maxValueBytes}`,
      ]);
    const version = await this.#commit(condition, { kind: 'put', key: this.key, value: bytes });
    if (version === undefined) return;
    this.#wroteAtMs = this.#parts.clock.nowMs();
    this.#become({ kind: 'own', version, ...written });
    this.#claimed();
  }

  /** The version of the commit; undefined after a conflict. */
  async #commit(condition: StoreCondition, mutation: StoreMutation, signal?: AbortSignal): Promise<bigint | undefined> {
    const { calls, lease, clock } = this.#parts;
    const beganAtMs = clock.nowMs();
    const stamp: StoreMutation = { kind: 'put', key: stampKey(this.topology), value: new Uint8Array(0) };
    try {
      const change = { conditions: [condition, lease.condition], mutations: [mutation, stamp] };
      const result = await calls.commit(change, { signal, mayRepeat: () => lease.isOpen }); // 3
      if (result.kind === 'applied') return result.version;
      if (result.kind === 'conflict' && result.conditionIndex === leaseCondition) {
        lease.foundAbsent(beganAtMs);
        this.#pauseAfter('failure', retryAfterMs); // unless the lease is back before
      } else this.#become({ kind: 'unread' }); // 2
      return undefined;
    } catch (error) {
      if (!isStoreError(error) || error.outcome === 'unknown') this.#become({ kind: 'unread' }); // 2
      throw error;
    }
  }

  /** 4 and 5: what follows from what stands under the key. */
  #learn(record: StoreRecord | undefined): void {
    const place = this.#judge(record);
    this.#become(place);
    if (place.kind === 'own') this.#claimed();
    else if (place.kind === 'taken' && place.version > this.#ownVersion) this.#foundTaken();
    else if (this.#phase === 'published' && !this.#isRaised) {
      this.#isRaised = true;
      this.#source.raise(); // 5
    }
  }

  #judge(record: StoreRecord | undefined): Place {
    if (record === undefined) return { kind: 'free' };
    const { version, value } = record;
    const descriptor = value === undefined ? undefined : this.#decode(value);
    const isOwn =
      descriptor?.ownerId === this.#parts.lease.ownerId && descriptor.lifecycleGeneration === this.#generation; // 4
    if (value === undefined || descriptor === undefined || !isOwn) return { kind: 'taken', version };
    const { revision, state, otherFields } = descriptor;
    return { kind: 'own', version, revision, state, bytes: value, otherFields };
  }

  /** Undefined for a record that cannot be read: this run has written none of that kind. */
  #decode(value: Uint8Array): DescriptorOf[K] | undefined {
    try {
      return this.#codec.decode(value);
    } catch {
      return undefined;
    }
  }

  #claimed(): void {
    if (this.#phase !== 'claiming') return;
    this.#phase = 'published';
    this.#claim?.resolve();
  }

  #foundTaken(): void {
    const { kind, name } = this.topology;
    if (this.#phase === 'published') {
      this.#end('superseded');
      this.#parts.logger.warn({ eventId: 'zlink.location.descriptor_superseded', topology: kind, name });
    } else if (this.#phase === 'claiming' && kind === 'mesh')
      this.#end('refused', new ConfigurationError([`${this.#name()}: the routing id is taken`]));
  }

  #failed(error: unknown): void {
    if (isStoreError(error)) return this.#pauseAfter('failure', retryAfterMs);
    if (this.#phase === 'claiming') return this.#end('refused', error);
    const { kind, name } = this.topology;
    const failure = errorText(error);
    this.#parts.logger.error({ eventId: 'zlink.location.publication_failed', topology: kind, name, error: failure });
  }

  async #tryRemove(deadline: AbortSignal): Promise<string | undefined> {
    if (this.#place.kind === 'unread') this.#become(this.#judge(await this.#read(deadline)));
    if (this.#place.kind !== 'own') return undefined;
    if (!this.#parts.lease.isOpen) return 'the owner lease is not valid'; // 3
    const { version } = this.#place;
    const condition: StoreCondition = { kind: 'version', key: this.key, version };
    const removed = await this.#commit(condition, { kind: 'delete', key: this.key }, deadline);
    if (removed !== undefined) this.#become({ kind: 'free' });
    else if (this.#isUnread) return this.#tryRemove(deadline); // what stands there now decides
    return removed === undefined ? 'the owner lease is absent' : undefined;
  }

  get #isUnread(): boolean {
    return this.#place.kind === 'unread';
  }

  #encode(): Written {
    const { ownerId, leaseGeneration } = this.#parts.lease;
    const { securityIdentity } = this.#parts;
    const facts = this.#source.facts();
    const otherFields = this.#place.kind === 'own' ? this.#place.otherFields : undefined; // 6
    const descriptor = {
      ...facts,
      ownerId,
      leaseGeneration,
      protocol: { min: WIRE_MAJOR, max: WIRE_MAJOR },
      ...(securityIdentity === undefined ? {} : { securityIdentity }),
      ...(otherFields === undefined ? {} : { otherFields }),
    };
    // OwnFacts are the descriptor of that kind without the fields that were added.
    const bytes = this.#codec.encode(descriptor as unknown as DescriptorOf[K]);
    return { bytes, revision: facts.revision, state: facts.state, otherFields };
  }

  #become(place: Place): void {
    this.#place = place;
    if (place.kind === 'own') {
      this.#ownVersion = place.version;
      this.#isRaised = false;
    }
    this.#tellWritten();
  }

  #end(phase: 'superseded' | 'refused' | 'withdrawn', error?: unknown): void {
    if (this.#isOver) return;
    this.#phase = phase;
    this.#clearPause();
    this.#claim?.reject(error); // does nothing if it was claimed
    this.#tellWritten();
  }

  #tellWritten(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasWritten(waiting.revision)) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  #hasWritten(revision: bigint): boolean {
    return this.#isOver || (this.#place.kind === 'own' && this.#place.revision >= revision);
  }

  #pauseAfter(what: 'failure' | 'write', ms: number): void {
    if (this.#isOver) return;
    this.#clearPause();
    this.#pause = { timer: this.#parts.clock.setBackgroundTimer(() => this.#wake(), ms), after: what };
  }

  #clearPause(): void {
    if (this.#pause !== undefined) this.#parts.clock.clearTimer(this.#pause.timer);
    this.#pause = undefined;
  }

  #name(): string {
    const { kind, name } = this.topology;
    const what = { mesh: 'mesh', clientServer: 'server of channel', fanout: 'publisher of channel' }[kind];
    return `${what} "${name}", routing id "${this.#source.facts().rid}"`;
  }
}
