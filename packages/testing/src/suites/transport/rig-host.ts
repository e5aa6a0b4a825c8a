/**
 * One host of the suite: a transport with its permits, names and group.
 *
 * Owns the records it has submitted, to judge them at the end.
 */
import { newGeneration, type NodeIdentity } from '@zlink/kernel/identity';
import { JobPermits, type JobPermitLimits } from '@zlink/kernel/internal/execution';
import type {
  DialOptions,
  Intent,
  IntentState,
  Link,
  Listener,
  ListenOptions,
  Transport,
} from '@zlink/kernel/internal/transport';
import {
  type Descriptor,
  DescriptorState,
  NameIndex,
  ObjectRole,
  type OutboundName,
  RecordKind,
} from '@zlink/kernel/internal/wire';
import type { KeptRecord } from './kept-record.ts';
import { RigGroup } from './rig-group.ts';
import { type RecordOptions, RigRecord } from './rig-record.ts';
import type { Shape } from './shapes.ts';

export const SCOPE = 'billing';
const CONTENT_TYPE = 'application/octet-stream';

export interface HostOptions {
  readonly rid?: string;
  readonly generation?: bigint;
  readonly permits?: Partial<JobPermitLimits>;
  readonly budgetBytes?: number;
  readonly maxWindowBytes?: number;
}

export class RigHost {
  readonly identity: NodeIdentity;
  readonly transport: Transport;
  readonly permits: JobPermits;
  readonly names = new NameIndex();
  readonly dialGroup: RigGroup;
  readonly listenGroup: RigGroup;
  readonly intents: Intent[] = [];
  /** States that the intents have reported, newest last. */
  readonly states: IntentState[] = [];
  readonly records: RigRecord[] = [];
  readonly shape: Shape;
  readonly #address: string;

  constructor(
    shape: Shape,
    options: HostOptions,
    permits: JobPermits,
    transport: Transport,
    address: string,
    fallbackRid: string,
  ) {
    this.shape = shape;
    this.identity = { rid: options.rid ?? fallbackRid, generation: options.generation ?? newGeneration() };
    this.permits = permits;
    this.transport = transport;
    this.#address = address;
    this.dialGroup = new RigGroup(shape.dialPolicy, permits);
    this.listenGroup = shape.symmetric ? this.dialGroup : new RigGroup(shape.listenPolicy, permits);
  }

  async listen(overrides: Partial<ListenOptions> = {}): Promise<Listener> {
    return await this.transport.listen({
      kind: this.shape.listens,
      scope: SCOPE,
      identity: this.identity,
      bindAddress: this.#address,
      maxMessageBytes: 0,
      descriptor: descriptorOf(1n),
      group: this.listenGroup,
      accepts: this.shape.dials,
      ...overrides,
    });
  }

  dial(address: string, overrides: Partial<DialOptions> = {}): Intent {
    const intent = this.transport.dial({
      kind: this.shape.dials,
      scope: SCOPE,
      identity: this.identity,
      descriptor: descriptorOf(1n),
      address,
      expects: this.shape.listens,
      group: this.dialGroup,
      onState: (changed) => this.states.push(changed.state),
      ...overrides,
    });
    this.intents.push(intent);
    return intent;
  }

  /** A one-way record; what it was submitted with is judged at the end of the case. */
  send(options: Partial<RecordOptions> = {}): RigRecord {
    return this.#make(RecordKind.send, options);
  }

  request(options: Partial<RecordOptions> = {}): RigRecord {
    return this.#make(RecordKind.request, options);
  }

  reply(to: KeptRecord, options: Partial<RecordOptions> = {}): RigRecord {
    return this.#make(RecordKind.reply, { ...options, correlation: to.correlation });
  }

  error(to: KeptRecord, errorNumber: number, text: string): RigRecord {
    return this.#make(RecordKind.error, {
      correlation: to.correlation,
      errorNumber,
      payload: text,
    });
  }

  name(packetName: string, scope = '', contentType = CONTENT_TYPE): OutboundName {
    return this.names.get(scope, contentType, packetName);
  }

  /** Answers every request with its own payload. */
  echo(group: RigGroup): void {
    group.answer = (record, link) => {
      if (record.kind === RecordKind.request) this.reply(record, { payload: record.payload }).submit(link);
    };
  }

  #make(kind: RecordKind, options: Partial<RecordOptions>): RigRecord {
    // An error has no name; the others have one, and a given one must be the only one in the table.
    const name = options.name ?? (kind === RecordKind.error ? undefined : this.name('packet'));
    const record = new RigRecord(kind, { ...options, name });
    this.records.push(record);
    return record;
  }
}

export function descriptorOf(revision: bigint, weight = 100): Descriptor {
  return {
    revision,
    state: DescriptorState.serving,
    objectRole: ObjectRole.none,
    channels: [{ name: SCOPE, weight }],
  };
}

/** Which links the host has; the two groups may be one. */
export function groupsOf(host: RigHost): readonly RigGroup[] {
  return host.dialGroup === host.listenGroup ? [host.dialGroup] : [host.dialGroup, host.listenGroup];
}

export function openLinksOf(host: RigHost): Link[] {
  return groupsOf(host)
    .flatMap((group) => group.opened)
    .filter((link) => link.phase === 'open');
}
