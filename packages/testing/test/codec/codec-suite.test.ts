/** The codec suite itself: JSON passes it, and it notices codecs that are broken. */
import { codecSuite, type CodecHarness, type SuiteRunner } from '../../src/index.ts';
import { boundedHarness, brokenCodecs } from './broken-codecs.ts';
import { jsonHarness } from './json-harness.ts';

codecSuite('JSON', jsonHarness());
codecSuite('JSON with a bound', boundedHarness);

interface Registered {
  readonly title: string;
  readonly run: () => Promise<void>;
}

/** What the suite registers at a runner that is none. */
function casesOf(harness: CodecHarness): readonly Registered[] {
  const cases: Registered[] = [];
  const runner: SuiteRunner = {
    describe: (_title, register) => register(),
    test: (title, run) => void cases.push({ title, run }),
  };
  codecSuite('cases', harness, runner);
  return cases;
}

async function failureOf({ run }: Registered): Promise<string> {
  try {
    await run();
    return 'none';
  } catch (error) {
    return (error as Error).name; // the suite throws nothing else
  }
}

test.each(brokenCodecs)('[CODEC-006] the suite catches a codec that $what', async (broken) => {
  const { caughtBy, harness, failsWith = 'AssertionError' } = broken;
  const found = casesOf(harness).filter(({ title }) => title.startsWith(caughtBy));
  expect(found).toHaveLength(1);
  expect(await failureOf(found[0]!)).toBe(failsWith);
});

test('[CODEC-006] a harness whose nested values and payloads differ is told which', async () => {
  const plain = jsonHarness();
  const payload = plain.nested.payload;
  const harness = { ...plain, nested: { ...plain.nested, payload: (levels: number) => payload(levels - 1) } };
  const [found] = casesOf(harness).filter(({ title }) => title.includes('down to the deepest level'));
  await expect(found?.run()).rejects.toThrow(/^nested\.payload\(512\) does not decode to nested\.value\(512\)/);
});

test('[CODEC-006] every case of the suite catches a codec', () => {
  const titles = casesOf(boundedHarness).map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  expect(titles.filter((title) => !brokenCodecs.some(({ caughtBy }) => title.startsWith(caughtBy)))).toEqual([]);
});

test('[CODEC-006] a harness without hooks gets the cases that need none', () => {
  const plain = jsonHarness();
  delete plain.payloadOfKey;
  const all = casesOf(boundedHarness).map(({ title }) => title);
  const some = casesOf(plain).map(({ title }) => title);
  expect(all.filter((title) => !some.includes(title)).map((title) => title.slice(0, 30))).toEqual([
    '[CODEC-006] [C24] a key that a',
    '[CODEC-006] a payload of the l',
  ]);
});
