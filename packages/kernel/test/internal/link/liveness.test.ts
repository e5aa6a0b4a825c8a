import { ManualClock, seededRandom } from '@zlink/testing';
import { Liveness, type LivenessTimes } from '../../../src/internal/link/liveness.ts';
import { DeadlineWheel, type RandomSource } from '../../../src/internal/time/index.ts';
import { LIVENESS_DEADLINE_MS, PROBE_INTERVAL_MS } from '../../../src/internal/wire/limits.ts';

const TICK_MS = 16; // of the wheel
const standard: LivenessTimes = { probeIntervalMs: PROBE_INTERVAL_MS, deadlineMs: LIVENESS_DEADLINE_MS };

interface Probe {
  readonly id: number;
  readonly atMs: number;
}

/** One liveness with its wheel, its clock and a peer that answers as the test says. */
class Watch {
  readonly clock = new ManualClock(0);
  readonly probes: Probe[] = [];
  readonly silences: number[] = [];
  /** Answers that counted. */
  answers = 0;
  readonly liveness: Liveness;
  readonly wheel: DeadlineWheel;
  /** Called for each probe. */
  onProbe: ((id: number) => void) | undefined;
  /** What a stalled loop reads before its late timers count. */
  readPending: () => void = () => undefined;
  endedAtMs: number | undefined;

  /** By default ids are 1, 2, 3. */
  constructor(times = standard, random: RandomSource = () => 0) {
    this.wheel = new DeadlineWheel({
      clock: this.clock,
      onError: (error) => {
        throw error;
      },
      afterReads: (callback) => {
        this.readPending();
        callback();
      },
    });
    const { clock, wheel } = this;
    this.liveness = new Liveness(
      times,
      { clock, wheel, random },
      {
        sendProbe: (id, isNew) => {
          expect(isNew).toBe(id !== this.ids.at(-1));
          this.probes.push({ id, atMs: this.clock.nowMs() });
          this.onProbe?.(id);
        },
        onAnswer: () => this.answers++,
        onSilence: (silentMs) => {
          this.silences.push(silentMs);
          this.endedAtMs = this.clock.nowMs();
        },
      },
    );
  }

  get ids(): number[] {
    return this.probes.map(({ id }) => id);
  }

  answerAll(): void {
    this.onProbe = (id) => this.liveness.onAck(id);
  }
}

function isNear(actualMs: number, expectedMs: number): boolean {
  return actualMs >= expectedMs && actualMs <= expectedMs + 3 * TICK_MS;
}

test('[LIVE-001] probes go out every 5 s, each with a new id once the last was answered', () => {
  const watch = new Watch();
  watch.answerAll();
  watch.clock.advance(60_000);
  expect(watch.ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  let lastAtMs = 0;
  for (const { atMs } of watch.probes) {
    expect(isNear(atMs - lastAtMs, 5_000)).toBe(true);
    lastAtMs = atMs;
  }
  expect(watch.silences).toEqual([]);
});

test('[LIVE-001] a probe without answer is repeated unchanged, and after 15 s the link is dead, once', () => {
  const watch = new Watch();
  watch.clock.advance(14_990);
  expect(watch.ids).toEqual([1, 1]);
  expect(watch.silences).toEqual([]);
  watch.clock.advance(100);
  expect(watch.silences).toHaveLength(1);
  expect(watch.silences[0]).toBeGreaterThanOrEqual(15_000);
  expect(isNear(watch.endedAtMs ?? 0, 15_000)).toBe(true);
  expect(new Set(watch.ids)).toEqual(new Set([1]));
  watch.clock.advance(60_000);
  expect(watch.silences).toHaveLength(1);
  expect(watch.clock.pendingTimers).toBe(0);
});

test('[LIVE-001] the 15 s count from the last answer', () => {
  const watch = new Watch();
  watch.clock.advance(7_000);
  watch.liveness.onAck(1);
  watch.clock.advance(14_980);
  expect(watch.silences).toEqual([]);
  watch.clock.advance(100);
  expect(isNear(watch.endedAtMs ?? 0, 22_000)).toBe(true);
});

test('[LIVE-001] only the first ack with the awaited id counts', () => {
  const watch = new Watch();
  watch.liveness.onAck(0);
  watch.liveness.onAck(1); // nothing was asked yet
  watch.clock.advance(5_100);
  watch.liveness.onAck(2); // not asked
  watch.liveness.onAck(0);
  watch.clock.advance(900);
  watch.liveness.onAck(1); // at 6 s, the only one that counts
  for (let atMs = 6_000; atMs < 20_900; atMs += 100) {
    watch.clock.advance(100);
    watch.liveness.onAck(1); // again and again
  }
  expect(watch.silences).toEqual([]);
  watch.clock.advance(200);
  expect(isNear(watch.endedAtMs ?? 0, 21_000)).toBe(true);
  expect(new Set(watch.ids)).toEqual(new Set([1, 2]));
});

test('[LIVE-001] [C06] a peer that does not read and acknowledges what it guesses is dead after 15 s', () => {
  const watch = new Watch(standard, seededRandom(7));
  while (watch.silences.length === 0 && watch.clock.nowMs() < 60_000) {
    watch.clock.advance(100);
    for (let id = 0; id < 50; id++) watch.liveness.onAck(id);
  }
  expect(watch.silences).toHaveLength(1);
  expect(isNear(watch.endedAtMs ?? 0, 15_000)).toBe(true);
  expect(watch.answers).toBe(0);
});

test('[LIVE-001] ids are spread over all 32 bits by chance, and the last one is never chosen again', () => {
  const drawn = [0.25, 0, 1 - Number.EPSILON / 2, 0.5];
  const watch = new Watch(standard, () => drawn.shift() ?? 0);
  watch.answerAll();
  watch.clock.advance(20_200);
  expect(watch.ids).toEqual([0x4000_0000, 0x4000_0001, 0x4000_0000, 0xc000_0000]);
});

test('[LIVE-001] a probe out of turn goes out at once, unless one is awaited, and the others keep their time', () => {
  const watch = new Watch();
  watch.clock.advance(1_000);
  watch.liveness.probe();
  watch.liveness.probe();
  expect(watch.probes).toEqual([{ id: 1, atMs: 1_000 }]);
  watch.clock.advance(1_000);
  watch.liveness.onAck(1);
  watch.clock.advance(3_100);
  expect([watch.answers, watch.ids]).toEqual([1, [1, 2]]);
  expect(isNear(watch.probes[1]?.atMs ?? 0, 5_000)).toBe(true);
  watch.clock.advance(11_800);
  expect(watch.silences).toEqual([]);
  watch.clock.advance(300);
  expect(isNear(watch.endedAtMs ?? 0, 17_000)).toBe(true); // 15 s after the answer
});

test('[LIVE-001] a link that ends while it sends a probe is watched no more', () => {
  const watch = new Watch();
  watch.onProbe = () => watch.liveness.stop();
  watch.clock.advance(6_000);
  expect([watch.ids, watch.wheel.size, watch.clock.pendingTimers]).toEqual([[1], 0, 0]);
});

test('[LIVE-001] an answer in the last moment saves the link', () => {
  const watch = new Watch();
  watch.clock.advance(14_999);
  watch.liveness.onAck(1);
  watch.answerAll();
  watch.clock.advance(60_000);
  expect(watch.silences).toEqual([]);
});

test('[LIVE-001] a link that has ended is watched no more', () => {
  const watch = new Watch();
  watch.clock.advance(6_000);
  watch.liveness.stop();
  watch.liveness.stop();
  expect([watch.wheel.size, watch.clock.pendingTimers]).toEqual([0, 0]);
  watch.clock.advance(60_000);
  expect([watch.probes.length, watch.silences.length]).toEqual([1, 0]);
});

test('[LIVE-004] intervals come with the settings, and time from the injected clock', () => {
  const watch = new Watch({ probeIntervalMs: 200, deadlineMs: 600 });
  watch.clock.advance(500);
  expect(watch.ids).toEqual([1, 1]);
  watch.clock.advance(150);
  expect(watch.silences).toHaveLength(1);
});

/** A peer that answers after `latencyMs`; its answers are read only while our loop runs. */
function answering(watch: Watch, latencyMs: () => number): () => void {
  const arriving: { readonly id: number; readonly atMs: number }[] = [];
  watch.onProbe = (id) => arriving.push({ id, atMs: watch.clock.nowMs() + latencyMs() });
  const read = (): void => {
    while ((arriving[0]?.atMs ?? Infinity) <= watch.clock.nowMs()) watch.liveness.onAck(arriving.shift()?.id ?? 0);
  };
  watch.readPending = read;
  return read;
}

function run(watch: Watch, ms: number, read: () => void): void {
  for (let leftMs = ms; leftMs > 0; leftMs -= 10) {
    watch.clock.advance(10);
    read();
  }
}

test.each([1_100, 4_000, 6_000, 10_200, 14_000, 15_100, 20_000, 3_600_000])(
  '[LIVE-002] [C16] an own event loop that stood still for %i ms is not the peer’s silence, whenever it began',
  (stallMs) => {
    for (const latencyMs of [0, 30, 400]) {
      for (let beginsAtMs = 0; beginsAtMs < 11_000; beginsAtMs += 370) {
        const watch = new Watch();
        const read = answering(watch, () => latencyMs);
        run(watch, beginsAtMs, read);
        watch.clock.stall(stallMs);
        run(watch, 20_000, read);
        expect([latencyMs, beginsAtMs, watch.silences]).toEqual([latencyMs, beginsAtMs, []]);
      }
    }
  },
);

test('[LIVE-002] [C16] an answer that waits unread while the own loop stands still counts when it is read', () => {
  const watch = new Watch();
  const read = answering(watch, () => 30);
  run(watch, 5_020, read); // the first probe is out, its answer is not here yet
  expect(watch.ids).toEqual([1]);
  watch.clock.stall(14_000);
  watch.clock.advance(0);
  read();
  run(watch, 6_000, read);
  expect([watch.silences, watch.ids.slice(0, 2)]).toEqual([[], [1, 2]]);
});

/** Random stalls on our side; a peer that answers within `latencyMs`, or never. */
function live(seed: number, latencyMs: number | undefined): { watch: Watch; stalledMs: number } {
  const random = seededRandom(seed);
  const watch = new Watch();
  const read = answering(watch, () => (latencyMs === undefined ? Infinity : random() * latencyMs));
  let stalledMs = 0;
  for (let turn = 0; turn < 400 && watch.silences.length === 0; turn++) {
    if (random() < 0.15) {
      const stallMs = random() * (random() < 0.5 ? 2_000 : 25_000);
      watch.clock.stall(stallMs);
      stalledMs += stallMs;
    }
    watch.clock.advance(random() * 300);
    read();
  }
  return { watch, stalledMs };
}

test('[LIVE-002] [C16] a peer that answers is never given up, however often the own loop stands still', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const { watch } = live(seed, 2_000);
    expect([seed, watch.silences]).toEqual([seed, []]);
  }
});

test('[LIVE-001] [LIVE-002] a dead peer is found, not before 15 s, and not later than 15 s plus what the own loop stood still', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const { watch, stalledMs } = live(seed, undefined);
    expect([seed, watch.silences.length]).toEqual([seed, 1]);
    expect(watch.endedAtMs).toBeGreaterThanOrEqual(15_000);
    expect(watch.endedAtMs).toBeLessThanOrEqual(15_000 + stalledMs + 500);
  }
});
