import { Child } from './child-process.ts';
import { quickest } from './promptness.ts';

const exitWithinMs = 2_000;
const childrenMs = 240_000; // each compiles its sources first

const children: Child[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
});

test.each(['open pipes', 'unreachable peer', 'unsent messages', 'listening just begun', 'publishing'])(
  '[CORE-011] [C25] after close with %s the process ends by itself',
  async (scene) => {
    const exit = async (): Promise<number> => {
      const child = new Child('exit.ts', scene);
      children.push(child);
      await child.line(/^closed$/);
      const closedAtMs = performance.now();
      const { code, atMs } = await child.exited;
      expect(code).toBe(0);
      expect(child.output).toBe('closed\n');
      return atMs - closedAtMs;
    };
    expect(await quickest(exitWithinMs, exit)).toBeLessThan(exitWithinMs);
  },
  childrenMs,
);
