import { CHANNEL, Echo, Entry } from '../fixtures/fault-packets.ts';
import type { OrderServer } from '../fixtures/fault-order-server.ts';
import { makeHost } from '../hosts.ts';
import { endChildren, startChild } from './fault-child.ts';

afterEach(endChildren);

test('[CORE-003] [C04] 5,000 sends over 50 keys and 500 calls in one tick: each once, in order per key', async () => {
  const server = await startChild<OrderServer>('order-server');
  const host = makeHost();
  host
    .addClientServerChannel(CHANNEL)
    .client()
    .connect(await server.ask('serve'));
  await host.start();
  await host.clientServerChannel(CHANNEL).whenReady(1);
  const { routeClient } = host;
  const keys = Array.from({ length: 50 }, (_, number) => `k${number}`);
  const startedAtMs = performance.now();

  const sends: Promise<void>[] = [];
  const calls: Promise<{ readonly id: number }>[] = [];
  for (let seq = 0; seq < 100; seq++) {
    for (const key of keys) sends.push(routeClient.sendToChannel(CHANNEL, Entry({ key, seq })).submit());
    for (let id = seq * 5; id < seq * 5 + 5; id++) {
      calls.push(routeClient.requestToChannel(CHANNEL, Echo({ id })).submit());
    }
  }

  expect(await Promise.all(sends)).toHaveLength(5_000);
  expect((await Promise.all(calls)).map(({ id }) => id)).toEqual(Array.from({ length: 500 }, (_, id) => id));
  // Clients and servers share one order: an answer to a later call proves that every send before it was handled.
  await routeClient.requestToChannel(CHANNEL, Echo({ id: -1 })).submit();
  expect(performance.now() - startedAtMs).toBeLessThan(25_000); // who waits in vain waits for 30 s
  const inOrder = Array.from({ length: 100 }, (_, seq) => seq);
  expect(await server.ask('arrived')).toEqual(Object.fromEntries(keys.map((key) => [key, inOrder])));
  expect(await server.ask('calls')).toBe(501);
}, 300_000);
