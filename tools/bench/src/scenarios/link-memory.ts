/**
 * Memory of a sender whose receiver stands still (SIGSTOP), relative to the window that the receiver granted.
 *
 * Growth is what the sender's program keeps alive after a full collection, heap and buffers outside of it, compared with
 * the moment before the stop. Drift is the slope over the last two thirds of the stop, times their length: a sender that
 * holds back is done growing by then.
 *
 * Information: the resident set, since allocators keep what was freed; and what the sender could submit during the stop,
 * since the buffers of the kernel hold some megabytes that are no memory of the process.
 */
import { atMost } from '../bar.ts';
import { Duo } from '../duo.ts';
import { type Figures, slope } from '../figures.ts';
import type { PeerSample } from '../peer-commands.ts';
import type { Conditions, Scenario } from '../scenario.ts';

const mebibyte = 1_048_576;
/** Long enough for heaps and allocators to find their size under this load. */
const minWarmUpMs = 1_000;
const sampleCount = 12;
const sizeBytes = 1_024;

interface Stall {
  readonly growthBytes: number;
  readonly driftBytes: number;
  readonly rssGrowthBytes: number;
  readonly acceptedBytes: number;
}

export const linkMemory: Scenario = {
  name: 'link-memory',
  says: 'growth of a sender of 1 KiB messages while its receiver is stopped, against the granted window',
  unit: 'mebibytes',
  comparisons: [
    { subject: 'link growth', reference: 'window', bar: atMost(1.1) },
    { subject: 'link drift', reference: 'window', bar: atMost(0.05) },
    { subject: 'link rss', reference: 'window' },
    { subject: 'link accepted', reference: 'window' },
    { subject: 'zeromq.js growth', reference: 'window' },
    { subject: 'zeromq.js accepted', reference: 'window' },
  ],
  measure,
};

async function measure({ stalls, stallMs, warmUpMs }: Conditions): Promise<Figures> {
  const duos: Duo[] = [];
  const open = async (side: string): Promise<Duo> => {
    const duo = await Duo.open(side, { kind: 'bytes', sizeBytes }, { kind: 'stream' });
    duos.push(duo);
    await duo.warmUp(Math.max(minWarmUpMs, warmUpMs));
    return duo;
  };
  const figures = new Map<string, number[]>();
  const note = (name: string, bytes: number): void => {
    figures.set(name, [...(figures.get(name) ?? []), bytes / mebibyte]);
  };
  try {
    const link = await open('link');
    const zeromq = await open('zeromq.js');
    const { windowBytes } = await link.server.ask('window', undefined);
    for (let round = 0; round < stalls; round++) {
      note('window', windowBytes ?? NaN);
      const ours = await stall(link, stallMs);
      note('link growth', ours.growthBytes);
      note('link drift', ours.driftBytes);
      note('link rss', ours.rssGrowthBytes);
      note('link accepted', ours.acceptedBytes);
      const theirs = await stall(zeromq, stallMs);
      note('zeromq.js growth', theirs.growthBytes);
      note('zeromq.js accepted', theirs.acceptedBytes);
    }
    return figures;
  } finally {
    for (const duo of duos) await duo.end();
  }
}

async function stall({ server, client }: Duo, stallMs: number): Promise<Stall> {
  const before = await client.ask('sample', undefined);
  server.stop();
  await client.ask('flood', undefined);
  const samples: PeerSample[] = [];
  for (let index = 0; index < sampleCount; index++) {
    await new Promise((resolve) => setTimeout(resolve, stallMs / sampleCount));
    samples.push(await client.ask('sample', undefined));
  }
  const { sentCount } = await client.ask('progress', undefined);
  server.resume();
  await client.ask('rest', undefined);
  const held = samples.map(({ heldBytes }) => heldBytes);
  return {
    growthBytes: Math.max(...held) - before.heldBytes,
    driftBytes: growthBySlope(held.slice(sampleCount / 3)),
    rssGrowthBytes: Math.max(...samples.map(({ rssBytes }) => rssBytes)) - before.rssBytes,
    acceptedBytes: sentCount * sizeBytes,
  };
}

function growthBySlope(values: readonly number[]): number {
  return slope(values.map((value, index) => ({ x: index, y: value }))) * (values.length - 1);
}
