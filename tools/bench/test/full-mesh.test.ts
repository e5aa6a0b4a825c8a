import { expect, jest, test } from '@jest/globals';
import { endpointsByRid, linkCount, shares } from '../src/full-mesh/plan.ts';
import { FullMeshStage } from '../src/full-mesh/stage.ts';

jest.setTimeout(60_000); // tells a hang from a success, also on a machine that has no time for the test

const nodes = ['a', 'b', 'c'].map((rid) => ({ rid, endpoint: `tcp://${rid}:1` }));

test('[MESH-002] every node is told of all others', () => {
  expect(endpointsByRid(nodes, 'both')).toEqual({
    a: ['tcp://b:1', 'tcp://c:1'],
    b: ['tcp://a:1', 'tcp://c:1'],
    c: ['tcp://a:1', 'tcp://b:1'],
  });
});

test('[MESH-002] each pair is dialled from one side', () => {
  expect(endpointsByRid(nodes, 'once')).toEqual({ a: ['tcp://b:1', 'tcp://c:1'], b: ['tcp://c:1'], c: [] });
  expect(Object.values(endpointsByRid(nodes, 'once')).flat()).toHaveLength(linkCount(3));
});

test.each([
  [50, 50, Array<number>(50).fill(1)],
  [50, 5, [10, 10, 10, 10, 10]],
  [5, 3, [1, 2, 2]],
])('[CORE-001] %i nodes are shared among %i processes as even as can be', (nodeCount, processCount, expected) => {
  expect(shares(nodeCount, processCount)).toEqual(expected);
});

test.each(['both', 'once'] as const)(
  '[MESH-002] two stages join into a full mesh that works, dialled %s',
  async (who) => {
    const stages = [new FullMeshStage(), new FullMeshStage()];
    try {
      const opened = [];
      for (const stage of stages) opened.push(...(await stage.openNodes({ nodeCount: 2 })).nodes);
      const plan = { endpointsByRid: endpointsByRid(opened, who), readyCount: 3 };
      const joins = await Promise.all(stages.map((stage) => stage.join(plan)));
      for (const { readyAtMs } of joins) expect(readyAtMs).toBeGreaterThan(0);
      const rids = opened.map(({ rid }) => rid);
      for (const stage of stages) expect(await stage.askAll({ rids })).toEqual({ answeredCount: 6 });
    } finally {
      await Promise.all(stages.map((stage) => stage.close()));
    }
  },
);
