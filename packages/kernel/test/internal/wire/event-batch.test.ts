import fc from 'fast-check';
import { checkBeacon } from '../../../src/internal/wire/beacon.ts';
import { EventBatch } from '../../../src/internal/wire/event-batch.ts';
import { EventReader } from '../../../src/internal/wire/event-reader.ts';
import { EVENT_BYTES, EVENT_FRAME_BYTES, TRACE_BYTES } from '../../../src/internal/wire/limits.ts';
import { batchAt, current, type PlainEvent, readAll, write } from './plain-events.ts';

const isLong = process.env['ZLINK_LONG'] === '1';

type Event = Omit<PlainEvent, 'sequence'>;

const eventOf = (topic: string, sizeBytes: number): Event => ({
  topic,
  contentType: 'application/json',
  packetName: 'cat.seen',
  payload: new Uint8Array(sizeBytes).fill(sizeBytes),
});

/** All events of the frames, read in order by one subscription. */
function readFrames(frames: readonly Uint8Array[]): PlainEvent[] {
  const reader = new EventReader();
  return frames.flatMap((frame) => readAll(reader, [frame]));
}

/** Some come again and again. */
const name = fc.oneof(fc.constantFrom('', 'a', 'b'), fc.string({ maxLength: 60, unit: 'grapheme' }));
const sizes = fc.oneof(
  { weight: 8, arbitrary: fc.nat(200) },
  { weight: 2, arbitrary: fc.nat(EVENT_FRAME_BYTES) },
  { weight: 1, arbitrary: fc.nat(300_000) },
);
const topic = fc.oneof(name, fc.uint8Array({ maxLength: 255 }));
const trace = fc.option(fc.uint8Array({ minLength: 1, maxLength: TRACE_BYTES }), { nil: undefined, freq: 2 });
const turns = fc.array(fc.array(fc.tuple(topic, name, name, sizes, trace, fc.boolean()), { maxLength: 12 }), {
  maxLength: 6,
});

test('[FAN-006] whatever is published in whatever turns, and begun in vain, arrives as it was, numbered from 1, in frames within the limit', () => {
  fc.assert(
    fc.property(turns, (published) => {
      const batch = new EventBatch('news', 7n);
      const frames: Uint8Array[] = [];
      const written: Event[] = [];
      for (const turn of published) {
        for (const [eventTopic, contentType, packetName, sizeBytes, section, isSpoilt] of turn) {
          const event = {
            topic: eventTopic,
            contentType,
            packetName,
            ...(section === undefined ? {} : { trace: section }),
            payload: new Uint8Array(sizeBytes).fill(written.length),
          };
          written.push(event);
          if (isSpoilt) {
            batch.begin(eventTopic, contentType, packetName);
            batch.rewind();
          }
          write(batch, event);
        }
        const pending = batch.pendingBytes;
        const taken = batch.take();
        expect(taken.reduce((sum, frame) => sum + frame.length, 0)).toBe(pending);
        expect(batch.pendingBytes).toBe(0);
        frames.push(...taken);
      }
      for (const frame of frames) {
        expect(frame.length).toBeLessThanOrEqual(EVENT_FRAME_BYTES);
        expect(checkBeacon([frame])).toBe('none');
      }
      const read = readFrames(frames);
      expect(read).toHaveLength(written.length);
      for (const [at, event] of read.entries()) {
        const expected = written[at];
        expect(event.sequence).toBe(at + 1);
        expect(Buffer.from(event.topic)).toEqual(Buffer.from(expected?.topic ?? ''));
        expect([event.contentType, event.packetName]).toEqual([expected?.contentType, expected?.packetName]);
        expect(event.trace).toEqual(expected?.trace);
        expect(Buffer.compare(event.payload, expected?.payload ?? new Uint8Array(1))).toBe(0);
      }
    }),
    { numRuns: isLong ? 2_000 : 100 },
  );
}, 600_000);

test('[FAN-006] the small events of a turn are one frame, and a name is written once in it', () => {
  const batch = new EventBatch('news', 7n);
  for (let at = 0; at < 100; at++) write(batch, eventOf('cat.seen', 10));
  const [frame, ...others] = batch.take();
  expect(others).toEqual([]);
  const bytes = Buffer.from(frame ?? []);
  for (const text of ['news', 'cat.seen', 'application/json']) {
    expect(bytes.indexOf(text)).toBeGreaterThan(0);
    expect(bytes.indexOf(text)).toBe(bytes.lastIndexOf(text));
  }
  expect(bytes.length).toBeLessThan(100 * (10 + 10) + 100);
});

test('[FAN-006] an event that shares any of its names with the one before has the others of its own', () => {
  const names = ['a', 'b'];
  const kinds = names.flatMap((topic) =>
    names.flatMap((contentType) => names.map((packetName) => ({ topic, contentType, packetName }))),
  );
  const pairs = kinds.flatMap((before) => kinds.flatMap((after) => [before, after]));
  const batch = new EventBatch('news', 7n);
  for (const kind of pairs) write(batch, { ...kind, payload: new Uint8Array(0) });
  const read = readFrames(batch.take());
  expect(read.map(({ topic, contentType, packetName }) => ({ topic, contentType, packetName }))).toEqual(pairs);
});

test('[FAN-006] a frame takes events up to its last byte; the one that does not fit begins the next frame', () => {
  const probe = new EventBatch('news', 7n);
  write(probe, eventOf('a', 0));
  const headBytes = probe.take()[0]?.length ?? 0;
  const room = EVENT_FRAME_BYTES - headBytes;
  const frameSizes = (...payloads: number[]): number[] => {
    const batch = new EventBatch('news', 7n);
    for (const sizeBytes of payloads) write(batch, eventOf('a', sizeBytes));
    const frames = batch.take();
    expect(readFrames(frames).map(({ payload }) => payload.length)).toEqual(payloads);
    return frames.map((frame) => frame.length);
  };
  expect(frameSizes(room)).toEqual([EVENT_FRAME_BYTES]);
  expect(frameSizes(room - 10, 0)).toEqual([EVENT_FRAME_BYTES]);
  expect(frameSizes(room - 9, 0)).toEqual([EVENT_FRAME_BYTES - 9, headBytes]);
  expect(frameSizes(room + 1)).toHaveLength(2);
  expect(frameSizes(5, room + 1, 5)).toHaveLength(4);
});

test('[FAN-006] events around one in pieces keep their order and their frames', () => {
  const batch = new EventBatch('news', 7n);
  for (const sizeBytes of [10, 200_000, 10, 10, 70_000]) write(batch, eventOf('a', sizeBytes));
  const frames = batch.take();
  expect(readFrames(frames).map(({ sequence, payload }) => [sequence, payload.length])).toEqual([
    [1, 10],
    [2, 200_000],
    [3, 10],
    [4, 10],
    [5, 70_000],
  ]);
  expect(frames).toHaveLength(1 + 4 + 1 + 2);
});

test('[FAN-006] full frames can be taken alone, and what is left goes on being filled', () => {
  const [batch, whole] = [new EventBatch('news', 7n), new EventBatch('news', 7n)];
  const frames: Uint8Array[] = [];
  let hadFull = 0;
  for (const sizeBytes of [10, 40_000, 20, 40_000, 30, 150_000, 40, 50]) {
    for (const each of [batch, whole]) write(each, eventOf('a', sizeBytes));
    if (batch.hasFull) hadFull++;
    frames.push(...batch.takeFull());
    expect([batch.hasFull, batch.takeFull()]).toEqual([false, []]);
  }
  expect(hadFull).toBe(2);
  expect(frames).toHaveLength(1 + 1 + 3);
  expect(batch.pendingBytes).toBeGreaterThan(90);
  frames.push(...batch.take());
  expect(frames.map((frame) => Uint8Array.from(frame))).toEqual(whole.take().map((frame) => Uint8Array.from(frame)));
  expect(readFrames(frames)).toHaveLength(8);
});

test('[FAN-004] a lost frame is a gap of exactly its events, and a lost piece one of one event', () => {
  const batch = new EventBatch('news', 7n);
  const frames: Uint8Array[][] = [];
  for (const sizes of [[1, 2], [200_000], [3], [4, 5, 6], [100_000], [7]]) {
    for (const sizeBytes of sizes) write(batch, eventOf('a', sizeBytes));
    frames.push(batch.take());
  }
  const all = frames.flat();
  for (const [lost] of all.entries()) {
    const seen = new Set(readFrames(all.filter((_, at) => at !== lost)).map(({ sequence }) => sequence));
    const whole = readFrames(all).map(({ sequence }) => sequence);
    const missing = whole.filter((sequence) => !seen.has(sequence));
    const owner = frames.findIndex((of) => of.includes(all[lost] ?? new Uint8Array(0)));
    expect(missing).toEqual([[1, 2], [3], [4], [5, 6, 7], [8], [9]][owner]);
  }
});

test('[FAN-006] an event that was rewound leaves no trace, neither bytes nor names nor a number', () => {
  const [plain, rewound] = [new EventBatch('news', 7n), new EventBatch('news', 7n)];
  const spoil = (): void => {
    rewound.begin('spoilt', 'text/spoilt', 'a');
    rewound.writeText('half of a payload');
    rewound.rewind();
  };
  spoil();
  for (const event of [eventOf('a', 3), eventOf('b', 4), eventOf('a', 5)]) {
    write(plain, event);
    write(rewound, event);
    spoil();
  }
  expect(rewound.take()).toEqual(plain.take());
  spoil();
  expect([rewound.take(), rewound.pendingBytes]).toEqual([[], 0]);
  write(rewound, eventOf('a', 6));
  expect(readFrames(rewound.take()).map(({ sequence }) => sequence)).toEqual([4]);
});

test('[FAN-006] bytes that were taken are never written again', () => {
  const batch = new EventBatch('news', 7n);
  const taken: { readonly frame: Uint8Array; readonly copy: Uint8Array }[] = [];
  for (let turn = 0; turn < 300; turn++) {
    for (let at = 0; at < turn % 7; at++) write(batch, eventOf(`topic-${at}`, (turn * 131) % 5_000));
    if (turn % 50 === 0) write(batch, eventOf('large', 400_000));
    for (const frame of batch.take()) taken.push({ frame, copy: Uint8Array.from(frame) });
  }
  for (const { frame, copy } of taken) expect(Buffer.compare(frame, copy)).toBe(0);
});

test('[FAN-006] one large event does not keep its memory for later frames', () => {
  const batch = new EventBatch('news', 7n);
  write(batch, eventOf('large', 1_000_000));
  batch.take();
  write(batch, eventOf('small', 10));
  expect(batch.take()[0]?.buffer.byteLength).toBeLessThanOrEqual(262_144);
});

test('[FAN-004] sequences beyond 32 bits are numbered on', () => {
  for (const first of [2 ** 32 - 1, 2 ** 40 + 5]) {
    const batch = batchAt(first);
    for (const sizeBytes of [1, 100_000, 2]) write(batch, eventOf('a', sizeBytes));
    expect(readFrames(batch.take()).map(({ sequence }) => sequence)).toEqual([first, first + 1, first + 2]);
  }
});

test('[FAN-006] text is written as UTF-8, in pieces of any size', () => {
  const batch = new EventBatch('news', 7n);
  const texts = ['', 'ü', '고양이'.repeat(3), 'x'.repeat(40_000), 'ü'.repeat(40_000)];
  batch.begin('a', 'text/plain', 'a');
  for (const text of texts) batch.writeText(text);
  expect(batch.payloadBytes).toBe(Buffer.byteLength(texts.join('')));
  batch.commit();
  const [event] = readFrames(batch.take());
  expect(Buffer.from(event?.payload ?? []).toString()).toBe(texts.join(''));
});

test('[FAN-006] an event may have 16 MiB and not a byte more', () => {
  const batch = new EventBatch('news', 7n);
  const largest = new Uint8Array(EVENT_BYTES);
  largest.fill(0xab);
  write(batch, { ...eventOf('a', 0), payload: largest });
  const [event] = readFrames(batch.take());
  expect(Buffer.compare(event?.payload ?? new Uint8Array(0), largest)).toBe(0);
  const tooLarge = [
    () => batch.writeBytes(new Uint8Array(EVENT_BYTES + 1)),
    () => batch.writeText('x'.repeat(EVENT_BYTES + 1)),
  ];
  for (const writeTooMuch of tooLarge) {
    batch.begin('a', 'text/plain', 'a');
    expect(writeTooMuch).toThrow(
      `[InvalidOperation] event of fanout channel "news" has ${EVENT_BYTES + 1} bytes or more, allowed are ${EVENT_BYTES}`,
    );
    batch.rewind();
  }
  batch.begin('a', 'text/plain', 'a');
  batch.writeBytes(largest);
  expect(() => batch.writeText('x')).toThrow('[InvalidOperation]');
  batch.rewind();
  expect(batch.take()).toEqual([]);
});

test('[FAN-006] names of 255 bytes travel, longer ones are refused before anything is written', () => {
  const batch = new EventBatch('ü'.repeat(127), 7n);
  const longest = 'x'.repeat(255);
  write(batch, {
    topic: longest,
    contentType: `${longest.slice(1)}y`,
    packetName: `${longest.slice(1)}z`,
    payload: new Uint8Array(1),
  });
  const [event] = readFrames(batch.take());
  expect([event?.topic, event?.packetName.at(-1)]).toEqual([longest, 'z']);
  for (const topicTooLong of ['x'.repeat(256), new Uint8Array(256)]) {
    expect(() => batch.begin(topicTooLong, '', '')).toThrow('[InternalFailure]');
    batch.rewind();
  }
  expect(batch.take()).toEqual([]);
  expect(() => new EventBatch('ü'.repeat(128), 7n)).toThrow('[InternalFailure]');
});

test('[FAN-006] a reader rests between two events for as long as it takes', () => {
  const batch = new EventBatch('news', 7n);
  for (const sizeBytes of [1, 2, 3]) write(batch, eventOf('a', sizeBytes));
  const [frame] = batch.take();
  const reader = new EventReader();
  expect(reader.next()).toBe(false);
  expect(reader.open([frame ?? new Uint8Array(0)])).toBe(true);
  for (const sizeBytes of [1, 2, 3]) {
    expect(reader.next()).toBe(true);
    expect(current(reader).payload.length).toBe(sizeBytes);
  }
  expect([reader.next(), reader.fault]).toEqual([false, '']);
});
