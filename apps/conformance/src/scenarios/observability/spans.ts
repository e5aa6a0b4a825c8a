/** TRACE-024 and TRACE-025: one trace over hosts, and the context that handlers run in. */
import assert from 'node:assert/strict';
import type { SpanFacts } from '../../roles/parts/telemetry.ts';
import type { CallPlan, PartPlan, PropagatorPlan, TelemetryPlan } from '../../roles/plan.ts';
import { eventually } from '../../runner/eventually.ts';
import type { HostHandle } from '../../runner/host-handle.ts';
import type { HostSetup } from '../../runner/stage.ts';
import type { Scenario } from '../../scenario.ts';

const traced: TelemetryPlan = { role: 'telemetry', spans: 'kept', hasContext: true };
const normal: HostSetup = { options: { diagnostics: { level: 'normal' } } };

export const spans: readonly Scenario[] = [
  {
    ids: ['TRACE-023', 'TRACE-024', 'TRACE-025', 'TRACE-026'],
    title: 'application span, request, handler and what it calls on are one trace over three processes',
    run: async (stage) => {
      const last = await stage.start('last', [traced, { role: 'server', channel: 'far' }], normal);
      const far: PartPlan = { role: 'client', channel: 'far', connect: [last.endpointOf('far')] };
      const middle = await stage.start('middle', [traced, { role: 'server' }, far], normal);
      const caller = await stage.start('caller', [traced, { role: 'client', connect: [middle.endpoint] }], normal);
      await Promise.all([middle.ask('servers.ready', 1, 'far'), caller.ask('servers.ready', 1)]);
      const onward: CallPlan = { to: { channel: 'far' } };
      const plan = { ...stage.toServers, payload: { act: 'relay', text: JSON.stringify(onward) } } as const;
      const { end, traceId, spanId, activeAfterwards } = await caller.ask('telemetry.callInSpan', 'checkout', plan);
      assert.ok(end.ok);
      assert.equal(activeAfterwards, spanId, 'behind the call the former context is back');
      const own = await ended(caller, 'request conformance.ask');
      const handled = await ended(middle, 'process conformance.ask');
      const passed = await ended(middle, 'request conformance.ask');
      const done = await ended(last, 'process conformance.ask');
      const all = [own, handled, passed, done];
      assert.deepEqual(all.map(({ kind }) => kind), ['CLIENT', 'SERVER', 'CLIENT', 'SERVER']); // prettier-ignore
      assert.deepEqual(all.map((span) => span.traceId), [traceId, traceId, traceId, traceId]); // prettier-ignore
      const parents = [spanId, own.spanId, handled.spanId, passed.spanId];
      assert.deepEqual(all.map(({ parentSpanId }) => parentSpanId), parents); // prettier-ignore
      assert.equal(new Set(all.map(({ attributes }) => attributes['zlink.flow_id'])).size, 1);
      for (const { attributes, isError } of all) {
        assert.deepEqual([attributes['zlink.outcome'], isError], ['succeeded', false]);
        assert.deepEqual(Object.keys(attributes).filter((name) => !name.startsWith('zlink.')), []); // prettier-ignore
      }
      // The handler, and what it does behind an await, run in its span; the next one does not.
      const journal = await middle.seen(1, 'ended');
      assert.deepEqual(journal.map(({ what, activeSpanId }) => [what, activeSpanId]), [['begun', handled.spanId], ['ended', handled.spanId]]); // prettier-ignore
      assert.ok((await caller.call(stage.toServers)).ok);
      const next = (await middle.seen(2, 'ended')).at(-1);
      assert.ok(next?.activeSpanId !== undefined && next.activeSpanId !== handled.spanId);
    },
  },
  {
    ids: ['TRACE-025'],
    title: 'a send and its handler are PRODUCER and CONSUMER; a failure has the status ERROR and the kind of its error',
    run: async (stage) => {
      const server = await stage.start('server', [traced, { role: 'server' }], normal);
      const client = await stage.start('client', [traced, { role: 'client', connect: [server.endpoint] }], normal);
      await client.ask('servers.ready', 1);
      assert.ok((await client.call({ ...stage.toServers, verb: 'send' })).ok);
      const [sent, handled] = [
        await ended(client, 'send conformance.note'),
        await ended(server, 'process conformance.note'),
      ];
      assert.deepEqual([sent.kind, handled.kind], ['PRODUCER', 'CONSUMER']);
      assert.deepEqual([handled.traceId, handled.parentSpanId], [sent.traceId, sent.spanId]);
      await client.refusal({ ...stage.toServers, payload: { act: 'refuse', text: 'Rejected' } }, 'Rejected');
      const [asked, failed] = [
        await ended(client, 'request conformance.ask'),
        await ended(server, 'process conformance.ask'),
      ];
      for (const { isError, attributes } of [asked, failed]) {
        assert.deepEqual([isError, attributes['error.type']], [true, 'Rejected']);
      }
    },
  },
  {
    ids: ['TRACE-010', 'TRACE-025', 'TRACE-023'],
    title: 'below normal there are no spans, but at errors the trace of the caller is handed on',
    run: async (stage) => {
      const last = await stage.start('last', [traced, { role: 'server', channel: 'far' }], normal);
      const far: PartPlan = { role: 'client', channel: 'far', connect: [last.endpointOf('far')] };
      const errors = { options: { diagnostics: { level: 'errors' } } } as const;
      const middle = await stage.start('middle', [traced, { role: 'server' }, far], errors);
      const caller = await stage.start('caller', [traced, { role: 'client', connect: [middle.endpoint] }], normal);
      await Promise.all([middle.ask('servers.ready', 1, 'far'), caller.ask('servers.ready', 1)]);
      const plan = {
        ...stage.toServers,
        payload: { act: 'relay', text: JSON.stringify({ to: { channel: 'far' } }) },
      } as const;
      const { end, traceId } = await caller.ask('telemetry.callInSpan', 'checkout', plan);
      assert.ok(end.ok);
      const own = await ended(caller, 'request conformance.ask');
      const done = await ended(last, 'process conformance.ask');
      assert.deepEqual([done.traceId, done.parentSpanId], [traceId, own.spanId]);
      await middle.ask('running.setLevel', 'off');
      const dark = await caller.ask('telemetry.callInSpan', 'checkout', plan);
      assert.ok(dark.end.ok);
      const spansOf = async (): Promise<readonly SpanFacts[]> => last.ask('telemetry.spans');
      await eventually(async () => (await spansOf()).length === 2, 'the handler has a span again');
      assert.notEqual((await spansOf()).at(-1)?.traceId, dark.traceId, 'a host at off breaks the trace');
      assert.deepEqual(await middle.ask('telemetry.spans'), []);
    },
  },
  {
    ids: ['TRACE-023'],
    title:
      'of what the application’s propagator writes a long tracestate and an invalid traceparent are left out; call and flow go on',
    run: async (stage) => {
      const server = await stage.start('server', [{ ...traced, propagator: {} }, { role: 'server' }], normal);
      const zeros = `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`;
      const [longest, tooLong] = ['x'.repeat(510), 'x'.repeat(598)].map((value) => `a=${value}`);
      const others: readonly (readonly [PropagatorPlan, whatArrives: 'all' | 'parent' | 'nothing'])[] = [
        [{ tracestate: longest! }, 'all'],
        [{ tracestate: tooLong! }, 'parent'],
        [{ traceparent: zeros, tracestate: 'a=b' }, 'nothing'],
        [{ traceparent: `${zeros.replaceAll('0', 'a')}-0`, tracestate: 'a=b' }, 'nothing'],
      ];
      for (const [at, [propagator, whatArrives]] of others.entries()) {
        const client: PartPlan = { role: 'client', connect: [server.endpoint] };
        const caller = await stage.start(`caller ${at}`, [{ ...traced, propagator }, client], normal);
        await caller.ask('servers.ready', 1);
        const before = (await server.ask('telemetry.carried')).length;
        await caller.reply(stage.toServers);
        const own = await ended(caller, 'request conformance.ask');
        const flowId = own.attributes['zlink.flow_id'];
        assert.ok(flowId !== undefined);
        const handled = await endedSpan(server, `of the handler of ${caller.name}`, (span) => span.attributes['zlink.flow_id'] === flowId); // prettier-ignore
        const traceparent = `00-${own.traceId}-${own.spanId}-01`;
        const carried = whatArrives === 'nothing' ? [] : [{ traceparent, tracestate: whatArrives === 'all' ? longest : '' }]; // prettier-ignore
        assert.deepEqual((await server.ask('telemetry.carried')).slice(before), carried);
        assert.equal(handled.parentSpanId, whatArrives === 'nothing' ? undefined : own.spanId);
        assert.equal(handled.traceId === own.traceId, whatArrives !== 'nothing');
      }
    },
  },
];

async function ended(host: HostHandle, name: string): Promise<SpanFacts> {
  return endedSpan(host, name, (span) => span.name === name);
}

async function endedSpan(host: HostHandle, what: string, check: (span: SpanFacts) => boolean): Promise<SpanFacts> {
  let found: SpanFacts | undefined;
  const isThere = async (): Promise<boolean> => (found = (await host.ask('telemetry.spans')).find(check)) !== undefined;
  await eventually(isThere, `${host.name} has a span ${what} that has ended`);
  return found!; // it is there
}
