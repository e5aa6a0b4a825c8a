import { report } from './seeds.ts';
import { ensure, play, type Stage, type Story, type Trace } from './simulation.ts';

/** Does one thing again and again. */
const playAlone = (act: (stage: Stage) => void | Promise<void>, check = (_stage: Stage): void => {}): Promise<Trace> =>
  play(5, 40, (stage): Story => ({
    act: () => act(stage),
    check: () => check(stage),
    state: () => `step ${stage.steps}`,
    end: async () => {},
  }));

test.each<[string, () => unknown]>([
  ['Math.random', () => Math.random()],
  ['Date.now', () => Date.now()],
  ['performance.now', () => performance.now()],
  ['setTimeout', () => setTimeout(() => {}, 1)],
  ['setInterval', () => setInterval(() => {}, 1)],
])('[LIVE-004] a simulation finds whoever asks the platform for time or chance: %s', async (name, ask) => {
  const before = ask.toString();
  const { violation } = await playAlone(() => {
    try {
      ask();
    } catch {
      // swallowed, as anybody's code might
    }
  });
  expect(violation).toContain(`asked for ${name}`);
  expect([ask.toString(), Math.random(), Date.now() > 0]).toEqual([before, expect.any(Number), true]); // all is as it was
});

test('[LIVE-004] turns of the event loop and new ids come from the seed', async () => {
  const playOnce = async (): Promise<readonly string[]> => {
    const trace = await playAlone((stage) => void setImmediate(() => stage.tell(crypto.randomUUID())));
    expect(trace.violation).toBeUndefined();
    return trace.log;
  };
  const log = await playOnce();
  expect(log.filter((line) => /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(line))).toHaveLength(40);
  expect(await playOnce()).toEqual(log);
});

test('[LIVE-004] what must hold is checked after each step and each timer; a violation is told with its seed and 30 lines', async () => {
  let checks = 0;
  const trace = await playAlone(
    (stage) => {
      stage.clock.setTimer(() => stage.tell('fired'), 5);
      return stage.pass(10);
    },
    (stage) => {
      checks++;
      ensure(stage.steps < 35, 'too many steps');
    },
  );
  expect([checks, trace.steps, trace.violation]).toEqual([69, 35, 'too many steps']);
  const lines = report(trace).split('\n');
  expect([lines[0], lines.at(-1), lines.length]).toEqual([
    'ZLINK_SEED=5 reproduces: too many steps',
    '1345 violated: too many steps',
    31,
  ]);
});
