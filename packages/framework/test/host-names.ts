/** A host name of `length` bytes, in labels of at most 63. */
export function hostNameOf(length: number): string {
  const labels = 'a'
    .repeat(62)
    .concat('.')
    .repeat(Math.ceil(length / 63));
  return `${labels.slice(0, length - 1)}a`;
}
