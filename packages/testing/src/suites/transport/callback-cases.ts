/** What callbacks may do: submit, withdraw and end links from within (CORE-003, CORE-004, C09). */
import assert from 'node:assert/strict';
import { MIN_WINDOW_BYTES } from '@zlink/kernel/internal/wire';
import { type RigCase, onEachShape } from './case.ts';
import { fillUntilWaiting, KIB } from './filling.ts';
import type { HostOptions } from './rig-host.ts';
import type { RigRecord } from './rig-record.ts';
import { clientServer } from './shapes.ts';

const narrow: HostOptions = { maxWindowBytes: MIN_WINDOW_BYTES, permits: { max: 1 } };

export const callbackCases: readonly RigCase[] = [
  ...onEachShape('[CORE-003] a reply’s callback may submit the next request, many times over', async (rig, shape) => {
    const { near, far, nearLink, farGroup } = await rig.pair(shape);
    far.echo(farGroup);
    let answered = 0;
    const ask = (): void => {
      const request = near.request({ payload: `${answered}` });
      const onReply = request.onReply.bind(request);
      request.onReply = (record) => {
        onReply(record);
        if (++answered < 200) ask();
      };
      request.submit(nearLink);
    };
    ask();
    await rig.until(() => answered === 200, 'the chain ends');
    assert.deepEqual(
      farGroup.texts,
      Array.from({ length: 200 }, (_, at) => `${at}`),
    );
  }),

  {
    title: '[CORE-004] what a callback of an admitted record submits goes behind the records that wait',
    async act(rig) {
      const { near, nearLink, farGroup } = await rig.pair(clientServer, {}, narrow);
      farGroup.holding = true;
      const submitted: RigRecord[] = [];
      const make = (): RigRecord => {
        const record = near.send({ payload: `${submitted.length}`.padEnd(KIB, '.') });
        submitted.push(record);
        return record;
      };
      fillUntilWaiting(near, nearLink, 100, () => {
        const record = make();
        const onAdmitted = record.onAdmitted.bind(record);
        record.onAdmitted = () => {
          onAdmitted();
          make().submit(nearLink);
        };
        return record;
      });
      const waited = nearLink.waitingRecords;
      const before = submitted.length;
      farGroup.letGo();
      await rig.until(() => farGroup.received.length === before + waited, 'everything arrives');
      assert.deepEqual(
        farGroup.texts,
        submitted.map((record) => record.payload),
      );
    },
  },

  {
    title: '[CALL-003] the callback of an admitted record may take back one that still waits',
    async act(rig) {
      const { near, nearLink, farGroup } = await rig.pair(clientServer, {}, narrow);
      farGroup.holding = true;
      const records = fillUntilWaiting(near, nearLink, 3);
      const [first, second, third] = records.slice(-3);
      assert.ok(first !== undefined && second !== undefined && third !== undefined);
      const onAdmitted = first.onAdmitted.bind(first);
      first.onAdmitted = () => {
        onAdmitted();
        assert.equal(second.withdraw(nearLink), true);
      };
      farGroup.letGo();
      await rig.until(() => third.isWritten, 'the last one is written');
      await rig.until(() => farGroup.received.length === records.length - 1, 'everything else arrives');
      assert.ok(!farGroup.texts.includes(String(second.payload)));
    },
  },

  {
    title: '[C09] when a link ends, its callbacks cannot submit to it any more, and nobody is called twice',
    async act(rig) {
      const { near, nearLink, farGroup } = await rig.pair(clientServer, {}, narrow);
      farGroup.holding = true;
      let refusedAgain = 0;
      const tryAgain = (): void => {
        assert.throws(() => near.request().submit(nearLink), { kind: 'Unavailable', submitted: false });
        refusedAgain++;
      };
      const requests = fillUntilWaiting(near, nearLink, 50, () => {
        const request = near.request({ payload: new Uint8Array(KIB) });
        const onFailed = request.onFailed.bind(request);
        const onRefused = request.onRefused.bind(request);
        request.onFailed = (error) => {
          onFailed(error);
          tryAgain();
        };
        request.onRefused = (error) => {
          onRefused(error);
          tryAgain();
        };
        return request;
      });
      nearLink.fail('ended by the case');
      assert.equal(refusedAgain, requests.length);
    },
  },

  {
    title: '[JOBQ-004] a handler that ends its link in the middle of a batch sees no later record of it',
    async act(rig) {
      const { near, nearLink, farLink, farGroup } = await rig.pair(clientServer);
      farGroup.answer = (_record, link) => {
        if (farGroup.received.length === 10) link.fail('enough');
      };
      for (let at = 0; at < 100; at++) near.send({ payload: `${at}` }).submit(nearLink);
      await rig.until(() => nearLink.phase === 'closed', 'the sender knows');
      await rig.advance(200);
      assert.equal(farLink.phase, 'closed');
      assert.equal(farGroup.received.filter((record) => record.link === farLink).length, 10);
    },
  },

  {
    title: '[CORE-010] a reply’s callback may finish or fail the link',
    async act(rig) {
      for (const end of ['finish', 'fail'] as const) {
        const { near, far, nearLink, farLink, farGroup, intent } = await rig.pair(clientServer);
        far.echo(farGroup);
        const requests = Array.from({ length: 10 }, () => near.request());
        const [first] = requests;
        assert.ok(first !== undefined);
        const onReply = first.onReply.bind(first);
        first.onReply = (record) => {
          onReply(record);
          if (end === 'finish') nearLink.finish();
          else nearLink.fail('ended by the case');
        };
        for (const request of requests) request.submit(nearLink);
        await rig.until(() => nearLink.phase === 'closed' && farLink.phase === 'closed', `both sides end by ${end}`);
        const results = requests.map((request) => request.journal.join());
        const others = end === 'finish' ? 'replied' : 'failed';
        assert.deepEqual(results, ['replied', ...Array.from({ length: 9 }, () => others)]);
        await intent.close(0);
      }
    },
  },
];
