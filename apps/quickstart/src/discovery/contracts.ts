/** What the hosts of the fleet say to each other: declared once, typed on both sides. */
import { request } from '@zlink/framework';

/** The mesh, and a channel of it. */
export const FLEET = 'fleet';
export const RIDE = 'ride';

/** A ClientServer channel. */
export const DEPOT = 'depot';

/** Every answer says which host gave it. */
export interface Answer {
  readonly id: number;
  readonly by: string;
}

/** Answered at once. */
export const Book = request<{ readonly id: number }, Answer>('ride.book');

/** Takes a host a while: there is always one in hand when a host is killed. */
export const Load = request<{ readonly id: number }, Answer>('depot.load');
