import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { RequestBuilder, SendBuilder } from '../../src/call/index.ts';
import { ZLinkError } from '../../src/errors/index.ts';
import { message, request, resolveOutbound } from '../../src/message/index.ts';
import { FakeMeter } from './fake-meter.ts';
import { FakePath } from './fake-path.ts';
import { reactions, watch } from './settlement.ts';

const Ask = request<number, number>('billing.charge');
const Tell = message<number>('system.notice');

/** Everything that can happen to a call after its submission, in any order and any number of times. */
const events = [
  'target',
  'credit',
  'refused',
  'reply',
  'error',
  'garbage',
  'broken',
  'abort',
  'second',
  'minute',
] as const;
type Event = (typeof events)[number];

const start = fc.record({
  hasTarget: fc.boolean(),
  hasCredit: fc.boolean(),
  timeoutMs: fc.constantFrom(500, 5_500, 90_000),
});
const story = fc.record({ start, events: fc.array(fc.constantFrom(...events), { maxLength: 12 }) });

function happen(event: Event, path: FakePath, controller: AbortController): void {
  const { link, clock } = path;
  switch (event) {
    case 'target':
      return path.offerTarget();
    case 'credit':
      return link.admit();
    case 'refused':
      return link.refuse(new ZLinkError('Unavailable', 'takes no new work'));
    case 'reply':
      return link.reply('1');
    case 'error':
      return link.error('Rejected', 'no');
    case 'garbage':
      return link.reply('{');
    case 'broken':
      return link.break();
    case 'abort':
      return controller.abort('enough');
    case 'second':
      return clock.advance(1_000);
    case 'minute':
      return clock.advance(60_000);
  }
}

/** What the first event that can end the call makes of it. */
const results = {
  request: ['resolved 1', 'ProtocolError', 'Rejected', 'Unavailable', 'DeadlineExceeded', 'NotFound', 'enough'],
  send: ['resolved undefined', 'Unavailable', 'DeadlineExceeded', 'NotFound', 'enough'],
};

test.each(['request', 'send'] as const)(
  '[CALL-004] [TRACE-002] [TRACE-025] a %s ends once whatever happens in whatever order, keeps its first result and leaves nothing behind',
  async (verb) => {
    await fc.assert(
      fc.asyncProperty(story, async (given) => {
        const path = new FakePath();
        path.hasTarget = given.start.hasTarget;
        path.link.credit = given.start.hasCredit ? 'free' : 'none';
        path.flow.flow.level = 'normal';
        const meter = (path.meter = new FakeMeter());
        const controller = new AbortController();
        const call =
          verb === 'send'
            ? new SendBuilder(path, resolveOutbound(Tell(1)))
            : new RequestBuilder(path, resolveOutbound(Ask(1))).timeoutMs(given.start.timeoutMs);
        const settlement = watch(call.submit(controller.signal));
        const seen: string[] = [];
        for (const event of given.events) {
          happen(event, path, controller);
          await reactions();
          seen.push(describe(settlement));
        }
        path.clock.advance(200_000); // no wait is longer
        await reactions();
        seen.push(describe(settlement));
        const ends = seen.filter((end) => end !== 'pending');
        expect(new Set(ends).size).toBe(1);
        expect(results[verb]).toContain(ends[0]);
        expect(path.link.written.length).toBeLessThanOrEqual(1);
        expect(path.routed).toHaveLength(1);
        expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
        path.expectClean();
        expectOneEnd(verb, path, meter);
      }),
      { numRuns: 500 },
    );
  },
);

/** Whatever has raced: one record, one span and one measurement of the end. */
function expectOneEnd(verb: 'request' | 'send', path: FakePath, meter: FakeMeter): void {
  const ends = path.flow.phases.filter(({ phase }) => phase === 'reply_received' || phase === 'dropped');
  const sent = path.flow.phases.filter(({ phase }) => phase === 'sent');
  expect(sent).toHaveLength(path.link.written.length);
  expect(ends).toHaveLength(verb === 'request' ? 1 : 1 - sent.length);
  expect(path.tracer.spans.map((span) => span.ends.length)).toEqual([1]);
  expect(meter.started).toBe(verb === 'request' ? 1 : 0);
  expect(meter.ended).toHaveLength(meter.started);
  expect(meter.waits.length).toBeLessThanOrEqual(1);
}

function describe({ outcome, value }: { outcome: string; value: unknown }): string {
  if (outcome === 'pending') return outcome;
  if (outcome === 'resolved') return `resolved ${String(value)}`;
  return value instanceof ZLinkError ? value.kind : String(value);
}
