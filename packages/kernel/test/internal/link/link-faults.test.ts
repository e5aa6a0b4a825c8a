/** Callbacks that throw or end the link in the middle of something, and peers that send anything. */
import { ManualClock, seededRandom } from '@zlink/testing';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { thrownBy } from '../../thrown.ts';
import { mutatedMessage } from '../wire/mutation.ts';
import { type JoinOptions, type LinkPair, type LinkSide, joinLinks, leftovers, pass, settle } from './link-side.ts';
import { creditMessage } from './raw-peer.ts';
import { TestRecord } from './test-record.ts';

const shapes = [
  { title: 'ClientServer', completionLane: false },
  { title: 'RouteMesh', completionLane: true },
] as const;

const join = (options: Partial<JoinOptions> = {}): LinkPair =>
  joinLinks(new ManualClock(), { completionLane: false, ...options });

const boom = new Error('the topic is broken');

function throwing(side: LinkSide, what: string): void {
  side.beforeCallback = (callback) => {
    if (callback === what) throw boom;
  };
}

test('[CORE-002] [CORE-008] a sink that throws costs its own link, and no record seems to follow the one that was lost', async () => {
  const pair = join();
  pair.far.onDelivered = () => {
    throw boom;
  };
  const request = TestRecord.request();
  for (const record of [request, TestRecord.send(), TestRecord.send()]) record.submit(pair.near.link);
  await settle(pair);
  expect(pair.far.received).toHaveLength(1);
  expect([pair.far.faults, pair.far.closed, pair.far.violations]).toEqual([[boom], ['internal failure'], []]);
  expect([request.journal, request.error?.kind, request.error?.submitted]).toEqual([['failed'], 'Unavailable', true]);
  expect(pair.near.closed).toEqual(['peer: internal failure']);
  expect(leftovers(pair)).toEqual([]);
});

test('[CORE-008] a sink that throws while permits come back does not disturb whoever returned them', async () => {
  const pair = join({ far: { permits: { max: 1 } } });
  pair.far.holding = true;
  for (let at = 0; at < 4; at++) TestRecord.send().submit(pair.near.link);
  await settle(pair);
  pair.far.onDelivered = () => {
    throw boom;
  };
  expect(() => pair.far.letGoOne()).not.toThrow();
  expect([pair.far.faults, pair.far.link.phase, pair.far.received.length]).toEqual([[boom], 'closed', 2]);
  pair.far.letGo();
  await settle(pair);
  expect(leftovers(pair)).toEqual([]);
});

test.each(['unmatched', 'cancel', 'update', 'finishing', 'closed'])(
  '[CORE-008] a sink that throws in %s is reported, and its link still ends once and whole',
  async (what) => {
    const pair = join();
    throwing(pair.far, what);
    const request = TestRecord.request().submit(pair.near.link);
    const asked = TestRecord.request().submit(pair.far.link);
    await settle(pair);
    if (what === 'unmatched') TestRecord.reply(99).submit(pair.near.link);
    if (what === 'cancel') request.abandon(pair.near.link, true);
    if (what === 'update') pair.near.link.update({ ...pair.near.link.descriptor, revision: 2n });
    if (what === 'finishing') pair.far.link.finish();
    if (what === 'closed') pair.far.link.fail('the test says so');
    await settle(pair);
    expect(pair.far.faults).toEqual([boom]);
    pair.far.link.fail('the test says so');
    await settle(pair);
    if (what !== 'closed') expect(pair.far.closed).toHaveLength(1);
    expect([asked.journal, asked.error?.submitted]).toEqual([['failed'], true]);
    expect(leftovers(pair).filter((left) => !left.includes('ends more or less'))).toEqual([]);
  },
);

test.each(shapes)(
  '[C09] callbacks of records that throw keep no other record from its result ($title)',
  async (shape) => {
    const pair = join({ ...shape, far: { permits: { max: 1 } } });
    pair.far.holding = true;
    const records = Array.from({ length: 100 }, () => TestRecord.request({ payload: new Uint8Array(1_000) }));
    for (const record of records) {
      record.submit(pair.near.link);
      record.onCallback = () => {
        throw boom;
      };
    }
    expect(records.filter((record) => record.isWaiting).length).toBeGreaterThan(10);
    pair.near.link.fail('the test says so');
    await settle(pair);
    for (const record of records) expect(record.fault).toBeUndefined();
    expect(pair.near.closed).toEqual(['the test says so']);
    expect(pair.near.faults.length).toBeGreaterThan(0);
    pair.far.letGo();
    expect(leftovers(pair)).toEqual([]);
  },
);

test('[C09] a reply whose callback throws ends its link, reported', async () => {
  const pair = join();
  pair.far.onDelivered = (record) => pair.far.reply(record);
  const request = TestRecord.request();
  request.onCallback = () => {
    throw boom;
  };
  const other = TestRecord.request();
  for (const record of [request, other]) record.submit(pair.near.link);
  await settle(pair);
  expect([request.journal, other.journal, pair.near.faults]).toEqual([['replied'], ['failed'], [boom]]);
  expect(pair.near.closed).toEqual(['internal failure']);
});

test('[CORE-004] an admitted callback that throws ends its link, and what stood behind it is refused', async () => {
  const pair = join({ far: { permits: { max: 1 } } });
  pair.far.holding = true;
  for (let at = 0; at < 3; at++) TestRecord.send({ payload: new Uint8Array(30_000) }).submit(pair.near.link);
  const waiting = [1, 2].map(() => TestRecord.send({ payload: new Uint8Array(30_000) }).submit(pair.near.link));
  for (const record of waiting) {
    record.onCallback = (what) => {
      if (what === 'admitted') throw boom;
    };
  }
  await settle(pair);
  pair.far.letGo();
  await pass(pair, 60);
  expect(pair.near.faults).toEqual([boom]);
  expect(waiting.map((record) => record.journal)).toEqual([['admitted'], ['refused']]);
  expect(leftovers(pair)).toEqual([]);
});

test('[CORE-008] an engine that throws at a send ends the link: its next batch would follow a gap', async () => {
  const pair = join();
  pair.near.pipe.sendFault = boom;
  const request = TestRecord.request().submit(pair.near.link);
  await settle(pair);
  expect([request.journal, request.error?.submitted]).toEqual([['failed'], true]);
  expect(pair.near.closed).toEqual(['internal failure']);
  expect(pair.near.faults).toContain(boom);
  pair.near.pipe.sendFault = undefined;
  await settle(pair);
  expect(leftovers(pair)).toEqual([]);
});

test.each(['send', 'request'] as const)(
  '[CORE-008] an engine that throws while waiting records are written ends each %s in one way',
  async (kind) => {
    const pair = join({ far: { permits: { max: 1 } } });
    pair.far.holding = true;
    const records = Array.from({ length: 5 }, () => TestRecord[kind]({ payload: new Uint8Array(65_000) }));
    for (const record of records) record.submit(pair.near.link);
    await settle(pair);
    pair.near.pipe.sendFault = boom;
    pair.near.link.onPipeMessage([creditMessage(65_064, 1_048_576)], 0); // of the far side, which knows nothing of it
    expect(pair.near.closed).toEqual(['internal failure']);
    expect(records.map((record) => record.fault)).toEqual(records.map(() => undefined));
    expect(records.filter((record) => record.isWritten)).toHaveLength(3);
    await settle(pair);
  },
);

test('[CORE-001] a link that cannot send keeps no other link of its host from sending', async () => {
  const clock = new ManualClock();
  const broken = joinLinks(clock, { completionLane: false });
  const healthy = joinLinks(clock, { completionLane: false });
  broken.near.pipe.sendFault = boom;
  TestRecord.send().submit(broken.near.link);
  // Through the flusher of the first, as both would on one host.
  broken.near.flusher.schedule(healthy.near.link);
  TestRecord.send().submit(healthy.near.link);
  await settle(broken);
  await settle(healthy);
  expect(healthy.far.received).toHaveLength(1);
});

test.each(['finish', 'fail'] as const)(
  '[CORE-010] a link that its topic ends with %s while it is opened still tells the topic',
  async (how) => {
    const pair = join({
      prepare: ({ far }) => {
        far.onOpen = (link) => (how === 'finish' ? link.finish() : link.fail('not this one'));
      },
    });
    expect(pair.far.link.phase).toBe(how === 'finish' ? 'finishing' : 'closed');
    await pass(pair, 100);
    expect([pair.far.finishing, pair.far.closed]).toEqual(how === 'finish' ? [1, ['closed']] : [0, ['not this one']]);
    expect(leftovers(pair)).toEqual([]);
  },
);

test('[CORE-008] a topic that throws while a link is opened gets no link, and leaves nothing behind', async () => {
  const pair = join({
    prepare: ({ far }) => {
      far.onOpen = () => {
        throw boom;
      };
    },
  });
  await settle(pair);
  expect([pair.far.faults, pair.far.link.phase]).toEqual([[boom], 'closed']);
  expect(pair.near.closed).toEqual(['peer: internal failure']);
  expect(leftovers(pair)).toEqual(['far: ends more or less than one -1']); // it has no sink that could be told
});

test('[CORE-011] a callback at the finish may fail the link: the sink hears of the end, and not of a finish after it', async () => {
  const pair = join({ far: { permits: { max: 1 } } });
  pair.far.holding = true;
  const records = Array.from({ length: 70 }, () => TestRecord.send({ payload: new Uint8Array(1_000) }));
  for (const record of records) {
    record.submit(pair.near.link);
    record.onCallback = (what) => {
      if (what === 'refused') pair.near.link.fail('enough');
    };
  }
  pair.near.link.finish();
  expect([pair.near.closed, pair.near.finishing]).toEqual([['enough'], 0]);
  for (const record of records) expect(record.fault).toBeUndefined();
  await settle(pair);
  pair.far.letGo();
  expect(leftovers(pair)).toEqual([]);
});

test('[JOBQ-004] a link that ends while its records wait gives its place in the line of permits up', async () => {
  const pair = join({ far: { permits: { max: 2 } } });
  pair.far.holding = true;
  for (let at = 0; at < 10; at++) TestRecord.send().submit(pair.near.link);
  await settle(pair);
  expect(pair.far.received).toHaveLength(2);
  pair.near.link.fail('the test says so');
  await settle(pair);
  pair.far.letGo();
  expect([pair.far.permits.inUse, pair.far.received.length]).toEqual([0, 2]);
  expect(pair.far.permits.tryAcquire()).toBe(true); // nobody waits any more
  pair.far.permits.release();
  expect(leftovers(pair)).toEqual([]);
});

test('[JOBQ-004] a link that its sink ends while it is handed a record keeps no permit', async () => {
  for (const how of ['finish', 'fail'] as const) {
    const pair = join({ far: { permits: { max: 1 } } });
    pair.far.holding = true;
    for (let at = 0; at < 5; at++) TestRecord.send().submit(pair.near.link);
    await settle(pair);
    pair.far.onDelivered = () => (how === 'fail' ? pair.far.link.fail('enough') : pair.far.link.finish());
    pair.far.letGo();
    await pass(pair, 100);
    expect([how, pair.far.permits.inUse, leftovers(pair)]).toEqual([how, 0, []]);
  }
});

test('[JOBQ-005] with a single permit that comes back at once, a long line of records is handed over in order, not in depth', async () => {
  const pair = join({
    far: { permits: { max: 1, resumeThresholdPercent: 0 }, maxWindowBytes: 16_777_216 },
  });
  pair.far.holding = true;
  const count = 50_000;
  for (let at = 0; at < count; at++) TestRecord.send({ payload: Buffer.from(`${at}`) }).submit(pair.near.link);
  await settle(pair);
  expect(pair.far.received).toHaveLength(1);
  pair.far.letGo();
  await settle(pair);
  expect(pair.far.faults).toEqual([]);
  expect(pair.far.received.map(({ payload }) => Number(Buffer.from(payload)))).toEqual(
    Array.from({ length: count }, (_, at) => at),
  );
  expect(pair.far.permits.inUse).toBe(0);
});

test.each(shapes)(
  '[WIRE-003] [C06] an admitted peer that sends anything: never throws, and ends the link or keeps it whole ($title)',
  async (shape) => {
    const random = seededRandom(11);
    let ended = 0;
    for (let round = 0; round < 1_500; round++) {
      const pair = join({ ...shape, far: { permits: { max: 1 + Math.floor(random() * 4) } } });
      pair.far.holding = random() < 0.5;
      const request = TestRecord.request().submit(pair.far.link);
      for (let count = 0; count < 8; count++) {
        pair.near.pipe.send(mutatedMessage(random));
        pair.near.pipe.deliver();
      }
      await settle(pair);
      expect(pair.far.faults).toEqual([]);
      if (pair.far.link.phase === 'closed') ended++;
      pair.far.link.fail('the test says so');
      pair.near.link.fail('the test says so');
      await settle(pair);
      pair.far.letGo();
      if (request.journal.length !== 1) throw new Error(`round ${round}: ${request.journal.join()}`);
      expect(leftovers(pair)).toEqual([]);
    }
    expect(ended).toBeGreaterThan(1_000);
  },
);

test('[CORE-011] a link in any phase takes every call after its end without a sound', async () => {
  const pair = join();
  const { link } = pair.near;
  const request = TestRecord.request().submit(link);
  link.fail('the test says so');
  for (const record of [TestRecord.send(), TestRecord.reply(1)]) {
    expect(thrownBy(() => record.submit(link))).toMatchObject({ kind: 'Unavailable', submitted: false });
  }
  link.finish();
  link.fail('again');
  link.flush();
  link.announceWindow();
  link.update({ ...link.descriptor, revision: 2n });
  link.onFlowRunning();
  link.abandon(request, true);
  expect(link.withdraw(request)).toBe(false);
  link.onPipeMessage([Uint8Array.of(RecordKind.send)], 0);
  link.onPipeClosed('late');
  await settle(pair);
  expect([pair.near.closed, pair.near.finishing, pair.near.violations]).toEqual([['the test says so'], 0, []]);
  expect(leftovers(pair)).toEqual([]);
});
