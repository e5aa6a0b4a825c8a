/**
 * What a process that loads a store does: opens one work after another.
 *
 * Owns the end that is open. Leaves the channel to the coordinator to `answering.ts`.
 */
import type { Performance } from '../question.ts';
import { drive, type LoadSample } from './drive.ts';
import { openEnd, type StoreEnd } from './ends.ts';
import type { LoadCommands } from './load-commands.ts';

export class LoadStage implements Performance<LoadCommands> {
  #end: StoreEnd | undefined;

  async open({ work, url }: LoadCommands['open']['args']): Promise<undefined> {
    await this.leave();
    this.#end = await openEnd(work, url);
    return undefined;
  }

  drive(plan: LoadCommands['drive']['args']): Promise<LoadSample> {
    const end = this.#end;
    if (end === undefined) return Promise.reject(new Error('nothing is open'));
    return drive(() => end.operation(), plan);
  }

  async leave(): Promise<undefined> {
    const end = this.#end;
    this.#end = undefined;
    await end?.close();
    return undefined;
  }

  close(): Promise<undefined> {
    return this.leave();
  }
}
