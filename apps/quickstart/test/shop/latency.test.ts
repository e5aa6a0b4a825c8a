import { LatencyRecord } from '../../src/shop/latency.ts';

test('[CS-001] latencies have a median and a 99th percentile within a thousandth', () => {
  const record = new LatencyRecord();
  for (let n = 1; n <= 1_000; n++) record.add(n / 10);
  const { count, p50Ms, p99Ms } = record.total;
  expect(count).toBe(1_000);
  expect(Math.abs(p50Ms - 50)).toBeLessThanOrEqual(0.05);
  expect(Math.abs(p99Ms - 99)).toBeLessThanOrEqual(0.1);
});

test('[CS-001] a window begins anew when it is taken, the total goes on', () => {
  const record = new LatencyRecord();
  record.add(5);
  expect(record.takeWindow().count).toBe(1);
  expect(record.takeWindow()).toEqual({ count: 0, p50Ms: 0, p99Ms: 0 });
  record.add(7);
  expect(record.takeWindow().p50Ms).toBeCloseTo(7, 1);
  expect(record.total.count).toBe(2);
});

test('[CS-001] a call too fast for the clock still counts', () => {
  const record = new LatencyRecord();
  record.add(0);
  expect(record.total).toEqual({ count: 1, p50Ms: 0.001, p99Ms: 0.001 });
});
