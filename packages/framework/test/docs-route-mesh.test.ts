/** The two programs of docs/route-mesh.md that run beside each other; docs.test.ts runs those that run alone. */
import { quietPort } from '@zlink/testing/internal';
import { runProgram, writePrograms } from './doc-programs.ts';

test('[NODE-001] [MESH-006] a node of docs/route-mesh.md that was stopped and started again is reached by its RID', async () => {
  const folder = writePrograms('route-mesh.md');
  const port = String(await quietPort());
  const start = () => runProgram(folder, 'play.mjs', ['play-1', port]);
  const first = start();
  const [line, endpoint] = await first.printed(/^play-1 is process \d+ at (\S+)\n/);
  const lobby = runProgram(folder, 'lobby.mjs', ['play-1', endpoint ?? '']);
  const [said = ''] = line.split(' at ');
  await lobby.printed(new RegExp(`(?:^|\n)${said}\n$`)); // on a busy machine it may have had no answer before
  first.stop();
  expect(await first.ended).toEqual({ code: 0, stdout: line });
  await lobby.printed(new RegExp(`${said}\nplay-1: \\w+\n`));
  const again = start();
  const [lineAgain] = await again.printed(/^play-1 is process \d+ at \S+\n/);
  const [saidAgain = ''] = lineAgain.split(' at ');
  await lobby.printed(new RegExp(`\n${saidAgain}\n$`));
  lobby.stop();
  again.stop();
  const { code, stdout } = await lobby.ended;
  expect(code).toBe(0);
  const isFailure = (text: string): boolean => /^play-1: (?:ShuttingDown|Unavailable)$/.test(text);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.filter((text) => !isFailure(text))).toEqual([said, saidAgain]);
  expect(await again.ended).toMatchObject({ code: 0 });
}, 180_000);
