import { LastHandler } from '@zlink/kernel/dispatch';

const block = { owner: 'billing', packetName: 'block' };
const echo = { owner: 'billing', packetName: 'echo' };

test('[C16] what was started last is blamed for a stall that lasts', () => {
  const last = new LastHandler();
  last.started('stock', 'first', 1_000);
  last.started('billing', 'block', 60_000);
  expect(last.during(4_000, 64_200)).toEqual(block);
});

test('[C16] what started right after the stall is not blamed for it', () => {
  const last = new LastHandler();
  last.started('stock', 'first', 1_000);
  last.started('billing', 'block', 60_000);
  for (let at = 0; at < 3; at++) last.started('billing', 'echo', 64_000 + at);
  expect(last.during(3_800, 64_010)).toEqual(block);
  expect(last.during(5, 64_010)).toEqual(echo);
});

test('[C16] time without any handler is nobody’s', () => {
  const last = new LastHandler();
  last.started('stock', 'first', 1_000);
  last.started('billing', 'echo', 60_000); // a minute of silence
  expect(last.during(1_500, 61_600)).toEqual(echo);
});

test('[C16] before any handler has started there is nobody to name', () => {
  expect(new LastHandler().during(2_000, 10_000)).toEqual({ owner: '', packetName: '' });
});
