/** Every scenario, in the order of a run. */
import type { Scenario } from '../scenario.ts';
import { codecs } from './codecs.ts';
import { diagnostics } from './diagnostics.ts';
import { diagnosticsOff } from './diagnostics-off.ts';
import { fanout } from './fanout.ts';
import { frameworkOverLink } from './framework-over-link.ts';
import { frameworkRequests } from './framework-requests.ts';
import { frameworkSends } from './framework-sends.ts';
import { frameworkSerial } from './framework-serial.ts';
import { linkLarge } from './link-large.ts';
import { linkMemory } from './link-memory.ts';
import { linkOneWay } from './link-one-way.ts';
import { linkRequests } from './link-requests.ts';
import { linkSerial } from './link-serial.ts';
import { meshRequests } from './mesh-requests.ts';
import { meshSelection } from './mesh-selection.ts';
import { meshSends } from './mesh-sends.ts';
import { metrics } from './metrics.ts';
import { selection } from './selection.ts';

export const catalogue: readonly Scenario[] = [
  ...linkOneWay,
  ...linkRequests,
  linkSerial,
  linkLarge,
  linkMemory,
  ...frameworkRequests,
  frameworkSends,
  frameworkSerial,
  ...frameworkOverLink,
  ...diagnostics,
  ...metrics,
  ...diagnosticsOff,
  selection,
  ...meshRequests,
  meshSends,
  meshSelection,
  ...fanout,
  ...codecs,
];
