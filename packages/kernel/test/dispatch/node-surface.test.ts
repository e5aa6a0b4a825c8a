import { inspect } from 'node:util';
import { loopTurns } from '@zlink/testing';
import { type FilterContext, type HandlerRegistry, type NodeContext, nodeSurface } from '../../src/dispatch/index.ts';
import { message, metadata, request } from '../../src/message/index.ts';
import { FakeLink } from './fake-link.ts';
import { expectNothingHeld, gate, Harness } from './harness.ts';

const Move = request<{ x: number }, { ok: boolean }>('move');
const Poke = message<{ x: number }>('poke');
const surface = nodeSurface('game', 'node-b');

function arrange(options: ConstructorParameters<typeof Harness>[1] = {}) {
  const contexts: NodeContext[] = [];
  const register = (handlers: HandlerRegistry<NodeContext>) =>
    handlers
      .addSend(Poke, (_, context) => void contexts.push(context))
      .addRequest(Move, (_, context) => {
        contexts.push(context);
        return { ok: true };
      });
  const where = 'node "node-b" of mesh "game"';
  const harness = new Harness<NodeContext>(register, { owner: 'game', where, surface, ...options });
  return { harness, contexts };
}

test('[NODE-002] [DISP-003] a Node context names mesh, source and target, and nothing of a channel', () => {
  const { harness, contexts } = arrange();
  const link = new FakeLink('node-a');
  harness.send(Poke, { x: 1 }, { link, metadata: metadata({ tenant: '42' }) });
  const correlation = harness.request(Move, { x: 1 }, { link });
  const [ofSend, ofRequest] = contexts as [NodeContext, NodeContext];
  for (const { meshName, sourceNodeRid, targetNodeRid } of contexts) {
    expect([meshName, sourceNodeRid, targetNodeRid]).toEqual(['game', 'node-a', 'node-b']);
  }
  expect([ofSend.kind, ofSend.packetName, ofSend.contentType, ofSend.correlationId, [...ofSend.metadata]]).toEqual([
    'send',
    'poke',
    'application/json',
    undefined,
    [['tenant', '42']],
  ]);
  expect([ofRequest.kind, ofRequest.packetName, ofRequest.correlationId, ofRequest.metadata.size]).toEqual([
    'request',
    'move',
    `${link.correlationScope.peer}${correlation}`,
    0,
  ]);
  for (const name of ['channelName', 'link', 'endpoint', 'payload']) expect(ofRequest).not.toHaveProperty(name);
  expect(Object.keys(ofRequest)).toEqual([]);
  expect(inspect(ofRequest, { depth: 5, showHidden: true })).not.toContain('node-');
  expect(() => Object.assign(ofRequest, { sourceNodeRid: 'someone else' })).toThrow(TypeError);
  expect(link.answers).toMatchObject([{ correlation, error: undefined, text: '{"ok":true}' }]);
  expectNothingHeld(harness, link);
});

test('[NODE-002] the source is the node at the other side of the link that the message came over', () => {
  const { harness, contexts } = arrange();
  const links = ['node-a', 'node-c'].map((rid) => new FakeLink(rid));
  for (const link of [...links, ...links]) harness.request(Move, { x: 1 }, { link });
  expect(contexts.map(({ sourceNodeRid }) => sourceNodeRid)).toEqual(['node-a', 'node-c', 'node-a', 'node-c']);
  expectNothingHeld(harness, ...links);
});

test('[NODE-002] [DISP-007] filters of a node are told nodeSend or nodeRequest, the mesh, and the message', async () => {
  const seen: FilterContext[] = [];
  const { harness, contexts } = arrange({
    filters: [
      (context, next) => {
        seen.push(context);
        return next();
      },
    ],
  });
  const link = new FakeLink('node-a');
  harness.send(Poke, { x: 1 }, { link });
  harness.request(Move, { x: 1 }, { link });
  await loopTurns(1);
  expect(seen.map(({ dispatchKind, meshName }) => [dispatchKind, meshName])).toEqual([
    ['nodeSend', 'game'],
    ['nodeRequest', 'game'],
  ]);
  expect(seen.map((context) => context.message)).toEqual(contexts);
  expect(seen[0]?.message).toBe(contexts[0]);
  expect(seen[0]?.message).toMatchObject({ sourceNodeRid: 'node-a', targetNodeRid: 'node-b' });
  expectNothingHeld(harness, link);
});

test('[NODE-002] [DISP-004] what a node has no handler for is answered in the name of the node', () => {
  const { harness, contexts } = arrange();
  const link = new FakeLink('node-a');
  harness.request('unknown', {}, { link });
  harness.request(Poke, { x: 1 }, { link }); // a send handler serves no request
  expect(link.answers.map(({ error, text }) => [error, text])).toEqual([
    ['NotFound', 'no request handler of packet "unknown" in node "node-b" of mesh "game"'],
    [
      'NotFound',
      'no request handler of packet "poke" in node "node-b" of mesh "game": it has a send handler of that name',
    ],
  ]);
  expect(contexts).toEqual([]);
  expect(harness.requests).toMatchObject({ owner: 'game', dropped: { no_handler: 2 } });
  expectNothingHeld(harness, link);
});

test('[JOBQ-006] of the two mailbox limits the one that is not given keeps its default', async () => {
  const held = gate();
  const { harness } = arrange({
    mailboxLimits: { bytes: 100 },
    filters: [(_, next) => held.promise.then(next)],
  });
  const link = new FakeLink('node-a');
  harness.send(Poke, { x: 1 }, { link });
  harness.request(Move, { x: 1 }, { link });
  expect(link.answers).toMatchObject([
    {
      error: 'Unavailable',
      text: 'node "node-b" of mesh "game" has a full mailbox (limits: 65536 messages, 100 bytes)',
    },
  ]);
  held.open();
  await loopTurns(1);
  expectNothingHeld(harness, link);
});

test('[NODE-002] [DISP-004] a message for nobody is refused by its owner: a request is answered, a send recorded', () => {
  const { harness } = arrange();
  const link = new FakeLink('node-a');
  const refusal = { reason: 'no_handler', kind: 'NotFound', text: 'does not serve channel "shop"' } as const;
  harness.send(Poke, { x: 1 }, { link, refusal });
  harness.request(Move, { x: 1 }, { link, refusal });
  expect(link.answers).toMatchObject([
    { error: 'NotFound', text: 'node "node-b" of mesh "game" does not serve channel "shop"' },
  ]);
  expect([harness.sends.dropped, harness.requests.dropped]).toEqual([{ no_handler: 1 }, { no_handler: 1 }]);
  expect(harness.logs).toMatchObject([
    { reason: 'no_handler', action: 'drop', packet_name: 'poke' },
    { reason: 'no_handler', action: 'reply_error', packet_name: 'move' },
  ]);
  expectNothingHeld(harness, link);
});
