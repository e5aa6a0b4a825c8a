/**
 * Looks at the diagnostics level: what a message asks of `MessageFlow` on its way, and what asking takes at `off`.
 *
 * Owns counting and timing. Leaves to the scenario which messages are counted.
 *
 * 1. The level is private to that class: who counts the uses of its members has counted every look.
 * 2. A member that is used and not timed here ends the run; it must not pass for free.
 * 3. One loop times all of them, so that each is a call, on several flows in turn: in a running host a look is compiled into
 *    the function around it and takes less.
 * 4. After counting the class is what it was before. What it takes is timed before, not on a class that was changed.
 */
import { systemClock } from '@zlink/kernel/internal/time';
import { MessageFlow, RateLimitedLog } from '@zlink/kernel/observe';
import { quietLogger } from './quiet-logger.ts';

interface Look {
  readonly ask: (flow: MessageFlow) => unknown;
  /** At `off`. */
  readonly answer: unknown;
}

const looks: ReadonlyMap<string, Look> = new Map<keyof MessageFlow, Look>([
  ['isOff', { ask: (flow) => flow.isOff, answer: true }],
  ['isFollowing', { ask: (flow) => flow.isFollowing, answer: false }],
  ['isDetailed', { ask: (flow) => flow.isDetailed, answer: false }],
  ['tellsSizes', { ask: (flow) => flow.tellsSizes, answer: false }],
  ['tracer', { ask: (flow) => flow.tracer, answer: undefined }],
  ['join', { ask: (flow) => flow.join(undefined, undefined), answer: undefined }],
  ['records', { ask: (flow) => flow.records(undefined), answer: false }],
]);

/** A number for each member that was used, or timed. */
export type LookFigures = ReadonlyMap<string, number>;

const looksPerBatch = 50_000;
/** The best of them counts: a batch takes a tenth of a millisecond, and any interruption would multiply that. */
const batches = 20;
const flowCount = 16;

/** Nanoseconds of one look, by member. */
export function timeLooks(): LookFigures {
  const flows = Array.from({ length: flowCount }, createFlow);
  const best = new Map<string, number>();
  for (let batch = 0; batch < batches; batch++) {
    for (const [name, look] of looks) best.set(name, Math.min(best.get(name) ?? Infinity, timeBatch(look, flows))); // 3
  }
  return best;
}

/** How often each member was used while `act` ran. */
export async function countLooks(act: () => Promise<void>): Promise<LookFigures> {
  const counts = new Map<string, number>();
  const members = Object.entries(Object.getOwnPropertyDescriptors(MessageFlow.prototype));
  const replaceable = members.filter(([name]) => name !== 'constructor');
  for (const [name, member] of replaceable) {
    const count = (): unknown => counts.set(name, (counts.get(name) ?? 0) + 1);
    Object.defineProperty(MessageFlow.prototype, name, counting(member, count));
  }
  try {
    await act();
  } finally {
    for (const [name, member] of replaceable) Object.defineProperty(MessageFlow.prototype, name, member); // 4
  }
  return counts;
}

/** @throws if one was used that has no time (2), or none at all */
export function costOf(counts: LookFigures, times: LookFigures): number {
  if (counts.size === 0) throw new Error('nobody looked at the level');
  let costNs = 0;
  for (const [name, count] of counts) {
    const timeNs = times.get(name);
    if (timeNs === undefined) throw new Error(`"${name}" is used at off and not timed`);
    costNs += count * timeNs;
  }
  return costNs;
}

function createFlow(): MessageFlow {
  const log = new RateLimitedLog(quietLogger, systemClock);
  return new MessageFlow({ clock: systemClock, logger: quietLogger, log, level: 'off' });
}

/** Checks each answer, so that none can be left out. */
function timeBatch({ ask, answer }: Look, flows: readonly MessageFlow[]): number {
  const startedAtMs = performance.now();
  for (let index = 0; index < looksPerBatch; index++) {
    if (ask(flows[index % flowCount]!) !== answer) throw new Error('a look has another answer than at off');
  }
  return ((performance.now() - startedAtMs) * 1_000_000) / looksPerBatch;
}

type Callable = (this: MessageFlow, ...args: unknown[]) => unknown;

/** The same member, which counts each use; what a member uses of the others counts, too. */
function counting(member: PropertyDescriptor, count: () => void): PropertyDescriptor {
  const counted = (original: Callable): Callable =>
    function (...args) {
      count();
      return original.apply(this, args);
    };
  const parts = Object.entries<unknown>({ ...member }); // functions are the value of a method, get and set of an accessor
  return Object.fromEntries(
    parts.map(([part, value]) => [part, typeof value === 'function' ? counted(value as Callable) : value]),
  );
}
