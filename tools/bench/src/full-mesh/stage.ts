/**
 * What one process of a full mesh does: holds some of its nodes, each a host of its own.
 *
 * Owns the hosts. Leaves who dials whom to the coordinator.
 */
import { createHost, type Host, request } from '@zlink/framework';
import { machineNowMs } from '../machine-clock.ts';
import { collectGarbage, countDescriptors, processorTime } from '../process-facts.ts';
import type { Performance } from '../question.ts';
import { quietLogger } from '../quiet-logger.ts';
import type { FullMeshCommands, RestSample } from './commands.ts';

type Commands = FullMeshCommands;

const meshName = 'bench';
const joinLimitMs = 50_000;
const ask = request<number, number>('ask');

export class FullMeshStage implements Performance<FullMeshCommands> {
  readonly #hosts: Host[] = [];

  async openNodes({ nodeCount }: Commands['openNodes']['args']): Promise<Commands['openNodes']['result']> {
    for (let index = 0; index < nodeCount; index++) this.#hosts.push(await startNode());
    const nodes = this.#hosts.map((host) => {
      const { routingId, endpoint } = host.routeMesh(meshName);
      return { rid: routingId, endpoint };
    });
    return { nodes };
  }

  async join({ endpointsByRid, readyCount }: Commands['join']['args']): Promise<Commands['join']['result']> {
    const limit = AbortSignal.timeout(joinLimitMs);
    for (const host of this.#hosts) {
      const { routingId, peers } = host.routeMesh(meshName);
      for (const endpoint of endpointsByRid[routingId] ?? []) peers.connect(endpoint);
    }
    await Promise.all(this.#hosts.map((host) => host.routeMesh(meshName).whenReady(readyCount, limit)));
    return { readyAtMs: machineNowMs() };
  }

  async askAll({ rids }: Commands['askAll']['args']): Promise<Commands['askAll']['result']> {
    let answeredCount = 0;
    for (const host of this.#hosts) {
      const { routingId } = host.routeMesh(meshName);
      for (const rid of rids) {
        if (rid === routingId) continue;
        const answer = await host.routeClient.requestToNode(meshName, rid, ask(answeredCount)).submit();
        if (answer !== answeredCount) throw new Error(`${rid} answered ${answer} instead of ${answeredCount}`);
        answeredCount++;
      }
    }
    return { answeredCount };
  }

  async sample(): Promise<RestSample> {
    await collectGarbage();
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rssBytes: rss, heldBytes: heapUsed + external, descriptorCount: countDescriptors() };
  }

  async processorTime(): Promise<Commands['processorTime']['result']> {
    return processorTime();
  }

  async close(): Promise<undefined> {
    await Promise.all(this.#hosts.map((host) => host.shutdown()));
    return undefined;
  }
}

async function startNode(): Promise<Host> {
  const host = createHost({ logger: quietLogger, testing: { allowSeveralHosts: true } });
  host.addRouteMesh(meshName).addRouteRequestHandler(ask, (asked) => asked);
  await host.start();
  return host;
}
