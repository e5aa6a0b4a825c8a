import type { Event } from 'zeromq';
import { type SocketEvent, watchSocket } from '../src/socket-monitor.ts';

const handshake: Event = { type: 'handshake', address: 'tcp://127.0.0.1:7000' };
const end: Event = { type: 'end' };

/** A socket that tells of `events` in turn; an error is what its observer fails with. */
function socketOf(...events: (Event | Error)[]) {
  const receive = async (): Promise<Event> => {
    const next = events.shift();
    if (next === undefined) throw new Error('read behind the end');
    if (next instanceof Error) throw next;
    return next;
  };
  return { events: { receive } };
}

test('[WIRE-003] what a pipe throws is told, and events are read until the socket is gone', async () => {
  const faults: unknown[] = [];
  const told: SocketEvent[] = [];
  const onEvent = (event: SocketEvent): void => {
    told.push(event);
    throw new Error('pipe is broken');
  };
  await watchSocket(socketOf(handshake, handshake, end), { onEvent, onFault: (error) => void faults.push(error) });
  expect(told).toEqual([{ kind: 'ready' }, { kind: 'ready' }]);
  expect(faults.map(String)).toEqual(['Error: pipe is broken', 'Error: pipe is broken']);
});

test('[WIRE-003] [CORE-011] an observer that fails, or cannot be made, ends the watch and is told', async () => {
  const faults: unknown[] = [];
  const watcher = { onEvent: () => undefined, onFault: (error: unknown): void => void faults.push(error) };
  await watchSocket(socketOf(new Error('cannot be read')), watcher);
  const unwatched = {
    get events(): never {
      throw new Error('cannot be made');
    },
  };
  await watchSocket(unwatched, watcher);
  expect(faults.map(String)).toEqual(['Error: cannot be read', 'Error: cannot be made']);
});
