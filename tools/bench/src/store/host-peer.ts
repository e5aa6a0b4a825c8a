/** A process with hosts, seen from the coordinator. */
import { fileURLToPath } from 'node:url';
import { Peer } from '../peer.ts';
import type { HostCommands } from './host-commands.ts';

export type HostPeer = Peer<HostCommands>;

const entry = fileURLToPath(new URL('./host-main.js', import.meta.url));

export function startHostPeer(label: string): HostPeer {
  return new Peer<HostCommands>(label, entry);
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
