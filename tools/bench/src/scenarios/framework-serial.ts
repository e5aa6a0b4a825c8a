/** Round trip of a single `requestToChannel`. */
import { atMost } from '../bar.ts';
import { contest } from './contest.ts';

export const frameworkSerial = contest({
  name: 'framework-serial-64B',
  says: 'median round trip of requestToChannel with JSON { id, name, body of 64 B }, one in flight',
  sides: ['framework', 'zeromq.js', 'node:net'],
  cargo: { kind: 'json', bodyBytes: [64] },
  pattern: { kind: 'serial' },
  comparisons: [
    { subject: 'framework', reference: 'zeromq.js', bar: atMost(1.2) },
    { subject: 'framework', reference: 'node:net' },
  ],
});
