/** What ends a link, and what changes its descriptor: the rules that a peer may break. */
import { type Descriptor, DescriptorState } from '../../../src/internal/wire/index.ts';
import { encodeDescriptor, encodeRejection, RejectReason } from '../../../src/internal/wire/hello.ts';
import { GoodbyePhase, RecordKind } from '../../../src/internal/wire/record.ts';
import { DESCRIPTOR, pass, settle } from './link-side.ts';
import {
  expectViolation,
  finish,
  introduction,
  join,
  message,
  type RawRecord,
  recordsIn,
  say,
  shapes,
} from './raw-peer.ts';
import { TestRecord } from './test-record.ts';

test('[WIRE-003] a record of an unknown kind closes the link, and only after what came before it', async () => {
  const pair = join();
  TestRecord.send({ payload: Buffer.from('before') }).submit(pair.near.link);
  await settle(pair);
  pair.near.pipe.send([Uint8Array.of(0x7f, ...new Array<number>(15).fill(0))]);
  await expectViolation(pair, 'record kind 127 is unknown');
  expect(pair.far.received).toHaveLength(1);
});

test('[WIRE-003] records behind the one that broke the protocol are not delivered', async () => {
  const pair = join();
  say(
    pair,
    introduction,
    { kind: RecordKind.send, nameId: 1 },
    { kind: RecordKind.send, nameId: 2 },
    { kind: RecordKind.send, nameId: 1 },
  );
  await expectViolation(pair, 'record names id 2, which was not introduced');
  expect(pair.far.received).toHaveLength(1);
});

test.each(shapes)(
  '[WIRE-004] a name that was not introduced closes the link, in replies too ($title)',
  async (shape) => {
    for (const kind of [RecordKind.send, RecordKind.request, RecordKind.reply]) {
      const pair = join(shape);
      say(pair, { kind, nameId: 7, correlation: 1 });
      await expectViolation(pair, 'record names id 7, which was not introduced');
    }
  },
);

test('[WIRE-004] a name introduced out of turn, or a malformed one, closes the link', async () => {
  for (const [record, fault] of [
    [{ ...introduction, nameId: 2 }, 'name id 2 is out of turn'],
    [{ ...introduction, nameId: 0 }, 'name id 0 is outside'],
    [{ ...introduction, payload: Buffer.from([0, 0, 0xc3, 0x28]) }, 'name is malformed'],
  ] as const) {
    const pair = join();
    say(pair, record);
    await expectViolation(pair, fault);
  }
});

test.each([RecordKind.hello, RecordKind.admit])(
  '[WIRE-001] a record of kind %i after admission closes the link',
  async (kind) => {
    const pair = join();
    say(pair, { kind });
    await expectViolation(pair, `record kind ${kind} after admission`);
  },
);

test('[WIRE-001] a reject after admission ends the link with the peer’s reason, and is not answered', async () => {
  const pair = join();
  say(pair, { kind: RecordKind.reject, payload: encodeRejection({ reason: RejectReason.ended, text: 'had enough' }) });
  await settle(pair);
  expect(pair.far.closed).toEqual(['peer: had enough']);
  expect(recordsIn(pair.far.pipe.sent)).toEqual([]);
});

const update = (descriptor: Descriptor): RawRecord => ({
  kind: RecordKind.update,
  payload: encodeDescriptor(descriptor),
});

test('[WIRE-001] [CS-005] an update with a higher revision takes effect, with any weight and state', async () => {
  const pair = join();
  const next: Descriptor = {
    ...DESCRIPTOR,
    revision: 9n,
    state: DescriptorState.draining,
    channels: [{ name: 'billing', weight: 0 }],
  };
  say(pair, update(next));
  await settle(pair);
  expect([pair.far.link.descriptor, pair.far.updates]).toEqual([next, [next]]);
  say(pair, update({ ...next, revision: 2n ** 64n - 1n }));
  await settle(pair);
  expect(pair.far.link.descriptor.revision).toBe(2n ** 64n - 1n);
});

test.each<[string, Descriptor, string]>([
  ['an equal revision', DESCRIPTOR, 'update to revision 1 after 1'],
  ['a lower revision', { ...DESCRIPTOR, revision: 0n }, 'update to revision 0 after 1'],
  [
    'another channel',
    { ...DESCRIPTOR, revision: 2n, channels: [{ name: 'other', weight: 1 }] },
    'set of channels changed',
  ],
  ['no channel', { ...DESCRIPTOR, revision: 2n, channels: [] }, 'set of channels changed'],
  [
    'one more channel',
    {
      ...DESCRIPTOR,
      revision: 2n,
      channels: [
        { name: 'billing', weight: 1 },
        { name: 'b', weight: 1 },
      ],
    },
    'set of channels changed',
  ],
  [
    'a channel twice',
    {
      ...DESCRIPTOR,
      revision: 2n,
      channels: [
        { name: 'billing', weight: 1 },
        { name: 'billing', weight: 1 },
      ],
    },
    'malformed update',
  ],
  [
    'a weight above 10,000',
    { ...DESCRIPTOR, revision: 2n, channels: [{ name: 'billing', weight: 10_001 }] },
    'malformed update',
  ],
])('[WIRE-001] [CS-005] an update with %s closes the link and changes nothing', async (_, descriptor, fault) => {
  const pair = join();
  say(pair, update(descriptor));
  await expectViolation(pair, fault);
  expect([pair.far.link.descriptor, pair.far.updates]).toEqual([DESCRIPTOR, []]);
});

test('[WIRE-001] an update of many channels arrives: control records never have external payloads', async () => {
  const channels = Array.from({ length: 250 }, (_, at) => ({ name: `${at}`.padEnd(250, '-'), weight: 1 }));
  const pair = join();
  pair.near.link.update({ ...DESCRIPTOR, revision: 2n, channels });
  await settle(pair);
  expect(pair.far.closed).toEqual(['protocol error: set of channels changed']); // it was read, and found to be another set
});

test('[CORE-011] goodbye with an unknown phase closes the link', async () => {
  for (const aux of [0, 3, 0xffff_ffff]) {
    const pair = join();
    say(pair, { kind: RecordKind.goodbye, aux });
    await expectViolation(pair, `goodbye phase ${aux}`);
  }
});

test('[CORE-011] goodbye may be said twice, in its two phases; more of them cost memory and close the link', async () => {
  const pair = join({ far: { permits: { max: 1 } } });
  pair.far.holding = true;
  const send: RawRecord = { kind: RecordKind.send, nameId: 1 };
  const goodbye: RawRecord = { kind: RecordKind.goodbye, aux: GoodbyePhase.finishing };
  say(pair, introduction, send, send, goodbye, goodbye);
  await settle(pair);
  expect(pair.far.link.phase).toBe('open'); // they wait behind the second record
  say(pair, goodbye);
  await expectViolation(pair, 'goodbye was said before');
});

test('[CORE-011] a peer that leaves without waiting for us ends the link', async () => {
  const pair = join();
  const request = TestRecord.request().submit(pair.far.link);
  say(pair, { kind: RecordKind.goodbye, aux: GoodbyePhase.finished });
  await settle(pair);
  expect(pair.far.closed).toEqual(['peer closed the link']);
  expect([request.journal, request.error?.submitted]).toEqual([['failed'], true]);
});

test.each(shapes)('[LIVE-001] application traffic is no answer to a probe ($title)', async (shape) => {
  const pair = join(shape);
  pair.far.pipe.send = () => undefined; // the far side hears everything and says nothing
  for (let atMs = 0; atMs < 15_200; atMs += 100) {
    pair.near.link.onPipeMessage([message(RecordKind.probe, 1, 0)], 0); // a peer may ask, and still not answer
    await pass(pair, 100, 100);
  }
  expect(pair.near.closed).toHaveLength(1);
  expect(pair.near.closed[0]).toMatch(/^no answer to probes for 150\d\d ms$/);
});

test('[LIVE-001] [LIVE-002] a probe is answered at once, though records before it wait for a permit', async () => {
  const pair = join({ far: { permits: { max: 1 } } });
  pair.far.holding = true;
  for (let at = 0; at < 50; at++) TestRecord.send().submit(pair.near.link);
  await settle(pair);
  expect(pair.far.received).toHaveLength(1);
  await pass(pair, 60_000, 100);
  expect([pair.near.link.phase, pair.far.link.phase]).toEqual(['open', 'open']);
  await finish(pair);
});
