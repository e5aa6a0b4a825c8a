/**
 * Which node dials which, and which process holds how many.
 *
 * Pure: no process, no socket.
 */
import type { NodeAddress } from './commands.ts';

/** `both`: every node is told of all others, as nodes with one list are; `once`: each pair is dialled from one side. */
export type Dialling = 'both' | 'once';

export function endpointsByRid(nodes: readonly NodeAddress[], dialling: Dialling): Record<string, readonly string[]> {
  return Object.fromEntries(
    nodes.map(({ rid }, index) => {
      const others = dialling === 'both' ? nodes.filter((node) => node.rid !== rid) : nodes.slice(index + 1);
      return [rid, others.map(({ endpoint }) => endpoint)];
    }),
  );
}

/** Nodes per process, as even as can be. */
export function shares(nodeCount: number, processCount: number): readonly number[] {
  return Array.from({ length: processCount }, (_, index) => {
    const before = Math.floor((nodeCount * index) / processCount);
    return Math.floor((nodeCount * (index + 1)) / processCount) - before;
  });
}

export function linkCount(nodeCount: number): number {
  return (nodeCount * (nodeCount - 1)) / 2;
}
