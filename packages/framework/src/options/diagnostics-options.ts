/**
 * How much a host records of its messages: what applications give, and what may be set while it runs.
 *
 * Owns names and ranges. Leaves what a level means to the kernel's message flow.
 */
import { describeValue, type Problems, ZLinkError } from '@zlink/kernel/errors';
import { checkOptionNames, isObject } from '@zlink/kernel/internal/options';
import { type DiagnosticsLevel, diagnosticsLevels, isDiagnosticsLevel } from '@zlink/kernel/observe';
import { checkFlag } from './option-kinds.ts';

export interface DiagnosticsOptions {
  /**
   * `off`: nothing is recorded, and flow ids are neither made nor forwarded. `errors`: dispatch errors, back pressure and drops.
   * `normal`: every phase of every sampled message, and spans. `detailed`: durations and sizes, too. Default `errors`; at run
   * time `diagnosticsLevel` of the host changes it.
   *
   * @see TRACE-010
   */
  readonly level?: DiagnosticsLevel;
  /** Share of flows whose phases are recorded, 0..1; default 1. Hosts with the same rate record the same flows. @see TRACE-011 */
  readonly sampleRate?: number;
  /** Whether `detailed` tells the size of messages; default false. */
  readonly includeMessageSizes?: boolean;
}

const NAMES = ['level', 'sampleRate', 'includeMessageSizes'] as const;
const LEVELS = diagnosticsLevels.join(', ');
const DEFAULT_LEVEL: DiagnosticsLevel = 'errors';

/** Complete whatever is wrong with it: then the start ends with the problems. */
export function resolveDiagnostics(given: unknown, problems: Problems): Required<DiagnosticsOptions> {
  checkOptionNames('diagnostics', given, NAMES, problems);
  const options: DiagnosticsOptions = isObject(given) ? given : {};
  const { level = DEFAULT_LEVEL, sampleRate = 1, includeMessageSizes = false } = options;
  if (!isDiagnosticsLevel(level)) problems.add('diagnostics.level', level, LEVELS);
  // Plain JavaScript may give a text, which compares like a number.
  if (typeof sampleRate !== 'number' || !(sampleRate >= 0 && sampleRate <= 1)) {
    problems.add('diagnostics.sampleRate', sampleRate, '0..1');
  }
  checkFlag('diagnostics.includeMessageSizes', includeMessageSizes, problems);
  return Object.freeze({ level, sampleRate, includeMessageSizes });
}

/** The level before a start; whether it is right is found by the start. */
export function describedLevel(options: { readonly diagnostics?: DiagnosticsOptions }): DiagnosticsLevel {
  const diagnostics: unknown = isObject(options) ? options.diagnostics : undefined;
  return (isObject(diagnostics) ? (diagnostics as DiagnosticsOptions).level : undefined) ?? DEFAULT_LEVEL;
}

/** @throws ZLinkError `InvalidOperation` for what is no level, set while the host runs */
export function requireLevel(value: unknown): asserts value is DiagnosticsLevel {
  if (isDiagnosticsLevel(value)) return;
  const text = `diagnosticsLevel: ${describeValue(value)} is not allowed, allowed: ${LEVELS}`;
  throw new ZLinkError('InvalidOperation', text);
}
