/** For parts of a host that nobody looks at. */
import type { Monitor } from './monitoring-event.ts';

export const NO_MONITOR: Monitor = Object.freeze({ changed: () => undefined, tell: () => undefined });
