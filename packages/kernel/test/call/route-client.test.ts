import { createRouteClient } from '../../src/call/index.ts';
import { ZLinkError } from '../../src/errors/index.ts';
import { message, request } from '../../src/message/index.ts';

const Ask = request<number, number>('ask');
const Note = message<number>('note');

const client = createRouteClient({
  toChannel: (channelName) => new ZLinkError('NotFound', `no channel ${channelName}`),
  toNode: (meshName, rid) => new ZLinkError('NotFound', `no node ${rid} of ${meshName}`),
});

test('[NODE-001] [CHAN-001] where a name leads nowhere the call is made, and its submit says why', async () => {
  await expect(client.sendToChannel('c', Note(1)).submit()).rejects.toThrow('[NotFound] no channel c');
  await expect(client.requestToChannel('c', Ask(1)).submit()).rejects.toThrow('[NotFound] no channel c');
  await expect(client.sendToNode('m', 'r', Note(1)).submit()).rejects.toThrow('[NotFound] no node r of m');
  await expect(client.requestToNode('m', 'r', Ask(1)).submit()).rejects.toThrow('[NotFound] no node r of m');
});

test('[MSG-006] a request with a one-way message is refused, with the verb that fits', () => {
  const asWrong = Note(1) as never; // for plain JavaScript
  expect(() => client.requestToChannel('c', asWrong)).toThrow(/use sendToChannel/);
  expect(() => client.requestToNode('m', 'r', asWrong)).toThrow(/use sendToNode/);
  expect(Object.isFrozen(client)).toBe(true);
});
