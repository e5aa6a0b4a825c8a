/**
 * Lines of text with tones, independent of any terminal.
 *
 * Owns that nothing but text reaches a line, and that a line fits. Leaves what it says to the panels.
 *
 * 1. Every text of a span went through `printable`; only `paint` adds control characters, and only its own.
 * 2. Cutting keeps tones: a painted line always ends as plain as it began.
 */
import { inspect } from 'node:util';
import { columnsOf, fit, printable } from './printable.ts';

/** What a text means; a terminal shows it as a colour. */
export type Tone = 'plain' | 'title' | 'dim' | 'good' | 'warning' | 'bad';

export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

export type Line = readonly Span[];

const STYLES = { title: 'bold', dim: 'gray', good: 'green', warning: 'yellow', bad: 'red' } as const;

/** Longer than any name can be; marks that take no column would otherwise have no bound. */
const SPAN_LENGTH = 512;

export function span(text: string, tone: Tone = 'plain'): Span {
  const bounded = text.length > SPAN_LENGTH ? `${text.slice(0, SPAN_LENGTH - 1)}…` : text;
  return { text: printable(bounded), tone }; // 1
}

function widthOf(line: Line): number {
  return line.reduce((sum, { text }) => sum + columnsOf(text), 0);
}

/** At most `columns` wide. */
export function cut(line: Line, columns: number): Line {
  if (widthOf(line) <= columns) return line;
  const kept: Span[] = [];
  let left = columns;
  for (const each of line) {
    const width = columnsOf(each.text);
    if (width < left) {
      kept.push(each);
      left -= width;
      continue;
    }
    // What follows does not fit, so that the cut has to show here.
    kept.push({ ...each, text: width > left ? fit(each.text, left) : fit(`${each.text} `, left) });
    break;
  }
  return kept;
}

/** At least `columns` wide. */
export function pad(line: Line, columns: number): Line {
  const missing = columns - widthOf(line);
  return missing > 0 ? [...line, { text: ' '.repeat(missing), tone: 'plain' }] : line;
}

export function paint(line: Line, isColoured: boolean): string {
  return line
    .map(({ text, tone }) => (isColoured && tone !== 'plain' && text !== '' ? inColour(text, tone) : text))
    .join('')
    .trimEnd();
}

function inColour(text: string, tone: keyof typeof STYLES): string {
  const [on, off] = inspect.colors[STYLES[tone]] ?? [0, 0];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

/** Cells below each other; the first column begins `indent` columns from the left. */
export function table(rows: readonly (readonly Cell[])[], indent: number): readonly Line[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach(({ spans }, at) => (widths[at] = Math.max(widths[at] ?? 0, widthOf(spans))));
  }
  return rows.map((row) => [
    { text: ' '.repeat(indent), tone: 'plain' as const },
    ...row.flatMap((cell, at) => [...aligned(cell, widths[at] ?? 0), { text: '  ', tone: 'plain' as const }]),
  ]);
}

export interface Cell {
  readonly spans: Line;
  readonly isNumber: boolean;
}

export const cell = (text: string, tone?: Tone): Cell => ({ spans: [span(text, tone)], isNumber: false });
export const numberCell = (text: string, tone?: Tone): Cell => ({ spans: [span(text, tone)], isNumber: true });

function aligned({ spans, isNumber }: Cell, columns: number): Line {
  const missing = { text: ' '.repeat(columns - widthOf(spans)), tone: 'plain' as const };
  return isNumber ? [missing, ...spans] : [...spans, missing];
}
