/** Large payloads over a bare link: what copying would cost shows here. */
import { atLeast } from '../bar.ts';
import { contest } from './contest.ts';

const mebibyte = 1_048_576;
const megabyte = 1_000_000;

export const linkLarge = contest({
  name: 'link-large-1MiB',
  says: 'one-way payloads of 1 MiB over a link, counted at the receiver',
  sides: ['link', 'zeromq.js', 'node:net'],
  cargo: { kind: 'bytes', sizeBytes: mebibyte },
  pattern: { kind: 'stream' },
  unit: 'megabytesPerSecond',
  convert: (perSecond) => (perSecond * mebibyte) / megabyte,
  comparisons: [
    { subject: 'link', reference: 'zeromq.js', bar: atLeast(0.9, 0.6) },
    { subject: 'link', reference: 'node:net' },
  ],
});
