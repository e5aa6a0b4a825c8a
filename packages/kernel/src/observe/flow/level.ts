/** How much is recorded of messages on their way (TRACE-010). */

/**
 * - `off`: nothing is read, made or forwarded
 * - `errors`: dispatch errors, back pressure and drops; flow ids are made and forwarded
 * - `normal`: every phase of every sampled message, and spans
 * - `detailed`: sizes and durations too
 */
export type DiagnosticsLevel = 'off' | 'errors' | 'normal' | 'detailed';

/** Each shows what those before it show. */
export const diagnosticsLevels = ['off', 'errors', 'normal', 'detailed'] as const satisfies readonly DiagnosticsLevel[];

export function isDiagnosticsLevel(value: unknown): value is DiagnosticsLevel {
  return (diagnosticsLevels as readonly unknown[]).includes(value); // may be any value
}
