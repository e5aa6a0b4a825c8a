/**
 * A line of dispatches, linked through themselves.
 *
 * Owns order and membership: adding and removing anywhere is O(1) and allocates nothing.
 *
 * 1. A dispatch is in one list at most.
 */
import type { Dispatch } from './dispatch.ts';

export class DispatchList {
  #first: Dispatch | undefined = undefined;
  #last: Dispatch | undefined = undefined;

  get first(): Dispatch | undefined {
    return this.#first;
  }

  push(dispatch: Dispatch): void {
    const last = this.#last;
    dispatch.list = this;
    dispatch.previous = last;
    if (last === undefined) this.#first = dispatch;
    else last.next = dispatch;
    this.#last = dispatch;
  }

  /** Does nothing for a dispatch that is not in this list. */
  remove(dispatch: Dispatch): void {
    if (dispatch.list !== this) return;
    const { next, previous } = dispatch;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    dispatch.list = dispatch.next = dispatch.previous = undefined;
  }

  /** The dispatch of one request, looked for from the front; rare. */
  find(link: Dispatch['link'], correlation: number): Dispatch | undefined {
    for (let dispatch = this.#first; dispatch !== undefined; dispatch = dispatch.next) {
      // A send has no correlation: its 0 is none of a request's.
      if (dispatch.correlation === correlation && dispatch.link === link && dispatch.verb === 'request')
        return dispatch;
    }
    return undefined;
  }

  /** A copy, for work that changes the list. */
  toArray(): Dispatch[] {
    const all: Dispatch[] = [];
    for (let dispatch = this.#first; dispatch !== undefined; dispatch = dispatch.next) all.push(dispatch);
    return all;
  }
}
