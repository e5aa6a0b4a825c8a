/**
 * Where metrics and spans of a host go.
 *
 * Owns the check of what was given. Leaves what is used without it to `@zlink/telemetry`.
 */
import type { Problems } from '@zlink/kernel/errors';
import { checkOptionNames, isObject } from '@zlink/kernel/internal/options';
import type { TelemetryOptions } from '@zlink/telemetry';
import { checkMethods } from './option-kinds.ts';

const NAMES = ['meterProvider', 'tracerProvider', 'propagator'] as const satisfies readonly (keyof TelemetryOptions)[];

/** Complete whatever is wrong with it: then the start ends with the problems. */
export function resolveTelemetry(given: unknown, problems: Problems): TelemetryOptions {
  checkOptionNames('telemetry', given, NAMES, problems);
  const options: TelemetryOptions = isObject(given) ? given : {};
  const { meterProvider, tracerProvider, propagator } = options;
  const parts = ['inject', 'extract', 'fields'];
  checkMethods('telemetry.meterProvider', meterProvider, ['getMeter'], 'an object with getMeter', problems);
  checkMethods('telemetry.tracerProvider', tracerProvider, ['getTracer'], 'an object with getTracer', problems);
  checkMethods('telemetry.propagator', propagator, parts, 'an object with inject, extract and fields', problems);
  return options;
}
