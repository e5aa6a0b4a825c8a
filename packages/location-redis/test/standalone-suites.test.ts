/** The contracts of both stores, on standalone. */
import { jest } from '@jest/globals';
import { locationStoreSuite, relocationStoreSuite } from '@zlink/testing';
import type { Deployment } from './servers/deployment.ts';
import { startStandalone } from './servers/standalone.ts';
import { StoreHarness } from './servers/store-harness.ts';

jest.setTimeout(300_000);

let deployment: Deployment;
const harness = new StoreHarness(() => deployment);

beforeAll(async () => {
  deployment = await startStandalone();
});

afterAll(async () => {
  await harness.close();
  await deployment.close();
});

locationStoreSuite('location store on standalone', harness.location);
relocationStoreSuite('relocation store on standalone', harness.relocation);
