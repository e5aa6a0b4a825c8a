/** Numbers as people read them. */
const decimal = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const fraction = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export function count(value: number): string {
  return decimal.format(value);
}

/** Slow rates have a digit behind the point, so that one message in some seconds shows. */
export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return '-';
  if (perSecond > 0 && perSecond < 0.05) return '<0.1'; // it is not nothing
  return perSecond > 0 && perSecond < 10 ? fraction.format(perSecond) : decimal.format(perSecond);
}

export function bytes(value: number): string {
  if (value < 1_024) return `${count(value)} B`;
  let amount = value;
  for (const unit of ['KiB', 'MiB', 'GiB']) {
    amount /= 1_024;
    if (amount < 1_024)
      return `${(amount < 10 && !Number.isInteger(amount) ? fraction : decimal).format(amount)} ${unit}`;
  }
  return `${decimal.format(amount / 1_024)} TiB`;
}

export function byteRate(perSecond: number | undefined): string {
  return perSecond === undefined ? '-' : `${bytes(Math.ceil(perSecond))}/s`; // a few bytes are not nothing
}

/** Its two largest units. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

export function timeOfDay(date: Date): string {
  return date.toTimeString().slice(0, 8);
}
