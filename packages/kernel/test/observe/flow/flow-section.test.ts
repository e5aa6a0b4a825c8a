import fc from 'fast-check';
import { CarriedFlow, type FlowOrigin, TraceContext } from '../../../src/observe/index.ts';
import { FlowSource } from '../../../src/observe/flow/flow-source.ts';
import { RecordReader } from '../../../src/internal/wire/record-reader.ts';
import { vectorNamed } from '../../internal/wire/vectors.ts';
import { AT_MS } from './test-flow.ts';

const TRACE_PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const ORIGINS: readonly FlowOrigin[] = ['inbound', 'timer', 'application', 'lifecycle'];

const hex = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 0, max: 15 }), { minLength: length, maxLength: length })
    .map((digits) => digits.map((digit) => digit.toString(16)).join(''));
const id = (length: number): fc.Arbitrary<string> => hex(length).filter((text) => /[^0]/.test(text));
const traceParents = fc.tuple(id(32), id(16), hex(2)).map(([trace, span, flags]) => `00-${trace}-${span}-${flags}`);
const traceStates = fc
  .array(fc.integer({ min: 0x20, max: 0x7e }), { maxLength: 512 })
  .map((codes) => String.fromCharCode(...codes));
const contexts = fc.option(
  fc.tuple(traceParents, traceStates).map(([parent, state]) => TraceContext.fromTexts(parent, state)),
  { nil: undefined },
);
const flows = fc
  .tuple(
    fc.constantFrom(...ORIGINS),
    contexts,
    fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    fc.int32Array({ minLength: 3, maxLength: 3 }),
  )
  .map(([origin, context, ms, random]) =>
    new FlowSource({ dateMs: () => ms, fillRandom: (words) => words.set(random) })
      .begin(origin)
      .withTraceContext(context),
  );

/** As a batch writes it: somewhere inside of more bytes. */
function written(flow: CarriedFlow): Uint8Array {
  const bytes = new Uint8Array(flow.byteLength + 5).fill(0xee);
  flow.writeInto(bytes, 2);
  expect([...bytes.subarray(0, 2), ...bytes.subarray(-3)]).toEqual([0xee, 0xee, 0xee, 0xee, 0xee]);
  return bytes.subarray(2, -3);
}

function section(change: (bytes: Uint8Array) => Uint8Array | void): Uint8Array {
  const bytes = written(new FlowSource({ dateMs: () => AT_MS }).begin('application'));
  return change(bytes) ?? bytes;
}

function read(bytes: Uint8Array): CarriedFlow | undefined {
  return CarriedFlow.read(bytes, 0, bytes.length);
}

test('[TRACE-021] [TRACE-023] a flow arrives as it left: id, origin and trace context, wherever it lies', () => {
  fc.assert(
    fc.property(flows, fc.nat(9), (flow, before) => {
      const bytes = Uint8Array.of(...Array.from({ length: before }, () => 7), ...written(flow), 7);
      const arrived = CarriedFlow.read(bytes, before, bytes.length - 1);
      expect([arrived?.id, arrived?.origin]).toEqual([flow.id, flow.origin]);
      expect(arrived?.traceContext?.traceParent).toBe(flow.traceContext?.traceParent);
      expect(arrived?.traceContext?.traceState).toBe(flow.traceContext?.traceState);
      expect(arrived?.share).toBe(Number.parseInt(flow.id.slice(-8), 16) / 2 ** 32);
    }),
  );
});

test('[TRACE-021] no bytes make the reader throw, and what it takes is a flow that it would write', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), (bytes) => {
      const flow = read(bytes);
      if (flow === undefined) return;
      expect(flow.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(read(written(flow))?.id).toBe(flow.id);
    }),
    { examples: [[new Uint8Array(0)], [new Uint8Array(17)], [new Uint8Array(42).fill(0x74)]] },
  );
});

test('[TRACE-021] an id is a UUIDv7: calendar time, version, variant, and what is random', () => {
  const source = new FlowSource({ dateMs: () => 0x0192_8f3e_6b7a, fillRandom: (words) => words.fill(-1) });
  expect(source.begin('timer')).toMatchObject({ id: '01928f3e-6b7a-7fff-bfff-ffffffffffff', origin: 'timer' });
  const zeros = new FlowSource({ dateMs: () => 0xffff_ffff_ffff, fillRandom: (words) => words.fill(0) });
  expect(zeros.begin('inbound').id).toBe('ffffffff-ffff-7000-8000-000000000000');
});

test('[TRACE-021] [TRACE-023] the flow of the vectors is read, and written to the same bytes', () => {
  const [request] = vectorNamed('request').parts;
  const record = new RecordReader([]);
  record.read(request ?? new Uint8Array(0), 0, []);
  const section = record.trace ?? new Uint8Array(0);
  const flow = read(section);
  expect(flow).toMatchObject({ id: '01928f3e-6b7a-7123-8456-789abcdef012', origin: 'application' });
  expect(flow?.traceContext).toMatchObject({
    traceParent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    traceState: 'a=b',
  });
  expect(flow && [...written(flow)]).toEqual([...section]);
});

test('[TRACE-021] ids differ, and the platform is asked for chance once for many', () => {
  let asked = 0;
  const source = new FlowSource({
    fillRandom: (words) => {
      asked++;
      crypto.getRandomValues(words);
    },
  });
  const ids = new Set(Array.from({ length: 1_000 }, () => source.begin('application').id));
  expect([ids.size, asked]).toEqual([1_000, 3]);
});

test.each([
  ['nothing', section(() => new Uint8Array(0))],
  ['an id that is cut off', section((bytes) => bytes.subarray(0, 16))],
  ['an origin without an id', section((bytes) => bytes.subarray(0, 1))],
  ['another version of UUID', section((bytes) => void (bytes[7] = 0x4a))],
  ['another variant', section((bytes) => void (bytes[9] = 0x0a))],
  ['a flag that nobody knows', section((bytes) => void (bytes[0] = 0x08))],
  ['bytes behind the id that no flag announces', section((bytes) => Uint8Array.of(...bytes, 1))],
])('[TRACE-021] malformed is %s', (_, bytes) => {
  expect(read(bytes)).toBeUndefined();
});

test.each([
  ['is cut off', (bytes: Uint8Array) => bytes.subarray(0, -1)],
  ['has no trace id', (bytes: Uint8Array) => bytes.fill(0, 17, 33)],
  ['has no span id', (bytes: Uint8Array) => bytes.fill(0, 33, 41)],
])('[TRACE-023] a trace context that %s is left out, and the flow goes on', (_, change) => {
  const flow = new FlowSource().begin('application').withTraceContext(TraceContext.fromTexts(TRACE_PARENT));
  const arrived = read(change(written(flow)));
  expect([arrived?.id, arrived?.traceContext]).toEqual([flow.id, undefined]);
});

test('[TRACE-023] tracestate is left out above 512 bytes, and if it is no visible ASCII', () => {
  expect(TraceContext.fromTexts(TRACE_PARENT, 'a=b,c=d')?.traceState).toBe('a=b,c=d');
  expect(TraceContext.fromTexts(TRACE_PARENT, 'x'.repeat(512))?.traceState).toHaveLength(512);
  expect(TraceContext.fromTexts(TRACE_PARENT, 'x'.repeat(513))?.traceState).toBe('');
  expect(TraceContext.fromTexts(TRACE_PARENT, 'a=é')?.traceState).toBe('');
  const flow = new FlowSource().begin('application').withTraceContext(TraceContext.fromTexts(TRACE_PARENT, 'a=b'));
  const bytes = written(flow);
  const arrivedWith = (state: Uint8Array): string | undefined =>
    read(Uint8Array.of(...bytes.subarray(0, 42), ...state))?.traceContext?.traceState;
  expect(arrivedWith(bytes.subarray(42))).toBe('a=b');
  expect(arrivedWith(new Uint8Array(512).fill(0x61))).toHaveLength(512);
  expect(arrivedWith(new Uint8Array(513).fill(0x61))).toBe('');
  expect(arrivedWith(Uint8Array.of(0x61, 0xc3))).toBe('');
});

test.each([
  '',
  TRACE_PARENT.slice(0, -1),
  `${TRACE_PARENT}-00`,
  TRACE_PARENT.toUpperCase(),
  TRACE_PARENT.replace(/^00/, 'ff'),
  TRACE_PARENT.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
  TRACE_PARENT.replace('00f067aa0ba902b7', '0'.repeat(16)),
])('[TRACE-023] no traceparent: %p', (text) => {
  expect(TraceContext.fromTexts(text)).toBeUndefined();
});

test('[TRACE-023] another version of traceparent is read and sent on as version 00', () => {
  expect(TraceContext.fromTexts(TRACE_PARENT.replace(/^00/, '01'))?.traceParent).toBe(TRACE_PARENT);
});

test('[TRACE-023] nothing of what was received is kept', () => {
  const flow = new FlowSource().begin('application').withTraceContext(TraceContext.fromTexts(TRACE_PARENT, 'a=b'));
  const received = Buffer.from(written(flow)); // whose own slice would share the bytes
  const arrived = read(received);
  received.fill(0);
  expect([arrived?.id, arrived?.traceContext?.traceParent, arrived?.traceContext?.traceState]).toEqual([
    flow.id,
    TRACE_PARENT,
    'a=b',
  ]);
});
