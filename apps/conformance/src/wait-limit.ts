/** Tells a hang from a success, also on a machine whose processes get no time for seconds. It is no claim about speed. */
export const waitLimitMs = 30_000;
