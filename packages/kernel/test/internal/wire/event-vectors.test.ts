import { checkBeacon, beaconParts, isBeaconTopic } from '../../../src/internal/wire/beacon.ts';
import { EventReader } from '../../../src/internal/wire/event-reader.ts';
import { batchAt, readAll, write } from './plain-events.ts';
import { eventVectors, vectorNamed } from './vectors.ts';

const partsOf = (name: string): readonly Uint8Array[] => vectorNamed(name).parts;

test('[FAN-006] there is a vector for a batch, for pieces and for the beacon', () => {
  expect(eventVectors.map(({ name }) => name)).toEqual([
    'event-batch',
    'event-beacon',
    'event-piece-first',
    'event-piece-last',
  ]);
});

test('[FAN-006] vector event-batch decodes, and encodes to the same bytes', () => {
  const reader = new EventReader();
  const events = readAll(reader, partsOf('event-batch'));
  expect([reader.channelName, reader.generation]).toEqual(['news', 0x0123_4567_89ab_cdefn]);
  const json = { contentType: 'application/json', packetName: 'cat.seen' };
  expect(events).toEqual([
    { ...json, sequence: 41, topic: 'kitty', payload: Uint8Array.from(Buffer.from('{"seq":41}')) },
    { ...json, sequence: 42, topic: 'cat.seen', payload: Uint8Array.from(Buffer.from('{"seq":42}')) },
    { ...json, sequence: 43, topic: Uint8Array.of(0xff, 0), payload: new Uint8Array(0) },
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
