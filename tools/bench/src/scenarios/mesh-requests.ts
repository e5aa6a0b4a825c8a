/**
 * Requests over RouteMesh beside ClientServer, JSON, 100 in flight: to a channel, and to a node by its RID.
 *
 * Codec, calls, dispatch and link are the same in all three: the ratio shows what a mesh costs on top of them.
 */
import { atLeast } from '../bar.ts';
import type { Scenario } from '../scenario.ts';
import { contest } from './contest.ts';

function requests(size: string, bodyBytes: number): Scenario {
  return contest({
    name: `mesh-requests-${size}`,
    says: `requestToChannel and requestToNode over RouteMesh with JSON { id, name, body of ${size} }, 100 in flight`,
    sides: ['mesh', 'mesh node', 'framework'],
    cargo: { kind: 'json', bodyBytes: [bodyBytes] },
    pattern: { kind: 'calls', callers: 100 },
    comparisons: [
      { subject: 'mesh', reference: 'framework', bar: atLeast(0.95) },
      { subject: 'mesh node', reference: 'framework', bar: atLeast(0.95) },
    ],
  });
}

export const meshRequests: readonly Scenario[] = [requests('64B', 64), requests('1KiB', 1_024)];
