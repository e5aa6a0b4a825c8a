import { isZLinkError } from '../src/errors/index.ts';
import type { ZLinkError } from '../src/errors/index.ts';

/** The ZLinkError that `action` throws; anything else fails the test. */
export function thrownBy(action: () => unknown): ZLinkError {
  try {
    action();
  } catch (error) {
    if (isZLinkError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
