import { loopTurns } from '@zlink/testing';
import { type HostedService, HostedServices } from '../../src/lifecycle/index.ts';

const forever = new Promise<void>(() => undefined);

interface Behaviour {
  readonly start?: (signal: AbortSignal) => Promise<void>;
  readonly requestStop?: () => void | Promise<void>;
  readonly stop?: () => void | Promise<void>;
}

function arrange(...behaviours: readonly Behaviour[]) {
  const log: string[] = [];
  const failures: { error: unknown; where: string }[] = [];
  const starting: AbortSignal[] = [];
  const services = behaviours.map((behaviour, index): HostedService => {
    const name = 'abcdef'[index];
    return {
      async start(signal) {
        log.push(`start ${name}`);
        await behaviour.start?.(signal);
        log.push(`started ${name}`);
      },
      requestStop() {
        log.push(`request ${name}`);
        return behaviour.requestStop?.();
      },
      stop() {
        log.push(`stop ${name}`);
        return behaviour.stop?.();
      },
    };
  });
  const hosted = new HostedServices(services, {
    onStarting: (signal) => void starting.push(signal),
    onStopFailed: (error, where) => failures.push({ error, where }),
  });
  return { log, failures, starting, hosted };
}

const fail = (text: string) => (): never => {
  throw new Error(text);
};

/** What a host does with its services at its end, also when a start has failed. */
async function endAll(hosted: HostedServices): Promise<void> {
  await hosted.requestStop(deadline().signal);
  await hosted.stop(deadline().signal);
}

/** Aborts when the test says so, and knows who still listens. */
function deadline() {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>): void => {
    listeners.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
    listeners.delete(args[1]);
    remove(...args);
  };
  return { signal, pass: () => controller.abort(new Error('deadline')), listeners: () => listeners.size };
}

test('[SVC-001] services start one after another in order of registration', async () => {
  const { log, hosted } = arrange({ start: () => loopTurns(2) }, { start: () => loopTurns(1) }, {});
  await hosted.start(new AbortController().signal);
  expect(log).toEqual(['start a', 'started a', 'start b', 'started b', 'start c', 'started c']);
});

test('[SVC-001] they are asked to stop, then stopped, both in reverse and each awaited', async () => {
  const ended: string[] = [];
  const slow = (name: string) => async (): Promise<void> => {
    await loopTurns(1);
    ended.push(name);
  };
  const { log, hosted } = arrange(
    { requestStop: slow('request a'), stop: slow('stop a') },
    { requestStop: slow('request b'), stop: slow('stop b') },
  );
  await hosted.start(new AbortController().signal);
  log.length = 0;
  await hosted.requestStop(deadline().signal);
  expect(log).toEqual(['request b', 'request a']);
  expect(await hosted.stop(deadline().signal)).toEqual({ unfinished: 0 });
  expect(log.slice(2)).toEqual(['stop b', 'stop a']);
  expect(ended).toEqual(['request b', 'request a', 'stop b', 'stop a']);
});

test.each([
  ['throws', fail('no port')],
  ['rejects', async () => fail('no port')()],
])('[SVC-001] a start that %s fails with its cause; the started ones are then stopped in reverse', async (_, start) => {
  const { log, hosted } = arrange({}, {}, { start }, {});
  const error: unknown = await hosted.start(new AbortController().signal).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'InternalFailure', cause: { message: 'no port' } });
  expect(String(error)).toContain('hosted service 3');
  await endAll(hosted);
  expect(log).toEqual([
    'start a',
    'started a',
    'start b',
    'started b',
    'start c',
    'request b',
    'request a',
    'stop b',
    'stop a',
  ]);
  log.length = 0;
  await endAll(hosted);
  expect(log).toEqual([]); // exactly once
});

test('[SVC-001] a failing stop request or stop is told and does not keep the others from theirs', async () => {
  const { log, failures, hosted } = arrange(
    { requestStop: fail('request a'), stop: fail('stop a') },
    { stop: async () => fail('stop b')() },
    {},
  );
  await hosted.start(new AbortController().signal);
  log.length = 0;
  await hosted.requestStop(deadline().signal);
  expect(await hosted.stop(deadline().signal)).toEqual({ unfinished: 0 });
  expect(log).toEqual(['request c', 'request b', 'request a', 'stop c', 'stop b', 'stop a']);
  expect(failures.map(({ error, where }) => [(error as Error).message, where])).toEqual([
    ['request a', 'requestStop of hosted service 1 (object)'],
    ['stop b', 'stop of hosted service 2 (object)'],
    ['stop a', 'stop of hosted service 1 (object)'],
  ]);
});

test('[SVC-001] a stop that never ends is left behind at the deadline, and the others are still called', async () => {
  const { log, hosted } = arrange({}, { stop: () => forever }, { stop: () => forever });
  await hosted.start(new AbortController().signal);
  log.length = 0;
  const { signal, pass, listeners } = deadline();
  const stopping = hosted.stop(signal);
  await loopTurns(1);
  expect(log).toEqual(['stop c']);
  pass();
  expect(await stopping).toEqual({ unfinished: 2 });
  expect(log).toEqual(['stop c', 'stop b', 'stop a']);
  expect(listeners()).toBe(0);
});

test('[SVC-001] a stop that fails after the deadline is told all the same', async () => {
  let failLate: (error: Error) => void = () => undefined;
  const { failures, hosted } = arrange({ stop: () => new Promise<void>((_, reject) => (failLate = reject)) });
  await hosted.start(new AbortController().signal);
  const { signal, pass } = deadline();
  pass();
  expect(await hosted.stop(signal)).toEqual({ unfinished: 1 });
  failLate(new Error('late'));
  await loopTurns(1);
  expect(failures).toMatchObject([{ error: { message: 'late' } }]);
});

test('[SVC-001] a given up start rejects with the reason of its signal; what started later is stopped, too', async () => {
  let arrive: () => void = () => undefined;
  const { log, hosted } = arrange({}, { start: () => new Promise<void>((resolve) => (arrive = resolve)) }, {});
  const { signal, pass, listeners } = deadline();
  const starting = hosted.start(signal).catch((error: unknown) => error);
  await loopTurns(1);
  pass();
  expect(await starting).toMatchObject({ message: 'deadline' });
  await endAll(hosted);
  expect(log).toEqual(['start a', 'started a', 'start b', 'request a', 'stop a']);
  arrive(); // it starts after all: nobody else would stop it
  await loopTurns(2);
  expect(log.slice(5)).toEqual(['started b', 'stop b']);
  expect(listeners()).toBe(0);
});

test('[SVC-001] each service gets a signal of its own that follows the start’s, and none starts when it was aborted before', async () => {
  const signals: AbortSignal[] = [];
  const keep = async (signal: AbortSignal): Promise<void> => void signals.push(signal);
  const { log, starting, hosted } = arrange({ start: keep }, { start: keep });
  const { signal, pass } = deadline();
  await hosted.start(signal);
  expect(signals.map((own) => starting.indexOf(own))).toEqual([0, 1]);
  expect(signals.map((own) => own.aborted)).toEqual([false, false]);
  log.length = 0;
  pass();
  expect(signals.map((own): unknown => own.reason)).toEqual([signal.reason, signal.reason]);
  await expect(hosted.start(signal)).rejects.toThrow('deadline');
  expect(log).toEqual([]);
});

test('[SVC-001] a service needs no stop request', async () => {
  const log: string[] = [];
  const service: HostedService = { start: async () => undefined, stop: () => void log.push('stop') };
  const hosted = new HostedServices([service], { onStarting: () => undefined, onStopFailed: fail('nothing fails') });
  await hosted.start(new AbortController().signal);
  await hosted.requestStop(deadline().signal);
  await hosted.stop(deadline().signal);
  expect(log).toEqual(['stop']);
});
