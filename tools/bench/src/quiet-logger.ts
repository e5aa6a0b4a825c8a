/** Errors alone: where many hosts come and go at once, lost and refused connections are what is measured. */
import type { Logger } from '@zlink/framework';

export const quietLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (record) => console.error(record),
};
