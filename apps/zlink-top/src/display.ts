/**
 * Where views go: the whole terminal, lines of text, or lines of JSON.
 *
 * Owns how each of them looks. Leaves when there is something to show to the run.
 */
import { render, type ViewModel } from './view/render.ts';
import { printableJson } from './view/printable.ts';
import { Screen, type ScreenParts } from './view/screen.ts';
import type { HostView } from './watch/host-watch.ts';
import { linksOf } from './watch/links.ts';
import { counterKey } from './watch/rates.ts';

export interface Display {
  /** One report of one host has come, or it has ended. */
  changed(view: HostView): void;
  /** A view of all is due. */
  show(model: ViewModel): void;
  /** Gives back what it took; `last` stays to be read, if there is one. */
  close(last?: ViewModel): void;
}

type Print = (text: string) => void;

/** `isColoured` only if the lines go to a terminal that wants it. */
export function lineDisplay(print: Print, columns: number, isColoured: boolean): Display {
  const show = (model: ViewModel): void =>
    print(`${render(model, { columns, rows: Infinity, isColoured }).join('\n')}\n\n`);
  return {
    changed: () => undefined,
    show,
    close: (last) => {
      if (last !== undefined) show(last);
    },
  };
}

/** The report as it came, and beside it where from and what has become of it per second. */
export function jsonDisplay(print: Print): Display {
  return {
    changed: (view) => print(`${printableJson(jsonOf(view))}\n`),
    show: () => undefined,
    close: () => undefined,
  };
}

function jsonOf(view: HostView): object {
  const { kind, path } = view;
  if (kind === 'failed') return { zlink: 1, kind, path, reason: view.reason };
  if (kind !== 'live') return { zlink: 1, kind, path };
  const { raw, report, rates } = view;
  if (rates === undefined) return { ...raw, path };
  const messages = report.counters.flatMap((row) => {
    const { owner, surface, meshName, verb } = row;
    const found = rates.messages.get(counterKey(row));
    return found === undefined ? [] : [{ owner, surface, meshName, verb, ...found }];
  });
  const links = [...linksOf(report)].flatMap(([key, { topology, name, endpoint, rid }]) => {
    const found = rates.links.get(key);
    return found === undefined ? [] : [{ topology, name, endpoint, rid, ...found }];
  });
  return { ...raw, path, rates: messages, linkRates: links, allLinkRates: rates.allLinks };
}

export function screenDisplay(parts: ScreenParts, isColoured: boolean): Display {
  const screen = new Screen(parts);
  return {
    changed: () => undefined,
    show: (model) => screen.draw(render(model, { ...screen.room, isColoured, hint: 'q ends' })),
    close: (last) => {
      screen.close();
      if (last === undefined) return;
      const { columns } = screen.room;
      lineDisplay((text) => parts.output.write(text), columns, isColoured).show(last);
    },
  };
}
