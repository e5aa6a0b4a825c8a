/** One-way messages over RouteMesh beside ClientServer, JSON, counted at the handler. */
import { atLeast } from '../bar.ts';
import { contest } from './contest.ts';

export const meshSends = contest({
  name: 'mesh-sends-64B',
  says: 'sendToChannel and sendToNode over RouteMesh with JSON { id, name, body of 64 B }, each awaited',
  sides: ['mesh', 'mesh node', 'framework'],
  cargo: { kind: 'json', bodyBytes: [64] },
  pattern: { kind: 'stream' },
  comparisons: [
    { subject: 'mesh', reference: 'framework', bar: atLeast(0.95) },
    { subject: 'mesh node', reference: 'framework', bar: atLeast(0.95) },
  ],
});
