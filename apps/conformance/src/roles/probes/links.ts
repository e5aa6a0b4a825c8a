/** Loads that a plan cannot describe. */
import { createHost, request } from '@zlink/framework';
import { Note } from '../../contracts.ts';
import type { ProbeSite } from '../probes.ts';

/** Sends of one turn, every fiftieth large enough to travel on its own; resolves with their marks in order. */
export async function sendMixed({ host }: ProbeSite, channel: string, count: number): Promise<readonly string[]> {
  const marks = Array.from({ length: count }, (_, number) => `mixed-${number}`);
  const large = 'x'.repeat(40_000);
  await Promise.all(
    marks.map((mark, number) =>
      host.routeClient.sendToChannel(channel, Note({ mark, text: number % 50 === 0 ? large : '' })).submit(),
    ),
  );
  return marks;
}

/** Requests under so many packet names, in a host that calls itself. */
export async function manyNames(
  _site: ProbeSite,
  count: number,
): Promise<{ readonly answered: number; readonly wrong: number }> {
  const host = createHost({ testing: { allowSeveralHosts: true } });
  const channel = host.addClientServerChannel('names');
  channel.client();
  const server = channel.server();
  const packets = Array.from({ length: count }, (_, number) => request<number, number>(`packet-${number}`));
  for (const [number, packet] of packets.entries()) server.addRequestHandler(packet, () => number);
  await host.start();
  let wrong = 0;
  for (let round = 0; round < 2; round++) {
    const replies = await Promise.all(
      packets.map((packet, number) => host.routeClient.requestToChannel('names', packet(number)).submit()),
    );
    wrong += replies.filter((reply, number) => reply !== number).length;
  }
  await host.shutdown();
  return { answered: count, wrong };
}
