import { ErrorKind, errorKindOf } from '../../../src/errors/index.ts';
import { decodeMetadata } from '../../../src/message/index.ts';
import {
  decodeDescriptor,
  decodeHello,
  decodeRejection,
  DescriptorState,
  encodeDescriptor,
  encodeHello,
  encodeRejection,
  EndpointKind,
  ObjectRole,
  RejectReason,
} from '../../../src/internal/wire/hello.ts';
import { peerDigest } from '../../../src/internal/wire/peer-digest.ts';
import type { NameTable } from '../../../src/internal/wire/record-reader.ts';
import { GoodbyePhase, RecordKind } from '../../../src/internal/wire/record.ts';
import { decodeMessage, encodeMessage, type PlainRecord } from './message-codec.ts';
import { vectorNamed, vectors } from './vectors.ts';

const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

function recordsOf(name: string, names: NameTable = []): PlainRecord[] {
  const batches = decodeMessage(vectorNamed(name).parts, names);
  if (typeof batches === 'string') throw new Error(`${name}: ${batches}`);
  return batches.flat();
}

function recordOf(name: string): PlainRecord {
  const [record, ...others] = recordsOf(name);
  if (record === undefined || others.length > 0) throw new Error(`${name} is no single record`);
  return record;
}

test('[WIRE-002] there is a vector for every kind of record', () => {
  const kinds = vectors.flatMap(({ name }) => recordsOf(name).map(({ kind }) => kind));
  expect([...new Set(kinds)].sort((a, b) => a - b)).toEqual(Object.values(RecordKind).sort((a, b) => a - b));
});

test.each(vectors)('[WIRE-002] vector $name decodes, and encodes to the same bytes', ({ parts }) => {
  const batches = decodeMessage(parts);
  if (typeof batches === 'string') throw new Error(batches);
  const again = encodeMessage(batches);
  expect(again).toHaveLength(parts.length);
  for (const [at, part] of parts.entries()) expect(Buffer.compare(again[at] ?? new Uint8Array(0), part)).toBe(0);
});

const greetings = ['hello', 'hello-expecting', 'hello-secured', 'admit'];

test.each(greetings)('[WIRE-001] the facts of vector %s encode to the same bytes', (name) => {
  const { payload } = recordOf(name);
  const decoded = decodeHello(payload);
  if (decoded.kind !== 'hello') throw new Error(decoded.kind);
  const again = encodeHello(decoded.hello, (message) => {
    expect(message).toEqual(decoded.signed);
    return decoded.proof;
  });
  expect(again).toEqual(payload);
});

test('[WIRE-001] vector hello introduces a channel client', () => {
  const decoded = decodeHello(recordOf('hello').payload);
  expect(decoded).toMatchObject({
    kind: 'hello',
    hello: {
      major: 1,
      minor: 1,
      kind: EndpointKind.channelClient,
      capabilities: 0,
      generation: 0x0123_4567_89ab_cdefn,
      windowBytes: 1_048_576,
      maxMessageBytes: 0,
      rid: 'client-7',
      scope: 'billing',
      endpoint: '',
      publicKey: '',
      descriptor: { revision: 1n, state: DescriptorState.serving, objectRole: ObjectRole.none, channels: [] },
    },
  });
});

test('[WIRE-001] the proof of vector hello-secured covers all before it, and not the descriptor', () => {
  const { payload } = recordOf('hello-secured');
  const decoded = decodeHello(payload);
  if (decoded.kind !== 'hello') throw new Error(decoded.kind);
  expect(decoded.proof).toEqual(Uint8Array.from({ length: 32 }, (_, at) => 0xa0 + at));
  expect(decoded.signed).toEqual(payload.subarray(0, decoded.signed.length));
  expect(text(decoded.signed)).toContain(decoded.hello.publicKey);
  expect(text(decoded.signed)).not.toContain('lobby');
  expect(decoded.hello.descriptor.channels).toEqual([{ name: 'lobby', weight: 100 }]);
});

test('[WIRE-001] vector reject names reason and text', () => {
  const { payload } = recordOf('reject');
  const rejection = decodeRejection(payload);
  expect(rejection).toEqual({
    reason: RejectReason.wrongScope,
    text: 'endpoint serves "shipping", expected "billing"',
  });
  expect(rejection && encodeRejection(rejection)).toEqual(payload);
});

test('[WIRE-001] vector hello-expecting asks for one run of one node, the others for anyone', () => {
  const expected = peerDigest('node-b', 0xfedc_ba98_7654_3210n);
  const asked = (name: string): unknown => {
    const { correlation: rid, aux: generation } = recordOf(name);
    return { rid, generation };
  };
  expect(asked('hello-expecting')).toEqual(expected);
  for (const name of ['hello', 'hello-secured']) expect(asked(name)).toEqual(peerDigest(undefined, undefined));
});

test('[TRACE-020] vector admit has the number of the link', () => {
  const { correlation, aux } = recordOf('admit');
  expect([correlation, aux]).toEqual([42, 0]);
});

test('[WIRE-001] vector reject-wrong-rid names who is there instead', () => {
  const { payload } = recordOf('reject-wrong-rid');
  const rejection = decodeRejection(payload);
  expect(rejection).toEqual({ reason: RejectReason.wrongRid, text: 'endpoint is node "node-c"', rid: 'node-c' });
  expect(rejection && encodeRejection(rejection)).toEqual(payload);
});

test('[CORE-010] vector reject-duplicate names who refuses behind the text', () => {
  const { payload } = recordOf('reject-duplicate');
  const rejection = decodeRejection(payload);
  expect(rejection).toEqual({ reason: RejectReason.duplicate, text: '"node-b" is already connected', rid: 'node-a' });
  expect(rejection && encodeRejection(rejection)).toEqual(payload);
});

test('[WIRE-001] vector update carries a descriptor', () => {
  const { payload } = recordOf('update');
  const descriptor = decodeDescriptor(payload);
  expect(descriptor).toEqual({
    revision: 10n,
    state: DescriptorState.draining,
    objectRole: ObjectRole.none,
    channels: [{ name: 'billing', weight: 300 }],
  });
  expect(descriptor && encodeDescriptor(descriptor)).toEqual(payload);
});

test('[WIRE-004] vector name introduces the first name of a link', () => {
  const names: NameTable = [];
  recordsOf('name', names);
  expect(names).toEqual([
    undefined,
    { scope: '', contentType: 'application/json', packetName: 'invoice', slot: undefined },
  ]);
});

test('[WIRE-004] vector send-inline-name carries a whole name', () => {
  expect(recordOf('send-inline-name')).toMatchObject({
    kind: RecordKind.send,
    nameId: 0,
    inlineName: { scope: 'lobby', contentType: 'application/json', packetName: 'chat' },
    payload: Buffer.from('"hi"'),
  });
});

test('[WIRE-006] [WIRE-007] vector request carries metadata, trace context and the time that is left', () => {
  const request = recordOf('request');
  expect(request).toMatchObject({ kind: RecordKind.request, nameId: 1, correlation: 41, aux: 29_500 });
  const { metadata, trace } = request;
  if (metadata === undefined || trace === undefined) throw new Error('a section is missing');
  expect([...(decodeMetadata(metadata) ?? [])]).toEqual([['tenant', 'north-5']]);
  expect(Buffer.from(trace).toString('hex')).toMatch(/^0601928f3e6b7a7123.*613d62$/); // read as a flow elsewhere
  expect(text(request.payload)).toBe('{}');
});

test('[WIRE-005] vectors reply and error carry the correlation of their request', () => {
  const { correlation } = recordOf('request');
  expect(recordOf('reply')).toMatchObject({ kind: RecordKind.reply, correlation, payload: Buffer.from('true') });
  const error = recordOf('error');
  expect(error).toMatchObject({ kind: RecordKind.error, correlation, nameId: 0 });
  expect(errorKindOf(error.aux)).toBe('NotFound');
  expect(error.aux).toBe(ErrorKind.NotFound);
});

test('[CORE-004] vectors of credit carry bytes in aux and the window in the correlation', () => {
  expect(recordOf('credit')).toMatchObject({ kind: RecordKind.credit, aux: 98_304, correlation: 262_144 });
  expect(recordOf('credit-window')).toMatchObject({ kind: RecordKind.credit, aux: 0, correlation: 4_194_304 });
});

test('[LIVE-001] vector ack answers vector probe', () => {
  expect(recordOf('ack').correlation).toBe(recordOf('probe').correlation);
});

test('[CORE-011] the vectors of goodbye are its two phases', () => {
  expect(recordOf('goodbye-finishing').aux).toBe(GoodbyePhase.finishing);
  expect(recordOf('goodbye-finished').aux).toBe(GoodbyePhase.finished);
});

test('[CORE-001] [CORE-005] vector message: lane before ordinary batch, external payloads behind their batch', () => {
  const { parts } = vectorNamed('message');
  const batches = decodeMessage(parts);
  if (typeof batches === 'string') throw new Error(batches);
  expect(batches.map((batch) => batch.map(({ kind, payload }) => [kind, payload.length]))).toEqual([
    [
      [RecordKind.name, 6],
      [RecordKind.reply, 32_768],
      [RecordKind.credit, 0],
    ],
    [
      [RecordKind.send, 2],
      [RecordKind.send, 40_000],
    ],
  ]);
  expect(parts.map((part) => part.length)).toEqual([54, 32_768, 34, 40_000]);
});
