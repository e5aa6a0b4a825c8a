/** Round trip of a single caller over a bare link. */
import { atMost } from '../bar.ts';
import { contest } from './contest.ts';

export const linkSerial = contest({
  name: 'link-serial-64B',
  says: 'median round trip of a request of 64 B over a link, one in flight',
  sides: ['link', 'zeromq.js', 'node:net'],
  cargo: { kind: 'bytes', sizeBytes: 64 },
  pattern: { kind: 'serial' },
  comparisons: [
    { subject: 'link', reference: 'zeromq.js', bar: atMost(1.1) },
    { subject: 'link', reference: 'node:net' },
  ],
});
