export type { MeteredHost } from './metrics/host-readings.ts';
export { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.ts';
