/** What the driver asks of the process that a host lives in. */
export class ProcessCommands {
  /** Nothing else runs in this process for so long. */
  block(ms: number): void {
    const endsAtMs = performance.now() + ms;
    while (performance.now() < endsAtMs);
  }

  memory(): { readonly rssBytes: number } {
    return { rssBytes: process.memoryUsage().rss };
  }
}
