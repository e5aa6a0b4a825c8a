import { checkBeacon, beaconParts, isBeaconTopic } from '../../../src/internal/wire/beacon.ts';
import { EventReader } from '../../../src/internal/wire/event-reader.ts';
import { isAskedFor, otherRunParts, refusedRun, runOf, topicsOf } from '../../../src/internal/wire/event-topics.ts';
import { batchAt, readAll, write } from './plain-events.ts';
import { eventVectors, vectorNamed } from './vectors.ts';

const partsOf = (name: string): readonly Uint8Array[] => vectorNamed(name).parts;

test('[FAN-006] there is a vector for a batch, for pieces, for the beacon and for a refusal', () => {
  expect(eventVectors.map(({ name }) => name)).toEqual([
    'event-batch',
    'event-beacon',
    'event-other-run',
    'event-piece-first',
    'event-piece-last',
  ]);
});

test('[FAN-006] vector event-batch decodes, and encodes to the same bytes', () => {
  const reader = new EventReader();
  const events = readAll(reader, partsOf('event-batch'));
  expect([reader.channelName, reader.generation]).toEqual(['news', 0x0123_4567_89ab_cdefn]);
  // 01928f3e-6b7a-7123-8456-789abcdef012, of an application
  const flowBytes = Uint8Array.from(Buffer.from('0201928f3e6b7a71238456789abcdef012', 'hex'));
  const json = { contentType: 'application/json', packetName: 'cat.seen' };
  expect(events).toEqual([
    { ...json, sequence: 41, topic: 'kitty', payload: Uint8Array.from(Buffer.from('{"seq":41}')) },
    { ...json, sequence: 42, topic: 'cat.seen', payload: Uint8Array.from(Buffer.from('{"seq":42}')) },
    { ...json, sequence: 43, topic: Uint8Array.of(0xff, 0), trace: flowBytes, payload: new Uint8Array(0) },
  ]);
  const batch = batchAt(41);
  for (const event of events) write(batch, event);
  expect(batch.take().map((frame) => Uint8Array.from(frame))).toEqual(partsOf('event-batch'));
});

test('[FAN-006] the vectors of pieces are one event, and encode to the same bytes', () => {
  const reader = new EventReader();
  expect(readAll(reader, partsOf('event-piece-first'))).toEqual([]);
  const events = readAll(reader, partsOf('event-piece-last'));
  expect(events).toEqual([
    {
      sequence: 44,
      topic: 'kitty',
      contentType: 'application/octet-stream',
      packetName: 'cat.photo',
      payload: new Uint8Array(70_000).fill(0x2e),
    },
  ]);
  const batch = batchAt(44);
  for (const event of events) write(batch, event);
  const frames = batch.take();
  const expected = [...partsOf('event-piece-first'), ...partsOf('event-piece-last')];
  expect(frames).toHaveLength(expected.length);
  for (const [at, frame] of frames.entries()) expect(Buffer.compare(frame, expected[at] ?? frame.subarray(1))).toBe(0);
});

test('[LIVE-003] vector event-beacon is the beacon, and nothing else is', () => {
  const [topic, payload] = partsOf('event-beacon');
  if (topic === undefined || payload === undefined) throw new Error('a part is missing');
  expect(beaconParts()).toEqual([topic, payload]);
  expect(checkBeacon([topic, payload])).toBe('beacon');
  const malformed = [
    [topic],
    [topic, payload, new Uint8Array(0)],
    [topic, payload.subarray(1)],
    [topic, Uint8Array.of(0x5a, 0x46, 0x01, 0x02)],
    [topic, new Uint8Array(0)],
  ];
  for (const parts of malformed) expect(checkBeacon(parts)).toBe('malformed');
  const others = [
    [],
    [payload, topic],
    [topic.subarray(1), payload],
    [Uint8Array.of(...topic, 0), payload],
    [new Uint8Array(0)],
  ];
  for (const parts of others) expect(checkBeacon(parts)).toBe('none');
});

test('[C08] vector event-other-run refuses a run under the topic by which it is asked for, and nothing else does', () => {
  const [frame] = partsOf('event-other-run');
  if (frame === undefined) throw new Error('a part is missing');
  const generation = 0x0123_4567_89ab_cdefn;
  expect(otherRunParts(generation)).toEqual([frame]);
  expect(refusedRun([frame])).toBe(generation);
  const topics = topicsOf(generation);
  expect(topics).toEqual([beaconParts()[0], frame.subarray(0, 13)]);
  expect(topics.map(runOf)).toEqual([undefined, generation]);
  expect(isAskedFor([frame], topics)).toBe(true);
  const others = [
    [],
    [frame, frame],
    [frame.subarray(0, 13)],
    [Uint8Array.of(...frame, 0)],
    [Uint8Array.of(...frame.subarray(0, 13), 1)],
    [Uint8Array.of(0x5b, ...frame.subarray(1))],
    [Uint8Array.of(...frame.subarray(0, 4), 2, ...frame.subarray(5))],
    otherRunParts(0n),
    partsOf('event-batch'),
    beaconParts(),
  ];
  expect(others.map(refusedRun)).toEqual(others.map(() => undefined));
});

test('[C08] who asks for a run is sent its frames and beacons; who asks for none, everything', () => {
  const messages = ['event-batch', 'event-piece-first', 'event-piece-last', 'event-beacon'].map(partsOf);
  const reachedBy = (generation: bigint | undefined): boolean[] =>
    messages.map((parts) => isAskedFor(parts, topicsOf(generation)));
  expect(reachedBy(0x0123_4567_89ab_cdefn)).toEqual([true, true, true, true]);
  expect(reachedBy(0x0123_4567_89ab_cdeen)).toEqual([false, false, false, true]);
  expect(reachedBy(undefined)).toEqual([true, true, true, true]);
  expect([[], [new Uint8Array(0)]].map((parts) => isAskedFor(parts, topicsOf(1n)))).toEqual([false, false]);
  expect([[], [new Uint8Array(0)]].map((parts) => isAskedFor(parts, topicsOf(undefined)))).toEqual([true, true]);
});

test('[FAN-002] the topic of the beacon is reserved, its neighbours are not', () => {
  const [topic = new Uint8Array(0)] = beaconParts();
  expect(isBeaconTopic(topic)).toBe(true);
  expect(isBeaconTopic(Buffer.from('\u0001ZLF1'))).toBe(true);
  for (const neighbour of [topic.subarray(0, 4), Uint8Array.of(...topic, 0), Uint8Array.of(1, 0x5a, 0x4c, 0x46, 0x32)])
    expect(isBeaconTopic(neighbour)).toBe(false);
});

test('[LIVE-003] no beacon can be changed through another one', () => {
  beaconParts()[0]?.fill(0);
  expect(checkBeacon(beaconParts())).toBe('beacon');
});
