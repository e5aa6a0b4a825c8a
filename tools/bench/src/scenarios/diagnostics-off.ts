/**
 * What diagnostics cost where they are switched off: the share of a message's processor time that goes into looking at the
 * level. There is no build without them to compare with.
 *
 * In this process, which holds both ends: the processor time of a message is that of both, in all threads. Handlers do
 * nothing and bodies are small, which makes the share of the looks as large as it gets.
 */
import { atMost } from '../bar.ts';
import { type Cargo, createCargo } from '../cargo.ts';
import type { Figures } from '../figures.ts';
import { costOf, countLooks, type LookFigures, timeLooks } from '../flow-looks.ts';
import { calls, stream } from '../load.ts';
import { Meter } from '../meter.ts';
import type { Conditions, Scenario } from '../scenario.ts';
import { frameworkAt } from '../sides/framework.ts';
import type { ClientEnd, Work } from '../sides/side.ts';

const callers = 100;
const minCount = 1_000;
const countedMessages = 10_000;

function looking(what: string, says: string, verb: Work['verb']): Scenario {
  return {
    name: `diagnostics-off-${what}`,
    says: `processor time per message of looking at the level at off, against all of it: ${says}`,
    unit: 'nanoseconds',
    comparisons: [{ subject: 'looks', reference: 'message', bar: atMost(0.02) }],
    measure: (conditions) => measure(verb, conditions),
  };
}

export const diagnosticsOff: readonly Scenario[] = [
  looking('requests', `requestToChannel, ${callers} in flight, with JSON { id, name, body of 64 B }`, 'request'),
  looking('sends', 'sendToChannel with the same', 'send'),
];

/** Carries so many messages from one end to the other. */
type Load = (count: number) => Promise<void>;

async function measure(verb: Work['verb'], conditions: Conditions): Promise<Figures> {
  const side = frameworkAt('off');
  const meter = new Meter(() => performance.now());
  const work: Work = { verb, cargo: createCargo({ kind: 'json', bodyBytes: [64] }) };
  const server = await side.openServer(work, meter.tick);
  try {
    const client = await side.openClient(work, server.address);
    try {
      const load = verb === 'send' ? sends(client, work.cargo, meter) : requests(client, work.cargo);
      return await measureLoad(load, conditions);
    } finally {
      await client.close();
    }
  } finally {
    await server.close();
  }
}

async function measureLoad(load: Load, { rounds, sliceMs, warmUpMs }: Conditions): Promise<Figures> {
  const warmNs = await warmUp(load, warmUpMs);
  const count = Math.max(minCount, Math.round((sliceMs * 1_000_000) / warmNs));
  const lookTimes: LookFigures[] = [];
  const message: number[] = [];
  for (let round = 0; round < rounds; round++) {
    lookTimes.push(timeLooks());
    message.push(await processorNs(load, count));
  }
  const uses = await countLooks(() => load(countedMessages)); // last: nothing is timed once the class was changed
  const looks = lookTimes.map((times) => costOf(uses, times) / countedMessages);
  return new Map([
    ['looks', looks],
    ['message', message],
  ]);
}

/** Runs until `warmUpMs` have passed, with ever larger numbers; the last one's processor time per message. */
async function warmUp(load: Load, warmUpMs: number): Promise<number> {
  timeLooks();
  const startedAtMs = performance.now();
  for (let count = minCount; ; count *= 2) {
    const warmNs = await processorNs(load, count);
    if (performance.now() - startedAtMs >= warmUpMs) return warmNs;
  }
}

/** Processor time per message, of all threads. */
async function processorNs(load: Load, count: number): Promise<number> {
  const before = process.cpuUsage();
  await load(count);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1_000) / count;
}

function requests(client: ClientEnd, cargo: Cargo): Load {
  return async (count) => void (await calls(client, cargo, { count, callers, alternate: false }));
}

/** Until the last one was handled. */
function sends(client: ClientEnd, cargo: Cargo, meter: Meter): Load {
  return async (count) => {
    meter.arm(count);
    await stream(client, cargo, count);
    await meter.finished();
  };
}
