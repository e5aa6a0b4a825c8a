/** The contracts of both stores, on sentinel. */
import { jest } from '@jest/globals';
import { locationStoreSuite, relocationStoreSuite } from '@zlink/testing';
import type { Deployment } from './servers/deployment.ts';
import { startSentinel } from './servers/sentinel.ts';
import { StoreHarness } from './servers/store-harness.ts';

jest.setTimeout(300_000);

let deployment: Deployment;
const harness = new StoreHarness(() => deployment);

beforeAll(async () => {
  deployment = await startSentinel();
});

afterAll(async () => {
  await harness.close();
  await deployment.close();
});

locationStoreSuite('location store on sentinel', harness.location);
relocationStoreSuite('relocation store on sentinel', harness.relocation);
