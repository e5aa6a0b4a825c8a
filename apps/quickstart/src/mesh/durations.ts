/** Times that the nodes keep. */

/** How long a node takes to answer `Load`. */
export const loadMs = 100;
