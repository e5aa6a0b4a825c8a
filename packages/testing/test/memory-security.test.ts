/** Links over memory prove who they are with the security that their engine was given. */
import { JobPermits } from '@zlink/kernel/internal/execution';
import { createLinkTransport } from '@zlink/kernel/internal/link';
import type { PipeSecurity } from '@zlink/kernel/internal/transport';
import {
  createFakeSecurity,
  createMemoryEngine,
  loopTurns,
  ManualClock,
  MemoryNetwork,
  seededRandom,
} from '../src/index.ts';
import { RigHost } from '../src/suites/transport/rig-host.ts';
import { clientServer } from '../src/suites/transport/shapes.ts';

const ignore = (): void => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const TURNS = 12;

const hosts: RigHost[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map(({ transport }) => transport.close()));
});

/** Hosts that reach each other, each with the security it is given. */
function hostMaker(): (rid: string, security: PipeSecurity) => RigHost {
  const clock = new ManualClock();
  const network = new MemoryNetwork({ clock });
  return (rid, security) => {
    const permits = new JobPermits({ max: 16, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
    const transport = createLinkTransport(createMemoryEngine(network, { security }), {
      clock,
      permits,
      logger: silent,
      budgetBytes: 1_048_576,
      maxWindowBytes: 1_048_576,
      random: seededRandom(1),
    });
    const host = new RigHost(clientServer, { rid }, permits, transport, 'tcp://node:0', rid);
    hosts.push(host);
    return host;
  };
}

test('[SEC-001] links over memory engines with security prove their keys, and a key that was not let in gets none', async () => {
  const makeHost = hostMaker();
  const server = makeHost('server', createFakeSecurity('server-key', 'server-key', new Set(['alice-key'])));
  const alice = makeHost('alice', createFakeSecurity('alice-key', 'server-key'));
  const bob = makeHost('bob', createFakeSecurity('bob-key', 'server-key'));
  const { endpoint } = await server.listen();
  const [letIn, keptOut] = [alice.dial(endpoint), bob.dial(endpoint)];
  await loopTurns(TURNS);
  expect(letIn.link?.peer).toMatchObject({ rid: 'server', securityIdentity: 'server-key' });
  const admitted = server.listenGroup.opened.map(({ peer }) => [peer.rid, peer.securityIdentity]);
  expect(admitted).toEqual([['alice', 'alice-key']]);
  expect(keptOut.link).toBeUndefined();
  expect(keptOut.reason).toContain('is none of those that were let in');
});

test('[SEC-001] a server over a memory engine whose key is not the pinned one gets no link', async () => {
  const makeHost = hostMaker();
  const impostor = makeHost('server', createFakeSecurity('other-key', 'other-key'));
  const alice = makeHost('alice', createFakeSecurity('alice-key', 'server-key'));
  const intent = alice.dial((await impostor.listen()).endpoint);
  await loopTurns(TURNS);
  expect(intent.link).toBeUndefined();
  expect(intent.reason).toContain('is not the pinned one');
});
