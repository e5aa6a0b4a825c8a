/** Subscriptions that name the run of a publisher: who counts, who hears what, and who is refused ([C08]). */
import assert from 'node:assert/strict';
import { beaconParts, otherRunParts, runTopic } from '@zlink/kernel/internal/wire';
import type { EventRecorder } from './event-recorder.ts';
import type { EventCase } from './event-rig.ts';
import { upTo } from './numbered.ts';

const THIS_RUN = 0x0123_4567_89ab_cdefn;
const OTHER_RUN = 0x0123_4567_89ab_cdeen;
const ROUNDS = 50;

/** As a frame of that run begins. */
function frameOf(generation: bigint, number: number): Uint8Array[] {
  return [Uint8Array.of(...runTopic(generation), number)];
}

function inHex(messages: readonly (readonly Uint8Array[])[]): string {
  return messages.map((parts) => parts.map((part) => Buffer.from(part).toString('hex')).join('|')).join('\n');
}

function assertHeard({ messages }: EventRecorder, expected: readonly Uint8Array[][]): void {
  assert.equal(inHex(messages), inHex(expected));
}

export const runCases: readonly EventCase[] = [
  {
    title: '[FAN-004] [C08] who names the run is counted, gets its frames and beacons, and nothing else',
    async act(rig) {
      const publisher = await rig.publisher({ generation: THIS_RUN });
      const [picky, any] = [
        rig.subscriber(publisher.endpoint, rig.transport(), THIS_RUN),
        rig.subscriber(publisher.endpoint),
      ];
      await rig.counts(publisher, 2);
      await rig.settle(); // beacons are asked for beside the run
      const wanted = [frameOf(THIS_RUN, 1), beaconParts(), frameOf(THIS_RUN, 2)];
      const unwanted = [frameOf(OTHER_RUN, 3), [Uint8Array.of(7)], [new Uint8Array(0)]];
      for (const parts of [...unwanted, ...wanted]) publisher.send([...parts]);
      await rig.receive(any, unwanted.length + wanted.length);
      await rig.receive(picky, wanted.length);
      await rig.settle();
      assertHeard(picky, wanted);
      assertHeard(any, [...unwanted, ...wanted]);
      await picky.close();
      await rig.counts(publisher, 1);
    },
  },

  {
    title: '[FAN-004] [C08] who names another run is not counted and is told so, and its end changes no count',
    async act(rig) {
      const publisher = await rig.publisher({ generation: THIS_RUN });
      const counts: number[] = [];
      publisher.onSubscriptions(() => counts.push(publisher.subscriptions));
      const stale = rig.subscriber(publisher.endpoint, rig.transport(), OTHER_RUN);
      await rig.receive(stale, 1);
      const fresh = rig.subscriber(publisher.endpoint, rig.transport(), THIS_RUN);
      await rig.counts(publisher, 1);
      publisher.send(frameOf(THIS_RUN, 1));
      await rig.receive(fresh, 1);
      await rig.settle();
      assertHeard(stale, [otherRunParts(OTHER_RUN)]);
      assertHeard(fresh, [frameOf(THIS_RUN, 1)]);
      await stale.close();
      await rig.settle();
      assert.equal(publisher.subscriptions, 1);
      await fresh.close();
      await rig.counts(publisher, 0);
      assert.deepEqual(counts, [1, 0]);
    },
  },

  {
    title: '[FAN-004] [C08] a publisher that knows of no run counts only who names none',
    async act(rig) {
      const publisher = await rig.publisher();
      const naming = rig.subscriber(publisher.endpoint, rig.transport(), OTHER_RUN);
      await rig.receive(naming, 1);
      assertHeard(naming, [otherRunParts(OTHER_RUN)]);
      assert.equal(publisher.subscriptions, 0);
      await rig.subscribers(publisher, 1);
    },
  },

  {
    title: `[FAN-004] [C08] who was counted by its run gets the very next frame, in ${ROUNDS} of ${ROUNDS} restarts at one address`,
    async act(rig) {
      const [publishing, finding, mistaken] = [rig.transport(), rig.transport(), rig.transport()];
      let bindAddress = await rig.addressToKeep();
      for (const round of upTo(ROUNDS)) {
        const generation = BigInt(round + 1);
        const publisher = await publishing.bind({ bindAddress, generation });
        bindAddress = publisher.boundAddress;
        const told = new Promise<void>((resolve) => {
          publisher.onSubscriptions(() => {
            if (publisher.subscriptions < 1) return;
            for (const number of upTo(20)) publisher.send(frameOf(generation, number));
            resolve();
          });
        });
        const stale = rig.subscriber(publisher.endpoint, mistaken, generation + 1n);
        await rig.receive(stale, 1);
        const fresh = rig.subscriber(publisher.endpoint, finding, generation);
        await told;
        await rig.receive(fresh, 20);
        assertHeard(
          fresh,
          upTo(20).map((number) => frameOf(generation, number)),
        );
        await Promise.all([stale.close(), fresh.close()]);
        await publisher.close(0);
      }
    },
  },
];
