/** What an endpoint says about itself, and to whom first. */
import { OwnEndpoint } from '@zlink/kernel/internal/host';
import { DescriptorState } from '@zlink/kernel/internal/wire';

function makeOwn(told: string[]): OwnEndpoint<'clientServer'> {
  return new OwnEndpoint({
    kind: 'clientServer',
    name: 'orders',
    identity: { rid: 'a', generation: 9n },
    weights: new Map([['orders', 7]]),
    listener: () => ({
      endpoint: 'tcp://127.0.0.1:1',
      update: ({ revision }) => void told.push(`links ${revision}`),
    }),
    describe: ([membership]) => ({ weight: membership?.weight ?? 0 }),
  });
}

test('[CS-005] links are told before the store, with one revision for both', async () => {
  const told: string[] = [];
  const own = makeOwn(told);
  const changed = (): void => void told.push(`store ${own.facts().revision}`);
  const discovery = {
    admission: { isOpen: true },
    publish: () => Promise.resolve({ changed }),
    watch: () => () => undefined,
  };
  await own.publish(discovery, new AbortController().signal);
  own.become(DescriptorState.serving);
  own.setWeight('orders', 8);
  own.raise();
  expect(told).toEqual(['links 2', 'store 2', 'links 3', 'store 3', 'links 4']);
  expect(own.facts()).toEqual({
    name: 'orders',
    rid: 'a',
    lifecycleGeneration: 9n,
    revision: 4n,
    endpoint: 'tcp://127.0.0.1:1',
    state: 'serving',
    weight: 8,
  });
});

test('[CS-005] a change made while the place is being claimed is published afterwards', async () => {
  const told: string[] = [];
  const own = makeOwn(told);
  let claimed!: () => void;
  const claim = new Promise<void>((resolve) => (claimed = resolve));
  const discovery = {
    admission: { isOpen: true },
    publish: () => claim.then(() => ({ changed: () => void told.push(`store ${own.facts().revision}`) })),
    watch: () => () => undefined,
  };
  const publishing = own.publish(discovery, new AbortController().signal);
  own.setWeight('orders', 8);
  claimed();
  await publishing;
  expect(told).toEqual(['links 2', 'store 2']);
});
