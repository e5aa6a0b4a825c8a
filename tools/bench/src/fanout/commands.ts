/** What the coordinator of a fanout contest and its peers say to each other. A peer is a publisher or a subscriber. */
import type { CargoSpec } from '../cargo.ts';
import type { Commands } from '../peer-commands.ts';

export interface FanoutCommands extends Pick<Commands, 'arm' | 'counted' | 'stream' | 'close'> {
  openPublisher: {
    readonly args: { readonly side: string; readonly cargo: CargoSpec };
    readonly result: { readonly address: string };
  };
  openSubscriber: {
    readonly args: { readonly side: string; readonly cargo: CargoSpec; readonly address: string };
    readonly result: undefined;
  };
  /** Publisher: waits until so many have subscribed. */
  ready: { readonly args: { readonly subscriberCount: number }; readonly result: undefined };
}
