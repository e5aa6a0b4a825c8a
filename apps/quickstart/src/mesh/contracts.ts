/** What the nodes of the mesh say to each other: declared once, typed on both sides. */
import { request } from '@zlink/framework';

export const MESH = 'game';

/** The channel that two nodes serve. */
export const MATCH = 'match';

/** Every answer says who gave it: the name of the process, which is new after a restart, and the RID, which is not. */
export interface Answer {
  readonly name: string;
  readonly rid: string;
}

/** To whichever node serves the channel. Answered at once. */
export const Join = request<{ readonly player: number }, Answer & { readonly player: number }>('match.join');

/** To one node by its RID. Takes the node a while: there is always one in hand when a node is killed. */
export const Load = request<object, Answer>('node.load');
