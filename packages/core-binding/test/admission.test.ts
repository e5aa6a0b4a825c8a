import { ManualClock, until } from '@zlink/testing';
import { AdmissionGate } from '../src/admission-gate.ts';
import { AttemptRate } from '../src/attempt-rate.ts';
import { ClientKeys } from '../src/client-keys.ts';
import type { CurveSecurity } from '../src/index.ts';
import { closeEngines, engine } from './engines.ts';
import { dial, dialAndGreet, listen } from './pipe-recorder.ts';

afterEach(closeEngines);

const limits = { burstCount: 3, perSecond: 10, loopbackBurstCount: 5, loopbackPerSecond: 100 };

interface ArrangedRate {
  readonly rate: AttemptRate;
  readonly clock: ManualClock;
  /** How many of `count` attempts are let through. */
  readonly take: (ip: string, count: number) => number;
}

function rate(): ArrangedRate {
  const clock = new ManualClock();
  const made = new AttemptRate(limits, () => clock.nowMs());
  return {
    rate: made,
    clock,
    take: (ip, count) => Array.from({ length: count }, () => made.take(ip)).filter(Boolean).length,
  };
}

test('[SEC-002] an address has a burst of attempts and a rate, each address its own', () => {
  const { clock, take } = rate();
  expect(take('192.0.2.1', 10)).toBe(3);
  expect(take('192.0.2.2', 10)).toBe(3);
  clock.advance(100);
  expect(take('192.0.2.1', 10)).toBe(1);
  clock.advance(60_000);
  expect(take('192.0.2.1', 10)).toBe(3);
});

test('[SEC-002] loopback has figures of its own', () => {
  const { take } = rate();
  expect(take('127.0.0.1', 10)).toBe(5);
  expect(take('::1', 10)).toBe(0);
});

test('[SEC-002] an IPv6 network of 64 bits counts as one address', () => {
  const { take } = rate();
  expect(take('2001:db8::1', 2) + take('2001:db8:0:0:1:2:3:4', 2)).toBe(3);
  expect(take('2001:db8:0:1::1', 10)).toBe(3);
  expect(take('::2', 10)).toBe(3);
});

test('[SEC-002] a flood of addresses forgets those that were quiet longest', () => {
  const { take } = rate();
  take('192.0.2.1', 10);
  for (let at = 0; at < 10_000; at++) take(`10.0.${at >> 8}.${at & 255}`, 1);
  expect(take('10.0.39.15', 10)).toBe(2);
  expect(take('192.0.2.1', 10)).toBe(3);
});

test('[SEC-002] attempts above the rate are refused at the socket, and counted', async () => {
  const server = await listen(engine({ attemptRate: { loopbackBurstCount: 3, loopbackPerSecond: 0.001 } }));
  const dialing = engine();
  for (let attempt = 0; attempt < 3; attempt++) await dialAndGreet(dialing, server);
  const reasons = await Promise.all(Array.from({ length: 4 }, () => dial(dialing, server.address).recorder.end()));
  expect(new Set(reasons)).toEqual(new Set(['the other side refused access']));
  await until(() => server.refused.length === 4, 'counted');
  expect(new Set(server.refused)).toEqual(new Set(['rateLimited']));
  expect(server.recorders).toHaveLength(3);
});

test('[SEC-002] the default rate lets 300 local peers in at once', async () => {
  const server = await listen(engine());
  const dialing = engine();
  await Promise.all(Array.from({ length: 300 }, () => dialAndGreet(dialing, server)));
  expect(server.refused).toEqual([]);
});

type Keys = CurveSecurity['allowedClientKeys'];

function gate(allowedClientKeys: Keys): {
  readonly gate: AdmissionGate;
  readonly clientKeys: ClientKeys;
  readonly clock: ManualClock;
  readonly refused: string[];
} {
  const { rate: attempts, clock } = rate();
  const refused: string[] = [];
  const clientKeys = new ClientKeys(allowedClientKeys);
  const made = new AdmissionGate({ rate: attempts, clientKeys, clock, onRefused: (reason) => refused.push(reason) });
  return { gate: made, clientKeys, clock, refused };
}

test('[SEC-002] a key callback that takes longer than 4 s has refused, and is not waited for', async () => {
  const { gate: slow, clock, refused } = gate(() => new Promise(() => undefined));
  const verdict = slow.admits('192.0.2.1', 'key');
  clock.advance(3_999);
  expect(refused).toEqual([]);
  clock.advance(1);
  expect(await verdict).toBe(false);
  expect(refused).toEqual(['unknownClientKey']);
});

test('[SEC-002] a key callback that answers in time leaves no timer', async () => {
  const { gate: prompt, clock } = gate(async () => true);
  expect(await prompt.admits('192.0.2.1', 'key')).toBe(true);
  expect(clock.pendingTimers).toBe(0);
});

test('[SEC-002] no more than 1,024 keys are looked up at once', async () => {
  const clock = new ManualClock();
  const refused: string[] = [];
  const many = new AttemptRate({ ...limits, burstCount: 5_000 }, () => clock.nowMs());
  const clientKeys = new ClientKeys(() => new Promise(() => undefined));
  const busy = new AdmissionGate({ rate: many, clientKeys, clock, onRefused: (reason) => refused.push(reason) });
  const verdicts = Array.from({ length: 1_030 }, () => busy.admits('192.0.2.1', 'key'));
  await until(() => refused.length === 6, 'refused');
  expect(new Set(refused)).toEqual(new Set(['busy']));
  clock.advance(4_000);
  expect((await Promise.all(verdicts)).some(Boolean)).toBe(false);
  expect(refused).toHaveLength(1_030);
});

test('[SEC-001] a secured listener lets nobody in who shows no key', async () => {
  const { gate: open, refused } = gate(undefined);
  expect(await open.admits('192.0.2.1', undefined)).toBe(false);
  expect(await open.admits('192.0.2.1', 'any key')).toBe(true);
  expect(refused).toEqual(['unknownClientKey']);
});

test('[SEC-001] a key that a callback has let in is known until the callback refuses it', async () => {
  let allowed = true;
  const { gate: asking, clientKeys } = gate(() => allowed);
  expect(clientKeys.wasLetIn('key')).toBe(false);
  await asking.admits('192.0.2.1', 'key');
  expect([clientKeys.wasLetIn('key'), clientKeys.wasLetIn('another key')]).toEqual([true, false]);
  allowed = false;
  await asking.admits('192.0.2.1', 'key');
  expect(clientKeys.wasLetIn('key')).toBe(false);
});

test('[SEC-001] of more than 65,536 keys that a callback has let in, the oldest is forgotten', () => {
  const keys = new ClientKeys(() => true);
  for (let at = 0; at < 65_536; at++) keys.note(`key ${at}`, true);
  keys.note('key 0', true);
  keys.note('one more', true);
  expect(['key 0', 'key 1', 'key 2', 'one more'].map((key) => keys.wasLetIn(key))).toEqual([true, false, true, true]);
});

test('[SEC-001] a list knows its keys by itself, and without a restriction every key is one', () => {
  const listed = new ClientKeys(['key']);
  listed.note('another key', true);
  expect([listed.wasLetIn('key'), listed.wasLetIn('another key')]).toEqual([true, false]);
  expect(new ClientKeys(undefined).wasLetIn('any key')).toBe(true);
});

test('[CORE-011] a closed gate refuses before anything else', async () => {
  const { gate: closed, refused } = gate(() => true);
  closed.close();
  for (let attempt = 0; attempt < 10; attempt++) expect(await closed.admits('192.0.2.1', 'key')).toBe(false);
  expect(new Set(refused)).toEqual(new Set(['stopping']));
});
