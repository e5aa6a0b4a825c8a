/**
 * The matrix: in which settings a scenario runs.
 *
 * Owns dimensions, cells and which of them count. Leaves to scenarios which dimensions they depend on.
 *
 * 1. The first value of a dimension that a scenario names is its default; one that it does not name has one value.
 * 2. Without `full` at most one dimension differs from its default, those named by the filter not counted.
 */
import type { CodecKind } from './roles/plan.ts';

export type StoreKind = 'manual' | 'memory' | 'redis';
export type SecurityKind = 'plain' | 'curve';

export const stores: readonly StoreKind[] = ['manual', 'memory', 'redis'];
export const codecs: readonly CodecKind[] = ['json', 'protobuf', 'msgpack'];
export const securities: readonly SecurityKind[] = ['plain', 'curve'];

export interface Cell {
  readonly store: StoreKind;
  readonly codec: CodecKind;
  readonly security: SecurityKind;
}

type Dimension = keyof Cell;

/** Values of the dimensions that a scenario depends on, its default first. */
export interface Dimensions {
  readonly store?: readonly StoreKind[];
  readonly codec?: readonly CodecKind[];
  readonly security?: readonly SecurityKind[];
}

const base: Cell = { store: 'manual', codec: 'json', security: 'plain' };
const valuesOf = { store: stores, codec: codecs, security: securities } as const;
const dimensions: readonly Dimension[] = ['store', 'codec', 'security'];

/** Values that a cell must have one of, by dimension. */
export type CellFilter = { readonly [D in Dimension]?: ReadonlySet<string> };

/** @throws Error that names the value and what is allowed */
export function readFilter(text: string): CellFilter {
  const filter: Partial<Record<Dimension, Set<string>>> = {};
  for (const value of text.split(',').map((part) => part.trim())) {
    const dimension = dimensions.find((name) => (valuesOf[name] as readonly string[]).includes(value));
    if (dimension === undefined) {
      const allowed = dimensions.map((name) => valuesOf[name].join(', ')).join('; ');
      throw new Error(`--matrix: "${value}" is not allowed, allowed: ${allowed}`);
    }
    (filter[dimension] ??= new Set()).add(value);
  }
  return filter;
}

export function cellsOf(over: Dimensions, filter: CellFilter, full: boolean): readonly Cell[] {
  const lists = {
    store: over.store ?? [base.store],
    codec: over.codec ?? [base.codec],
    security: over.security ?? [base.security],
  };
  const all: Cell[] = lists.store.flatMap((store) =>
    lists.codec.flatMap((codec) => lists.security.map((security) => ({ store, codec, security }))),
  );
  return all.filter((cell) => {
    if (dimensions.some((name) => filter[name] !== undefined && !filter[name].has(cell[name]))) return false;
    const apart = dimensions.filter((name) => filter[name] === undefined && cell[name] !== lists[name][0]); // 1
    return full || apart.length <= 1; // 2
  });
}

/** What differs from manual endpoints, JSON and no keys; the name of a column. */
export function nameOf(cell: Cell): string {
  const apart = dimensions.filter((name) => cell[name] !== base[name]).map((name) => cell[name]);
  return apart.length === 0 ? 'manual' : apart.join('+');
}
