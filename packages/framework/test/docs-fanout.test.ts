/** The two programs of docs/fanout.md that talk to each other, and its figures; docs.test.ts runs those that run alone. */
import { EVENT_BYTES, EVENT_FRAME_BYTES } from '@zlink/kernel/internal/wire';
import { quietPort } from '@zlink/testing/internal';
import { readDoc, runProgram, writePrograms } from './doc-programs.ts';

test('[FAN-001] [FAN-002] [C08] the publisher of docs/fanout.md loses nothing to two subscribers, whoever starts first', async () => {
  const [, printed = ''] = /each subscriber prints:\n\n```text\n([^]*?)```/.exec(readDoc('fanout.md')) ?? [];
  expect(printed).toMatch(/0 missed\n$/);
  const folder = writePrograms('fanout.md');
  for (const order of [
    ['subscriber.mjs', 'subscriber.mjs', 'publisher.mjs'],
    ['publisher.mjs', 'subscriber.mjs', 'subscriber.mjs'],
  ]) {
    const environment = { PORT: String(await quietPort()) };
    const runs = order.map((file) => ({ file, run: runProgram(folder, file, [], environment) }));
    for (const { file, run } of runs) {
      const stdout = file === 'subscriber.mjs' ? printed : '';
      expect({ file, ...(await run.ended) }).toEqual({ file, code: 0, stdout });
    }
  }
}, 180_000);

test('[FAN-002] docs/fanout.md agrees with the code about sizes', () => {
  const page = readDoc('fanout.md');
  expect(page).toMatch(new RegExp(`payload of an event +\\| ${EVENT_BYTES / 1_048_576} MiB`));
  expect(page).toMatch(new RegExp(`1,000 of at most ${EVENT_FRAME_BYTES / 1_024} KiB`));
});
