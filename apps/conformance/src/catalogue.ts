/** All scenarios, by topic. */
import type { Chapter } from './scenario.ts';
import { channels } from './scenarios/channels/chapter.ts';
import { foundation } from './scenarios/foundation/chapter.ts';
import { lifecycle } from './scenarios/lifecycle/chapter.ts';
import { location } from './scenarios/location/chapter.ts';
import { observability } from './scenarios/observability/chapter.ts';
import { transport } from './scenarios/transport/chapter.ts';

export const catalogue: readonly Chapter[] = [foundation, transport, channels, location, lifecycle, observability];
