/**
 * Memory of a sender whose receiver stands still (SIGSTOP), relative to the window that the receiver granted.
 *
 * Growth is what the sender's program keeps alive after a full collection, heap and buffers outside of it, compared with
 * the moment before the stop. Drift is how much of that comes in the last two thirds of the stop: a sender that holds
 * back is done growing by then. The resident set is information: allocators keep what was freed.
 */
import { atMost } from '../bar.ts';
import { Duo } from '../duo.ts';
import type { Figures } from '../figures.ts';
import type { PeerSample } from '../peer-commands.ts';
import type { Conditions, Scenario } from '../scenario.ts';

const mebibyte = 1_048_576;
const warmUpCount = 20_000;
const sampleCount = 9;

interface Stall {
  readonly growthBytes: number;
  readonly driftBytes: number;
  readonly rssGrowthBytes: number;
}

export const linkMemory: Scenario = {
  name: 'link-memory',
  says: 'growth of a sender of 1 KiB messages while its receiver is stopped, against the granted window',
  unit: 'mebibytes',
  comparisons: [
    { subject: 'link growth', reference: 'window', bar: atMost(1.1) },
    { subject: 'link drift', reference: 'window', bar: atMost(0.05) },
    { subject: 'link rss', reference: 'window' },
    { subject: 'zeromq.js growth', reference: 'window' },
  ],
  measure,
};

async function measure({ stalls, stallMs }: Conditions): Promise<Figures> {
  const duos: Duo[] = [];
  const open = async (side: string): Promise<Duo> => {
    const duo = await Duo.open(side, { kind: 'bytes', sizeBytes: 1_024 }, { kind: 'stream' });
    duos.push(duo);
    await duo.stream(warmUpCount);
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
      const held = await stall(link, stallMs);
      note('window', windowBytes ?? NaN);
      note('link growth', held.growthBytes);
      note('link drift', held.driftBytes);
      note('link rss', held.rssGrowthBytes);
      note('zeromq.js growth', (await stall(zeromq, stallMs)).growthBytes);
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
  server.resume();
  await client.ask('rest', undefined);
  const held = samples.map(({ heldBytes }) => heldBytes);
  return {
    growthBytes: Math.max(...held) - before.heldBytes,
    driftBytes: Math.max(...held.slice(sampleCount / 3)) - held[sampleCount / 3 - 1]!,
    rssGrowthBytes: Math.max(...samples.map(({ rssBytes }) => rssBytes)) - before.rssBytes,
  };
}
