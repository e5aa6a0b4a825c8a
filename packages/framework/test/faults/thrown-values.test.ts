import { ZLinkError } from '../../src/index.ts';
import {
  CHANNEL,
  Echo,
  FAIL_AFTER,
  FAIL_BEFORE,
  FailCall,
  FailClassCall,
  FailClassNote,
  FailNote,
  type Failure,
} from '../fixtures/fault-packets.ts';
import { thrownValues, ways } from '../fixtures/fault-thrown-values.ts';
import type { ThrowingServer } from '../fixtures/fault-throwing-server.ts';
import { makeHost } from '../hosts.ts';
import { endChildren, startChild } from './fault-child.ts';

afterEach(endChildren);

const places: readonly Failure['place'][] = ['function', 'class', 'filter before', 'filter after'];

function* allFailures(): Generator<Failure, void, undefined> {
  for (const place of places) {
    for (const value of Object.keys(thrownValues)) for (const way of ways) yield { place, value, way };
  }
}

/** What tells a filter to fail, if one is to. */
function metadataOf(failure: Failure): Record<string, string> {
  if (failure.place === 'filter before') return { [FAIL_BEFORE]: JSON.stringify(failure) };
  return failure.place === 'filter after' ? { [FAIL_AFTER]: JSON.stringify(failure) } : {};
}

test('[DISP-004] [C11] whatever handlers and filters throw: callers get typed errors, the server runs on', async () => {
  const server = await startChild<ThrowingServer>('throwing-server');
  const host = makeHost();
  host
    .addClientServerChannel(CHANNEL)
    .client()
    .connect(await server.ask('serve'));
  await host.start();
  const { routeClient } = host;
  const failures = [...allFailures()];
  for (const failure of failures) {
    const isClass = failure.place === 'class';
    const entries = Object.entries(metadataOf(failure));
    const call = routeClient.requestToChannel(CHANNEL, (isClass ? FailClassCall : FailCall)(failure));
    const note = routeClient.sendToChannel(CHANNEL, (isClass ? FailClassNote : FailNote)(failure));
    for (const [key, value] of entries) {
      call.metadata(key, value);
      note.metadata(key, value);
    }
    await note.submit();
    const error: unknown = await call.submit().catch((thrown: unknown) => thrown);
    expect([failure, error]).toEqual([failure, expect.any(ZLinkError)]);
    expect([failure, error]).toEqual([failure, expect.objectContaining({ kind: 'InternalFailure', submitted: true })]);
    expect((error as ZLinkError).message).not.toMatch(/secret/);
    expect(await routeClient.requestToChannel(CHANNEL, Echo({ id: 7 })).submit()).toEqual({ id: 7 });
  }
  const { uncaught, unhandled, counters } = await server.ask('report');
  expect(uncaught).toBe(0);
  expect(unhandled).toBe(2 * failures.length);
  const [sends, requests] = counters;
  expect(sends).toMatchObject({ accepted: failures.length, failed: failures.length });
  expect(requests).toMatchObject({ accepted: 2 * failures.length, failed: failures.length, handled: failures.length });
}, 300_000);
