/** What a host is shown by; the program that shows it is `zlink-top`. */
export { type Inspector, inspector } from './inspector/inspector.ts';
export type { InspectorOptions } from './inspector/inspector-options.ts';
export type { Inspectable } from './inspector/report-source.ts';
