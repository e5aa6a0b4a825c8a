/** A promise that rejects with whatever it is: an abort reason may be any value. */
export async function rejected(reason: unknown): Promise<never> {
  throw reason;
}
