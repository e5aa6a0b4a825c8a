/** For `node --import skewed-clock.js?ms=N`: the wall clock of the process is wrong by so much, the monotonic one is right. */
const TrueDate = Date;
const skewMs = Number(new URL(import.meta.url).searchParams.get('ms'));

globalThis.Date = class extends TrueDate {
  static override now(): number {
    return TrueDate.now() + skewMs;
  }

  constructor(...given: readonly []) {
    super(...((given.length === 0 ? [TrueDate.now() + skewMs] : given) as readonly [number])); // whatever Date takes
  }
} as DateConstructor;
