/** The contracts of both stores, on cluster. */
import { jest } from '@jest/globals';
import { locationStoreSuite, relocationStoreSuite } from '@zlink/testing';
import type { Deployment } from './servers/deployment.ts';
import { startCluster } from './servers/cluster.ts';
import { StoreHarness } from './servers/store-harness.ts';

jest.setTimeout(300_000);

let deployment: Deployment;
const harness = new StoreHarness(() => deployment);

beforeAll(async () => {
  deployment = await startCluster();
});

afterAll(async () => {
  await harness.close();
  await deployment.close();
});

locationStoreSuite('location store on cluster', harness.location);
relocationStoreSuite('relocation store on cluster', harness.relocation);
