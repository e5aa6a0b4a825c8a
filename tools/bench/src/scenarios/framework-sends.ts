/** `sendToChannel` on a ClientServer channel with JSON, counted at the handler. */
import { atLeast } from '../bar.ts';
import { contest } from './contest.ts';

export const frameworkSends = contest({
  name: 'framework-sends-64B',
  says: 'sendToChannel with JSON { id, name, body of 64 B }, each awaited, counted at the handler',
  sides: ['framework', 'zeromq.js', 'link', 'node:net'],
  cargo: { kind: 'json', bodyBytes: [64] },
  pattern: { kind: 'stream' },
  comparisons: [
    { subject: 'framework', reference: 'zeromq.js', bar: atLeast(12, 3.2) },
    { subject: 'framework', reference: 'link', bar: atLeast(0.8, 0.57) },
    { subject: 'framework', reference: 'node:net' },
  ],
});
