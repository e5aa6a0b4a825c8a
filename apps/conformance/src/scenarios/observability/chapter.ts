/** What hosts show of themselves: snapshots, events, metrics, records, flows and spans. */
import type { Chapter } from '../../scenario.ts';
import { dispatchErrors } from './dispatch-errors.ts';
import { events } from './events.ts';
import { flows } from './flows.ts';
import { metrics } from './metrics.ts';
import { observing } from './observing.ts';
import { records } from './records.ts';
import { snapshots } from './snapshots.ts';
import { spans } from './spans.ts';

export const observability: Chapter = {
  topic: 'observability',
  scenarios: [...snapshots, ...observing, ...events, ...metrics, ...records, ...dispatchErrors, ...flows, ...spans],
};
