/** Whatever happens to the store and to the hosts: when it is over, all hosts see the same, and it is what is true. */
import fc from 'fast-check';
import { games, type Host, live, type PlayedSource, type PlayedWatcher, server, World } from './runtime-rig.ts';

const anyHost = fc.nat(2);
const event = fc.oneof(
  fc.record({ kind: fc.constant('change' as const), host: anyHost, weight: fc.nat(10_000) }),
  fc.record({ kind: fc.constant('outage' as const), host: anyHost }),
  fc.record({ kind: fc.constant('lostReplies' as const), host: anyHost, times: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('slow' as const), host: anyHost, ms: fc.integer({ min: 100, max: 4_000 }) }),
  fc.record({ kind: fc.constant('heal' as const), host: anyHost }),
  fc.record({ kind: fc.constant('restart' as const), host: anyHost }),
  fc.record({ kind: fc.constant('loseAll' as const) }),
  fc.record({ kind: fc.constant('save' as const) }),
  fc.record({ kind: fc.constant('rollBack' as const) }),
  fc.record({ kind: fc.constant('disrupt' as const), host: anyHost }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
);
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;

interface Member {
  host: Host;
  source: PlayedSource<'clientServer'>;
  watcher: PlayedWatcher<'clientServer'>;
}

class Cluster {
  readonly world: World;
  readonly members: Member[] = [];
  #generation = 0n;

  constructor(world: World) {
    this.world = world;
  }

  async join(at: number): Promise<void> {
    const host = await this.world.openHost();
    const source = await host.publish(server(`s${at}`, { generation: ++this.#generation }));
    this.members[at] = { host, source, watcher: host.watch(games) };
  }

  async apply(happens: Event): Promise<void> {
    const { world } = this;
    if (happens.kind === 'pass') return world.clock.advanceAsync(happens.ms);
    if (happens.kind === 'loseAll') return world.loseAll();
    if (happens.kind === 'save') return world.save();
    if (happens.kind === 'rollBack') return this.#rollBack();
    const { host, source } = this.members[happens.host] as Member; // there are three
    switch (happens.kind) {
      case 'change':
        return source.change({ weight: happens.weight });
      case 'outage':
        return host.store.inject({ kind: 'fail' });
      case 'lostReplies':
        return host.store.inject({ kind: 'loseReply' }, 'commit', happens.times);
      case 'slow':
        return host.store.inject({ kind: 'delay', at: 'reply', ms: happens.ms });
      case 'heal':
        return host.store.heal();
      case 'disrupt':
        return host.store.disrupt();
      case 'restart': // a crash, and a new run under the same routing id
        await host.runtime.close();
        return this.join(happens.host);
    }
  }

  /** A store that loses what it has acknowledged tells so (LOC-019). */
  async #rollBack(): Promise<void> {
    await this.world.rollBack();
    for (const { host } of this.members) host.store.disrupt();
  }
}

test('[LOC-062] after any sequence of changes, outages, losses, failovers and restarts all hosts converge to what is true', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 25 }), async (events) => {
      const world = await World.create();
      const cluster = new Cluster(world);
      for (const at of [0, 1, 2]) await cluster.join(at);
      const seen = new Map<string, bigint>();
      for (const happens of events) await cluster.apply(happens);
      for (const { host } of cluster.members) host.store.heal();
      await world.clock.advanceAsync(130_000); // longer than anything is repeated, audited or waited for

      const truth = new Map(cluster.members.map(({ source }) => [source.facts().rid, source.facts()]));
      for (const { watcher, host } of cluster.members) {
        expect(watcher.last).toMatchObject({ isCurrent: true, problem: undefined });
        expect(host.runtime.admission.isOpen).toBe(true);
        expect([...(watcher.last?.endpoints.keys() ?? [])].sort()).toEqual(['s0', 's1', 's2']);
        for (const [rid, { descriptor, isOwnerPresent }] of watcher.last?.endpoints ?? []) {
          expect(descriptor).toMatchObject({ ...truth.get(rid) });
          expect(isOwnerPresent).toBe(true);
        }
        for (const { endpoints } of watcher.views) expectUpwards(seen, endpoints);
        seen.clear();
      }
      await Promise.all(cluster.members.map(({ host }) => host.runtime.withdraw(live())));
      expect(await world.keys('d/')).toEqual([]);
      expect(await world.keys('l/')).toEqual([]);
      await world.closeAll();
      expect(world.pending).toBe(0);
    }),
    { numRuns: 30 },
  );
}, 240_000);

type Endpoints = NonNullable<PlayedWatcher<'clientServer'>['last']>['endpoints'];

/** Within one generation no view goes back behind an earlier one, as long as the endpoint is in view. */
function expectUpwards(seen: Map<string, bigint>, endpoints: Endpoints): void {
  for (const generation of seen.keys()) if (!endpoints.has(generation.split('/')[0] ?? '')) seen.delete(generation);
  for (const { descriptor } of endpoints.values()) {
    const generation = `${descriptor.rid}/${descriptor.lifecycleGeneration}`;
    expect(descriptor.revision).toBeGreaterThanOrEqual(seen.get(generation) ?? 0n);
    seen.set(generation, descriptor.revision);
  }
}
