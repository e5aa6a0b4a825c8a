/** Items of which there may be thousands, in a text for people. */

const SHOWN_COUNT = 3;

/** The first three items, and how many more there are. */
export function boundedList(items: readonly string[]): string {
  const more = items.length - SHOWN_COUNT;
  return [...items.slice(0, SHOWN_COUNT), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
