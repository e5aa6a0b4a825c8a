import fc from 'fast-check';
import {
  clientServerPlace,
  fanoutPlace,
  type FollowedMessage,
  type FlowPlace,
  meshChannelPlace,
  messageFields,
  nodePlace,
} from '../../../src/observe/index.ts';
import { FlowSource } from '../../../src/observe/flow/flow-source.ts';
import { AT_MS, TestFlow } from './test-flow.ts';

const places: readonly FlowPlace[] = [
  nodePlace('source', 'world', 'node-1'),
  nodePlace('target', 'world', 'node-1'),
  meshChannelPlace('source', 'world', 'chat', 'node-1'),
  meshChannelPlace('target', 'world', 'chat', 'node-1'),
  clientServerPlace('source', 'billing', 'client-1'),
  clientServerPlace('target', 'billing', 'server-1'),
  fanoutPlace('prices'),
];

const source = new FlowSource({ dateMs: () => AT_MS });
const endpoints = fc.constantFrom('', 'tcp://127.0.0.1:7000');
const correlationScope = { own: 'own-', peer: 'peer-' };
const links = endpoints.map((endpoint) => ({ correlationScope, peer: { rid: 'peer-1', endpoint } }));
const messages: fc.Arbitrary<FollowedMessage> = fc.record({
  packetName: fc.constantFrom('', 'order'),
  flow: fc.option(fc.constant(source.begin('application')), { nil: undefined }),
  link: fc.option(links, { nil: undefined }),
  correlation: fc.nat(3),
  topic: fc.constantFrom(undefined, 'eur', new TextEncoder().encode('usd')),
});

test('[TRACE-004] a record says of a message what its span says, with time and phase, whatever is known of it', () => {
  fc.assert(
    fc.property(fc.constantFrom(...places), messages, (place, message) => {
      const { flow, phases } = new TestFlow({ level: 'normal' });
      flow.note(place, 'completed', message, { kind: 'send', outcome: 'succeeded' });
      expect(phases).toStrictEqual([
        {
          eventId: 'zlink.message_flow',
          timestamp: new Date(AT_MS).toISOString(),
          phase: 'completed',
          ...messageFields(place, 'send', message, 'succeeded'),
        },
      ]);
    }),
  );
});

test('[TRACE-020] a request has the id of the end that asks it, a message without number none', () => {
  const idOf = (place: FlowPlace, correlation: number): unknown => {
    const { flow, phases } = new TestFlow({ level: 'normal' });
    const link = { correlationScope, peer: { rid: 'peer-1', endpoint: '' } };
    const message = { packetName: 'order', flow: source.begin('application'), link, correlation };
    flow.note(place, 'sent', message, { kind: 'request' });
    return phases[0]?.['correlation_id'];
  };
  expect([0, 1].map((at) => idOf(places[at]!, 7))).toEqual(['own-7', 'peer-7']);
  expect([0, 1].map((at) => idOf(places[at]!, 0))).toEqual([undefined, undefined]);
});
