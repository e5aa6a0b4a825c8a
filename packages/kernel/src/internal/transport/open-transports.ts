/**
 * The process-wide list of what has not been closed, for leak checks after a test run.
 *
 * Owns one global set, shared by name with every other engine.
 */

/** Anything that must be closed; `name` shows in a leak report. */
interface OpenTransport {
  readonly name: string;
  close(): Promise<void>;
}

interface OpenTransportsGlobal {
  __zlinkOpenTransports?: Set<OpenTransport>;
}

export function noteOpen(transport: OpenTransport): void {
  // The global scope has no such property in its type: it is ours by name.
  const scope = globalThis as OpenTransportsGlobal;
  (scope.__zlinkOpenTransports ??= new Set()).add(transport);
}

export function noteClosed(transport: OpenTransport): void {
  (globalThis as OpenTransportsGlobal).__zlinkOpenTransports?.delete(transport);
}
