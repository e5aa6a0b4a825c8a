/** What a client sends: one line, `{"zlink":1,"intervalMs":1000}`, and nothing behind it. */
import { isIntervalMs, PROTOCOL } from './limits.ts';

export function requestLine(intervalMs: number): string {
  return `${JSON.stringify({ zlink: PROTOCOL, intervalMs })}\n`;
}

/** How often the client wants a report; undefined for anything that is no request. */
export function readRequest(line: string): number | undefined {
  try {
    const value = JSON.parse(line) as { readonly zlink?: unknown; readonly intervalMs?: unknown } | null; // may be anything
    return value?.zlink === PROTOCOL && isIntervalMs(value.intervalMs) ? value.intervalMs : undefined;
  } catch {
    return undefined;
  }
}
