/**
 * Text from other processes, made fit for a terminal.
 *
 * Owns what may be printed and how wide it is. Leaves layout to the panels.
 *
 * 1. No control character gets through, neither C0 nor C1 (a terminal takes U+009B for an escape), nor what turns the direction
 *    of a line or hides in it, nor half a surrogate pair: each becomes a visible `·`.
 * 2. Width is counted in columns: two for wide characters, none for marks that join the character before.
 */

const DANGEROUS = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
const INVISIBLE = /^[\p{Mn}\p{Me}]$/u;
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}])$/u;

export function printable(text: string): string {
  return text.replace(DANGEROUS, '·');
}

export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += columnsOfOne(character);
  return columns;
}

/** What of a printable text fits into `columns`; cut text ends in `…`. */
export function fit(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < 1) return '';
  let kept = '';
  let left = columns - 1;
  for (const character of text) {
    left -= columnsOfOne(character);
    if (left < 0) break;
    kept += character;
  }
  return `${kept}…`;
}

function columnsOfOne(character: string): number {
  if (character < '\u0300') return 1;
  if (INVISIBLE.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** JSON for a terminal or a file: what is dangerous to print is escaped, the value stays the same (1). */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(DANGEROUS, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
