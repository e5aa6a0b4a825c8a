import { type FanoutContext, fanoutSurface, type FilterContext } from '../../src/dispatch/index.ts';
import { message } from '../../src/message/index.ts';
import { inboundRecord } from './fake-link.ts';
import { expectNothingHeld, Harness } from './harness.ts';

const Tick = message<number>('tick');
const Slow = message<number>('slow');
const TOPIC = Uint8Array.of(0x74, 0xff);

/** An event comes over no link; nobody may be answered. */
function publish(harness: Harness<FanoutContext>, packetName: string, isRefused = false): void {
  const name = { scope: '', contentType: 'application/json', packetName, slot: undefined };
  const event = { ...inboundRecord({ kind: 'send', name, payload: Buffer.from('7') }), topic: TOPIC };
  if (!harness.permits.tryAcquire()) throw new Error('no permit left');
  if (isRefused) harness.dispatcher.refuse(event, undefined, { reason: 'shutdown', kind: 'Rejected', text: 'ends' });
  else harness.dispatcher.accept(event, undefined);
}

test('[FAN-003] an event is dispatched like a send: its context shows channel, topic and packet, and nothing of a link', () => {
  const seen: [unknown, FanoutContext][] = [];
  const harness = new Harness<FanoutContext>(
    (handlers) => handlers.addSend(Tick, (value, context) => void seen.push([value, context])),
    { surface: fanoutSurface('news') },
  );
  publish(harness, 'tick');
  const [[value, context] = []] = seen;
  expect(value).toBe(7);
  expect([context?.channelName, context?.packetName, context?.topicText]).toEqual(['news', 'tick', 't\ufffd']);
  expect(context?.topic).toEqual(TOPIC);
  expect(context?.topic).not.toBe(TOPIC); // a handler may write into it
  expect(context?.signal.aborted).toBe(false);
  expect(harness.sends).toMatchObject({ accepted: 1, handled: 1 });
  expectNothingHeld(harness);
});

test('[DISP-004] events without handler, refused ones, and handlers that throw or are given up, end without an answer', () => {
  const harness = new Harness<FanoutContext>(
    (handlers) => {
      handlers.addSend(Tick, () => {
        throw new Error('broken');
      });
      handlers.addSend(
        Slow,
        (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      );
    },
    { surface: fanoutSurface('news') },
  );
  publish(harness, 'tick');
  publish(harness, 'unknown');
  publish(harness, 'tick', true);
  publish(harness, 'slow');
  harness.dispatcher.abortAll();
  expect(harness.sends).toMatchObject({ accepted: 4, failed: 1, dropped: { no_handler: 1, shutdown: 1 }, running: 1 });
  expect(harness.unhandled).toHaveLength(1);
  expect(harness.permits.inUse).toBe(0);
});

test('[DISP-007] filters are told that it is fanout', async () => {
  const contexts: FilterContext[] = [];
  const harness = new Harness<FanoutContext>((handlers) => handlers.addSend(Tick, () => undefined), {
    surface: fanoutSurface('news'),
    filters: [
      (context, next) => {
        contexts.push(context);
        return next();
      },
    ],
  });
  publish(harness, 'tick');
  await harness.dispatcher.idle();
  expect(contexts).toMatchObject([{ dispatchKind: 'fanout', message: { channelName: 'news', topicText: 't\ufffd' } }]);
  expect(contexts[0]).not.toHaveProperty('meshName');
});
