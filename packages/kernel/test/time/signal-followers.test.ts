import { getEventListeners } from 'node:events';
import { follow, type SignalFollower, unfollow } from '../../src/internal/time/signal-followers.ts';

class Follower implements SignalFollower {
  readonly reasons: unknown[] = [];
  readonly #then: () => void;

  constructor(then: () => void = () => undefined) {
    this.#then = then;
  }

  onAbort(reason: unknown): void {
    this.reasons.push(reason);
    this.#then();
  }
}

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('[CALL-002] a signal has one listener however many calls follow it, and none after the last', () => {
  const { signal } = new AbortController();
  const followers = Array.from({ length: 1_000 }, () => new Follower());
  for (const follower of followers) follow(signal, follower);
  expect(listeners(signal)).toBe(1);
  for (const follower of followers.slice(1)) unfollow(signal, follower);
  expect(listeners(signal)).toBe(1);
  unfollow(signal, followers[0]!);
  expect(listeners(signal)).toBe(0);
  unfollow(signal, followers[0]!); // once more is nothing
  follow(signal, followers[1]!);
  expect(listeners(signal)).toBe(1);
  unfollow(signal, followers[1]!);
});

test('[CALL-002] an abort tells every follower once, with the reason, and leaves no listener', () => {
  const controller = new AbortController();
  const other = new AbortController();
  const followers = [new Follower(), new Follower()];
  const elsewhere = new Follower();
  for (const follower of followers) follow(controller.signal, follower);
  follow(other.signal, elsewhere);
  controller.abort('enough');
  controller.abort('again');
  for (const { reasons } of followers) expect(reasons).toEqual(['enough']);
  expect(elsewhere.reasons).toEqual([]);
  expect([listeners(controller.signal), listeners(other.signal)]).toEqual([0, 1]);
  unfollow(controller.signal, followers[0]!);
  unfollow(other.signal, elsewhere);
});

test('[CALL-002] a follower that leaves while another one is told is not told any more', () => {
  const controller = new AbortController();
  const second = new Follower();
  const first = new Follower(() => unfollow(controller.signal, second));
  follow(controller.signal, first);
  follow(controller.signal, second);
  controller.abort('enough');
  expect([first.reasons, second.reasons]).toEqual([['enough'], []]);
  expect(listeners(controller.signal)).toBe(0);
});
