/** Numbers as the demo writes them. */

/** 12345.6 as `12,346`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** At most three digits that matter. */
export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
}

/** 0 or more, in the unit that suits it. */
export function span(elapsedMs: number): string {
  return elapsedMs < 999.5 ? `${count(elapsedMs)} ms` : seconds(elapsedMs);
}

export function seconds(elapsedMs: number): string {
  return `${(elapsedMs / 1_000).toFixed(1)} s`;
}
