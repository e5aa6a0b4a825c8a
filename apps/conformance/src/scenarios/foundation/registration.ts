/** HOSTREG and HOST-009: what a start refuses, all of it at once, and before anything is bound. */
import assert from 'node:assert/strict';
import { isFree, quietPort } from '@zlink/testing/internal';
import { CHANNEL, MESH_CHANNEL } from '../../contracts.ts';
import type { HostPlan, PartPlan } from '../../roles/plan.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Stage } from '../../runner/stage.ts';
import type { Scenario } from '../../scenario.ts';
import {
  chain,
  collisions,
  contradictions,
  type Mistake,
  wrongHandlers,
  wrongLocation,
  wrongQueues,
} from './mistakes.ts';

/** Each one is tried in one process, one after another: a start that failed leaves the way free for the next. */
async function expectRefused(stage: Stage, mistakes: readonly Mistake[]): Promise<void> {
  const first = await stage.describe('host', []);
  const misses: string[] = [];
  for (const [number, mistake] of mistakes.entries()) {
    const plan: HostPlan = {
      name: `host ${number}`,
      parts: mistake.parts ?? [],
      ...(mistake.options === undefined ? {} : { options: mistake.options }),
    };
    const host = await stage.describeIn(first.process, plan);
    const end = await host.tryStart();
    if (end.ok) misses.push(`${mistake.what}: the host started`);
    else if (!end.error.isConfigurationError) misses.push(`${mistake.what}: ${end.error.name} ${end.error.message}`);
    else if (!mistake.says.test(end.error.message)) misses.push(`${mistake.what}: ${end.error.message}`);
    else if (end.state !== 'error' && end.state !== 'configuring') misses.push(`${mistake.what}: state ${end.state}`);
    if (end.ok) await host.shutdown();
  }
  assert.deepEqual(misses, []);
  const sound = await stage.describeIn(first.process, { name: 'sound', parts: [{ role: 'server' }] });
  assert.ok((await sound.tryStart()).ok, 'a sound host starts after all that');
}

export const registration: readonly Scenario[] = [
  {
    ids: ['HOSTREG-001', 'HOST-001'],
    title: 'a process runs one host: a second start is refused, and is possible again after the first has ended',
    run: async (stage) => {
      const first = await stage.server('first');
      const second = await stage.describeBeside(first, 'second', [{ role: 'server' }]);
      const end = await second.tryStart();
      assert.ok(!end.ok && end.error.isConfigurationError, 'the second start is refused');
      const again = await first.tryStart();
      assert.ok(!again.ok && again.error.isConfigurationError, 'a host starts once');
      assert.equal(await first.ask('running.state'), 'serving');
      assert.ok((await first.shutdown()).ok);
      const late = await first.tryStart();
      assert.ok(!late.ok);
      assert.equal(late.error.kind, 'InvalidOperation');
      const third = await stage.describeBeside(first, 'third', [{ role: 'server' }]);
      assert.ok((await third.tryStart()).ok, 'a later host starts');
    },
  },
  {
    ids: ['HOSTREG-002', 'DISP-002', 'FAN-003'],
    title: 'names, roles and handlers that collide are refused',
    run: (stage) => expectRefused(stage, collisions),
  },
  {
    ids: ['HOSTREG-003', 'LOC-002', 'FAN-001', 'CS-003', 'CS-011', 'MESH-002', 'MESH-004'],
    title: 'options that contradict each other or leave their range are refused',
    run: (stage) => expectRefused(stage, contradictions),
  },
  {
    ids: ['HOSTREG-006'],
    title: 'servers and subscribers without handlers, and handlers of the wrong kind, are refused',
    run: (stage) => expectRefused(stage, wrongHandlers),
  },
  {
    ids: ['JOBQ-001'],
    title: 'queue and budget options that leave their range are refused',
    run: (stage) => expectRefused(stage, wrongQueues),
  },
  {
    ids: ['HOST-009', 'HOST-010', 'HOSTREG-003'],
    title: 'location options that leave their range or do not fit each other are refused',
    run: (stage) => expectRefused(stage, wrongLocation),
  },
  {
    ids: ['ERR-002', 'HOST-009', 'HOSTREG-003'],
    title: 'a start lists all mistakes, each with value and range, and has opened no port',
    run: async (stage) => {
      const port = await quietPort();
      const parts: readonly PartPlan[] = [
        { role: 'server', port, weight: -1, concurrency: 0 },
        chain(['addRouteMesh', 'm'], ['setRoutingIdPrefix', 'a b']),
      ];
      const options = { requestTimeoutMs: 0, sendTimeoutMs: -5 };
      const host = await stage.describe('host', parts, { options });
      const end = await host.tryStart();
      assert.ok(!end.ok);
      const problems = end.error.problems ?? [];
      for (const part of [/requestTimeoutMs.*0.*2.?147/, /sendTimeoutMs.*-5/, /-1.*10.?000/, /concurrency/, /a b/]) {
        assert.ok(
          problems.some((text) => part.test(text)),
          `${String(part)} is among ${problems.join('; ')}`,
        );
      }
      assert.ok(problems.length >= 5);
      assert.ok(await isFree(port), 'the port is free');
      assert.equal(end.state, 'error');
    },
  },
  {
    ids: ['HOSTREG-004'],
    title: 'a started host is frozen; weights, manual endpoints and route timing still change',
    run: async (stage) => {
      const peer = await stage.node('peer');
      const host = await stage.start('host', [{ role: 'server' }, nodePlan(stage, 'host')]);
      const ends = await host.probe('surface.describeFurther');
      for (const [name, kind] of Object.entries(ends)) assert.equal(kind, 'InvalidOperation', name);
      assert.equal(await host.ask('servers.setWeight', 7), undefined);
      assert.equal(await host.ask('peers.setWeight', 9), undefined);
      assert.equal(await host.ask('peers.weight'), 9);
      assert.equal(await host.ask('peers.connect', peer.meshEndpoint), undefined);
      await host.ask('peers.ready', 1);
      assert.equal(await host.ask('running.setRouteTiming', { routeCacheMaxAgeMs: 10_000 }), undefined);
      await peer.reply({ to: { channel: MESH_CHANNEL } });
    },
  },
  {
    ids: ['LOC-005', 'HOST-010'],
    title: 'route timing changes at run time, and a bad value changes nothing',
    run: async (stage) => {
      const host = await stage.start('host', []);
      assert.equal(await host.ask('running.setRouteTiming', { routeCacheMaxAgeMs: 20_000 }), undefined);
      for (const timing of [
        { routeCacheMaxAgeMs: -1 },
        { routeCacheMaxAgeMs: 25_001 },
        { messageFollowDurationMs: 24_999 },
        { messageFollowDurationMs: 1.5 },
      ]) {
        const error = await host.ask('running.setRouteTiming', timing);
        assert.ok(error?.isConfigurationError, JSON.stringify(timing));
      }
      // Nothing has changed: 25,000 still is the least that goes with 20,000.
      assert.equal(await host.ask('running.setRouteTiming', { messageFollowDurationMs: 25_000 }), undefined);
      assert.equal(await host.ask('running.setRouteTiming', { messageFollowDurationMs: 0 }), undefined);
      assert.equal(await host.ask('running.setRouteTiming', { routeCacheMaxAgeMs: 0 }), undefined);
    },
  },
  {
    ids: ['DISP-002', 'NODE-002'],
    title: 'one packet has another handler in each channel and on each mesh',
    run: async (stage) => {
      const host = await stage.start('host', [
        { role: 'server' },
        nodePlan(stage, 'host'),
        { role: 'node', mesh: 'other', rid: 'host' },
      ]);
      const other = host.facts.listeners.find(({ name }) => name === 'other')?.endpoint ?? '';
      const client = await stage.start('client', [
        { role: 'client', connect: [host.endpoint] },
        nodePlan(stage, 'client', [host], { channels: [{}] }),
        { role: 'node', mesh: 'other', rid: 'client', connect: [other] },
      ]);
      await client.ask('peers.ready', 1);
      await client.ask('peers.ready', 1, 'other');
      await client.reply({ to: { channel: CHANNEL } });
      await client.reply({ to: { channel: MESH_CHANNEL } });
      await client.reply({ to: { rid: 'host' } });
      await client.reply({ to: { rid: 'host', mesh: 'other' } });
      const journal = await host.seen(4, 'begun');
      assert.deepEqual(
        journal.filter(({ what }) => what === 'begun').map(({ owner, context }) => [owner, context?.meshName]),
        [
          ['server', undefined],
          ['channel', undefined],
          ['node', 'conformance-mesh'],
          ['node', 'other'],
        ],
      );
    },
  },
];
