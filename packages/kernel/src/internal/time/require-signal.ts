/** Which signals are taken from an application. */
import { describeValue, ZLinkError } from '../../errors/index.ts';

/**
 * A signal of another realm, or of a library, is one as well: it is told by what is used of it.
 *
 * @throws ZLinkError `InvalidOperation` for what is none
 */
export function requireSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined || isSignal(signal)) return;
  throw new ZLinkError('InvalidOperation', `signal: ${describeValue(signal)} is not allowed, allowed: an AbortSignal`);
}

function isSignal(value: Partial<AbortSignal> | null): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const { aborted, addEventListener, removeEventListener } = value;
    return (
      typeof aborted === 'boolean' &&
      typeof addEventListener === 'function' &&
      typeof removeEventListener === 'function'
    );
  } catch {
    return false; // a getter or proxy that throws
  }
}
