/**
 * What a peer may write where a flow and a trace context belong: each way to be wrong, to a host that serves others as well.
 *
 * 1. Malformed is what does not have the form of a flow, and that message alone is refused.
 * 2. A trace context that is none, or a trace state that is none, is left out, and the message is handled.
 */
import type { ChannelContext } from '../../../src/dispatch/index.ts';
import { message, request } from '../../../src/message/index.ts';
import { CarriedFlow, type Flow, TraceContext } from '../../../src/observe/index.ts';
import { FlowSource } from '../../../src/observe/flow/flow-source.ts';
import { expectNothingHeld, Harness } from '../../dispatch/harness.ts';

const Ask = request<number, number>('ask');
const Tell = message<number>('tell');

/** The longest section that the wire lets through. */
const SECTION_BYTES = 1_024;
const FLOW_BYTES = 17;
const CONTEXT_BYTES = 42;
const HAS_CONTEXT = 0x04;
const STATE_BYTES = 512;
const [VERSION_AT, VARIANT_AT] = [7, 9];

/** One that is right, without and with a trace context, and a state as long as is asked for. */
function section(stateBytes?: number): Uint8Array {
  const traceParent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const context = stateBytes === undefined ? undefined : TraceContext.fromTexts(traceParent);
  const flow = new FlowSource().begin('application').withTraceContext(context);
  const bytes = new Uint8Array(flow.byteLength + (stateBytes ?? 0)).fill(0x61);
  flow.writeInto(bytes, 0);
  return bytes;
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, number) => number);
}

const lengths = [section(), section(0)].flatMap((bytes) =>
  upTo(SECTION_BYTES + 1).map((length) => {
    const longer = new Uint8Array(length).fill(0x61);
    longer.set(bytes.subarray(0, length));
    return longer;
  }),
);
const heads = [section(), section(3)].flatMap((bytes) => upTo(256).map((head) => bytes.with(0, head)));
const versionsAndVariants = [VERSION_AT, VARIANT_AT].flatMap((at) =>
  upTo(256).map((value) => section(3).with(at, value)),
);
const states = upTo(256).map((value) => section(3).with(CONTEXT_BYTES + 1, value));
const zeros = [
  [17, 33],
  [33, 41],
  [17, 41],
  [41, 42],
].map(([from, to]) => section(3).fill(0, from, to));
const sections = [...lengths, ...heads, ...versionsAndVariants, ...states, ...zeros];

function isFlow(bytes: Uint8Array): boolean {
  const [head = 0xff] = bytes;
  if (bytes.length < FLOW_BYTES || head > 0x07 || (head < HAS_CONTEXT && bytes.length > FLOW_BYTES)) return false;
  return bytes[VERSION_AT]! >= 0x70 && bytes[VERSION_AT]! < 0x80 && bytes[VARIANT_AT]! >= 0x80 && bytes[VARIANT_AT]! < 0xc0; // prettier-ignore
}

/** Of what a handler should see: undefined without a trace context, else its state. */
function stateOf(bytes: Uint8Array): string | undefined {
  const isSet = (from: number, to: number): boolean => bytes.subarray(from, to).some((byte) => byte !== 0);
  if (bytes[0]! < HAS_CONTEXT || bytes.length < CONTEXT_BYTES || !isSet(17, 33) || !isSet(33, 41)) return undefined;
  const state = Buffer.from(bytes.subarray(CONTEXT_BYTES)).toString('latin1');
  return state.length <= STATE_BYTES && /^[ -~]*$/.test(state) ? state : '';
}

test(`[TRACE-021] [TRACE-023] ${sections.length} trace sections of every length, head, version, variant and state: each is the flow it says or is refused, and the next message is served`, () => {
  const seen: (Flow | undefined)[] = [];
  const note = (value: number, { flow }: ChannelContext): number => {
    seen.push(flow);
    return value;
  };
  const harness = new Harness(
    (handlers) => handlers.addRequest(Ask, note).addSend(Tell, (value, context) => void note(value, context)),
    { diagnostics: { level: 'normal' } },
  );
  const refused = sections.filter((bytes) => !isFlow(bytes)).length;
  for (const bytes of sections) {
    const shown = `${bytes.length} bytes: ${Buffer.from(bytes).toString('hex')}`;
    const sent = bytes.slice();
    harness.request(Ask, 1, { trace: sent });
    harness.send(Tell, 1, { trace: sent });
    harness.turn();
    sent.fill(0xff); // who has read them keeps nothing of them
    const taken = isFlow(bytes) ? Array.from({ length: 2 }, () => stateOf(bytes)) : [];
    const flows = seen.splice(0);
    expect([shown, flows.map(contextStateOf)]).toEqual([shown, taken]);
    const id = Buffer.from(bytes.subarray(1, FLOW_BYTES)).toString('hex');
    for (const flow of flows) expect([shown, flow?.id.replaceAll('-', '')]).toEqual([shown, id]);
    const answer = isFlow(bytes) ? { text: '1' } : { error: 'ProtocolError' };
    expect(harness.link.answers.splice(0)).toMatchObject([answer]);
    harness.request(Ask, 2, { trace: section() });
    expect([shown, seen.splice(0).length, harness.link.answers.splice(0)]).toMatchObject([shown, 1, [{ text: '2' }]]);
  }
  expect([harness.requests.dropped, harness.sends.dropped]).toEqual([
    { invalid_frame: refused },
    { invalid_frame: refused },
  ]);
  expectNothingHeld(harness);
});

function contextStateOf(flow: Flow | undefined): string | undefined {
  return (flow as CarriedFlow | undefined)?.traceContext?.traceState; // a host makes no other flows
}
