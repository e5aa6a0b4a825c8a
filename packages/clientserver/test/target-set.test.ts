import type { NodeIdentity } from '@zlink/kernel/identity';
import { JobPermits } from '@zlink/kernel/internal/execution';
import type { Link, LinkPhase } from '@zlink/kernel/internal/transport';
import { type Descriptor, DescriptorState, ObjectRole } from '@zlink/kernel/internal/wire';
import { ManualClock } from '@zlink/testing';
import fc from 'fast-check';
import { Target, type TargetOwner } from '../src/client/target.ts';
import { TargetSet } from '../src/client/target-set.ts';

/** What a target looks at. */
interface SeenLink {
  readonly peer: NodeIdentity;
  phase: LinkPhase;
  descriptor: Descriptor;
}

interface Server {
  readonly link: SeenLink;
  readonly target: Target;
}

interface Chosen {
  readonly link: SeenLink;
  readonly weight: number;
}

const permits = new JobPermits({ max: 1, pauseThresholdPercent: 100, resumeThresholdPercent: 50 });

function descriptorOf(state: DescriptorState, weight: number): Descriptor {
  return { revision: 1n, state, objectRole: ObjectRole.none, channels: [{ name: 'billing', weight }] };
}

/** Looks at all servers after every change, and at every accumulator for every choice. */
class FromScratch {
  /** In the order of their admission. */
  readonly servers: Server[] = [];
  readonly leftOut = new Set<string>();
  readyCount = 0;
  candidates = new Map<string, Chosen>();
  #accumulators = new Map<string, number>();

  isLeftOut({ rid, generation }: NodeIdentity): boolean {
    return this.leftOut.has(`${rid} ${generation}`);
  }

  /** @returns whether there is another list now */
  look(): boolean {
    const ready = new Map<string, Chosen>();
    for (const { link } of this.servers) {
      if (link.phase !== 'open' || link.descriptor.state !== DescriptorState.serving) continue;
      ready.set(link.peer.rid, { link, weight: link.descriptor.channels[0]?.weight ?? 0 });
    }
    const before = this.candidates;
    const listed = [...ready].filter(([, { link, weight }]) => weight > 0 && !this.isLeftOut(link.peer));
    this.readyCount = ready.size;
    this.candidates = new Map(listed.sort(([rid], [other]) => (rid < other ? -1 : 1)));
    this.#accumulators = new Map(listed.map(([rid]) => [rid, this.#accumulators.get(rid) ?? 0]));
    return (
      listed.length !== before.size ||
      listed.some(([rid, { link, weight }]) => before.get(rid)?.link !== link || before.get(rid)?.weight !== weight)
    );
  }

  choose(): unknown {
    let chosen: string | undefined;
    let largest = -Infinity;
    let total = 0;
    for (const [rid, { weight }] of this.candidates) {
      const accumulator = (this.#accumulators.get(rid) ?? 0) + weight;
      this.#accumulators.set(rid, accumulator);
      total += weight;
      if (accumulator <= largest) continue;
      largest = accumulator;
      chosen = rid;
    }
    if (chosen === undefined) return undefined;
    this.#accumulators.set(chosen, largest - total);
    return this.candidates.get(chosen)?.link;
  }
}

const rid = fc.constantFrom('a', 'b', 'c', 'd');
const generation = fc.bigInt({ min: 1n, max: 3n });
const state = fc.constantFrom(...Object.values(DescriptorState), DescriptorState.serving, DescriptorState.serving);
const weight = fc.constantFrom(0, 1, 2, 3, 300);
const which = fc.nat(9);

const step = fc.oneof(
  fc.record({ kind: fc.constant('open' as const), rid, generation, state, weight }),
  fc.record({ kind: fc.constant('update' as const), which, state, weight }),
  fc.record({ kind: fc.constant('finish' as const), which }),
  fc.record({ kind: fc.constant('close' as const), which }),
  fc.record({ kind: fc.constant('view' as const), rid, generation }),
  fc.record({ kind: fc.constant('choose' as const), count: fc.nat(12) }),
);

test('[WRR-003] [CHAN-003] whatever servers and discovery do: list, order and rebuilds are those of a look at all of them', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
      const model = new FromScratch();
      const targets = new TargetSet(new ManualClock(), (server) => model.isLeftOut(server));
      const unexpected = (): void => expect(undefined).toBe('a message');
      const owner: TargetOwner = {
        onTargetChanged: (target) => targets.refresh(target.link.peer.rid),
        onTargetClosed: (target) => targets.remove(target),
        onStrayMessage: unexpected,
        onStrayReply: unexpected,
      };
      for (const one of steps) {
        const { rebuilds } = targets;
        const server = 'which' in one ? model.servers[one.which % Math.max(1, model.servers.length)] : undefined;
        switch (one.kind) {
          case 'open': {
            const { rid, generation, state, weight } = one;
            const link: SeenLink = {
              peer: { rid, generation },
              phase: 'open',
              descriptor: descriptorOf(state, weight),
            };
            const target = new Target(link as unknown as Link, permits, owner); // sends nothing
            model.servers.push({ link, target });
            targets.add(target);
            break;
          }
          case 'update':
            if (server !== undefined) server.link.descriptor = descriptorOf(one.state, one.weight);
            server?.target.onUpdate();
            break;
          case 'finish':
            if (server !== undefined) server.link.phase = 'finishing';
            server?.target.onFinishing();
            break;
          case 'close':
            if (server === undefined) break;
            server.link.phase = 'closed';
            model.servers.splice(model.servers.indexOf(server), 1);
            server.target.onClosed();
            server.target.onClosed(); // changes nothing any more
            break;
          case 'view': {
            const id = `${one.rid} ${one.generation}`;
            if (!model.leftOut.delete(id)) model.leftOut.add(id);
            targets.refreshAll();
            break;
          }
          case 'choose':
            for (let at = 0; at < one.count; at++) expect(targets.choose()).toBe(model.choose());
        }
        const isOther = model.look();
        expect(targets.rebuilds - rebuilds).toBe(isOther ? 1 : 0);
        expect([targets.candidateCount, targets.readyCount]).toEqual([model.candidates.size, model.readyCount]);
      }
      for (let at = 0; at < 20; at++) expect(targets.choose()).toBe(model.choose());
    }),
    { numRuns: 300 },
  );
});
