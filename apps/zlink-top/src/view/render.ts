/**
 * All hosts as text.
 *
 * Owns layout: hosts beside each other where there is room, below each other where there is not. Leaves what is shown of each to
 * its panel, and the terminal to the screen.
 *
 * 1. No line is wider than the columns, and there are no more lines than rows; what is missing is said.
 */
import type { HostView } from '../watch/host-watch.ts';
import { timeOfDay } from './figures.ts';
import { hostPanel } from './host-panel.ts';
import { cut, type Line, pad, paint, span } from './line.ts';

export interface ViewModel {
  readonly hosts: readonly HostView[];
  readonly intervalMs: number;
  readonly now: Date;
  /** By the clock that also says when reports came. */
  readonly nowMs: number;
}

export interface Room {
  /** Infinity: lines are as long as they are. */
  readonly columns: number;
  readonly rows: number;
  readonly isColoured: boolean;
  /** Shown at the top, for who can press a key. */
  readonly hint?: string;
}

/** What a panel needs before two stand beside each other. */
const PANEL_COLUMNS = 90;
const GAP = ' │ ';

export function render({ hosts, intervalMs, now, nowMs }: ViewModel, room: Room): readonly string[] {
  const title = [
    span('zlink-top', 'title'),
    span(
      `  ${timeOfDay(now)}  ${hosts.length === 1 ? '1 host' : `${hosts.length} hosts`}  every ${intervalMs / 1_000} s`,
    ),
    span(room.hint === undefined ? '' : `  ${room.hint}`, 'dim'),
  ];
  const panels = hosts.map((host) => hostPanel(host, { nowMs, intervalMs }));
  const lines = [title, [], ...layOut(panels, room.columns)];
  const shown =
    lines.length <= room.rows ? lines : [...lines.slice(0, Math.max(0, room.rows - 1)), more(lines, room.rows)];
  return shown.slice(0, room.rows).map((line) => paint(cut(line, room.columns), room.isColoured)); // 1
}

function more(lines: readonly Line[], rows: number): Line {
  return [span(`… ${lines.length - Math.max(0, rows - 1)} more lines`, 'dim')];
}

function layOut(panels: readonly (readonly Line[])[], columns: number): readonly Line[] {
  const abreast = Number.isFinite(columns)
    ? Math.max(1, Math.floor((columns + GAP.length) / (PANEL_COLUMNS + GAP.length)))
    : 1;
  const lines: Line[] = [];
  for (let at = 0; at < panels.length; at += abreast) {
    if (at > 0) lines.push([]);
    lines.push(...besideEachOther(panels.slice(at, at + abreast), columns));
  }
  return lines;
}

function besideEachOther(panels: readonly (readonly Line[])[], columns: number): readonly Line[] {
  const [only = []] = panels;
  if (panels.length === 1) return only;
  const width = Math.floor((columns - GAP.length * (panels.length - 1)) / panels.length);
  const height = Math.max(...panels.map((panel) => panel.length));
  return Array.from({ length: height }, (_, row) =>
    panels.flatMap((panel, at) => [...(at > 0 ? [span(GAP, 'dim')] : []), ...pad(cut(panel[row] ?? [], width), width)]),
  );
}
