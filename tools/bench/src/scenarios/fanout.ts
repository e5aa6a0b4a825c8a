/** One publisher and four subscribers with JSON, events counted at the handlers; and what a fifth one that stands still costs. */
import { atLeast, type Bar } from '../bar.ts';
import { Crowd, type CrowdPlan } from '../fanout/crowd.ts';
import type { Figures } from '../figures.ts';
import { interleave } from '../interleave.ts';
import type { Comparison, Conditions, Scenario } from '../scenario.ts';

const readers = 4;

/** What crowds reach that are measured in turn, by what they are called. */
function crowds(
  name: string,
  says: string,
  plans: Readonly<Record<string, CrowdPlan>>,
  comparisons: readonly Comparison[],
): Scenario {
  return {
    name,
    says,
    unit: 'perSecond',
    comparisons,
    isLong: true, // a crowd has five processes and more
    measure: (conditions) => measure(plans, conditions),
  };
}

async function measure(plans: Readonly<Record<string, CrowdPlan>>, conditions: Conditions): Promise<Figures> {
  const { rounds, sliceMs, warmUpMs } = conditions;
  const opened: { readonly name: string; readonly crowd: Crowd }[] = [];
  try {
    for (const [name, plan] of Object.entries(plans)) opened.push({ name, crowd: await Crowd.open(plan) });
    for (const { crowd } of opened) await crowd.warmUp(warmUpMs);
    const contestants = opened.map(({ name, crowd }) => ({ name, measure: () => crowd.measure(sliceMs) }));
    return await interleave(contestants, rounds);
  } finally {
    await Promise.all(opened.map(({ crowd }) => crowd.end()));
  }
}

function overZeromq(size: string, bodyBytes: number, bar: Bar): Scenario {
  const plan = { bodyBytes, readers, stopped: 0 };
  return crowds(
    `fanout-${size}`,
    `events to ${readers} subscribers with JSON { id, name, body of ${size} }, each publish awaited, counted at each handler`,
    { framework: { ...plan, side: 'framework' }, 'zeromq.js': { ...plan, side: 'zeromq.js' } },
    [{ subject: 'framework', reference: 'zeromq.js', bar }],
  );
}

function withOneStopped(size: string, bodyBytes: number): Scenario {
  const plan = { side: 'framework', bodyBytes, readers };
  return crowds(
    `fanout-stopped-${size}`,
    `the same to ${readers} subscribers beside one whose process stands still, against none`,
    { 'one stopped': { ...plan, stopped: 1 }, 'none stopped': { ...plan, stopped: 0 } },
    [{ subject: 'one stopped', reference: 'none stopped', bar: atLeast(0.9) }],
  );
}

export const fanout = [
  overZeromq('64B', 64, atLeast(15, 2.3)),
  overZeromq('1KiB', 1_024, atLeast(7, 1.8)),
  withOneStopped('64B', 64),
];
