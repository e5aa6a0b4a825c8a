/**
 * The states of a host and the only ways between them.
 *
 * Owns the table (HOST-007). Leaves what happens in a state to the host.
 */

/**
 * - `configuring`: being described; nothing runs
 * - `starting`: validating, binding, starting hosted services
 * - `serving`: accepts application messages
 * - `relocating`: moves its stateful objects away; no target of new selections
 * - `relocated`: has nothing stateful left; links and listeners stay
 * - `draining`: accepts nothing new, ends what it accepted
 * - `stopped`: everything is released
 * - `error`: start failed or something fatal happened
 */
export type HostState =
  'configuring' | 'starting' | 'serving' | 'relocating' | 'relocated' | 'draining' | 'stopped' | 'error';

export const hostTransitions: Readonly<Record<HostState, readonly HostState[]>> = Object.freeze({
  configuring: Object.freeze(['starting'] as const),
  starting: Object.freeze(['serving', 'error', 'draining'] as const),
  serving: Object.freeze(['relocating', 'draining', 'error'] as const),
  relocating: Object.freeze(['serving', 'relocated', 'draining'] as const),
  relocated: Object.freeze(['draining'] as const),
  draining: Object.freeze(['stopped'] as const),
  stopped: Object.freeze([] as const),
  error: Object.freeze(['draining'] as const),
});

export function mayBecome(from: HostState, to: HostState): boolean {
  return hostTransitions[from].includes(to);
}
