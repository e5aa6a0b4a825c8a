export type { HostParts, ListenerStatus, Topic, ValidationContext } from './host-parts.ts';
