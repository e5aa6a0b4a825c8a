/**
 * The error of a host that was described wrongly.
 *
 * Owns the list of mistakes and its one text. Leaves collecting them to problems.ts. It never becomes an error reply
 * to a peer (ERR-005).
 *
 * 1. Every problem is in the list and in the message, not just the first (ERR-002).
 */

export class ConfigurationError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1 ? problems[0] : `${problems.length} problems${problems.map((p) => `\n- ${p}`).join('')}`,
    );
    this.problems = Object.freeze([...problems]);
  }
}

Object.defineProperty(ConfigurationError.prototype, 'name', {
  value: 'ConfigurationError',
  configurable: true,
  writable: true,
});
