export { createLinkTransport, type LinkTransportSettings } from './link-transport.ts';
export type { LivenessTimes } from './liveness.ts';
