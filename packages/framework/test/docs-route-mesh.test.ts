/** The two programs of docs/route-mesh.md that run beside each other; docs.test.ts runs those that run alone. */
import { runProgram, writePrograms } from './doc-programs.ts';
import { freePort } from './ports.ts';

test('[NODE-001] [MESH-006] a node of docs/route-mesh.md that was stopped and started again is reached by its RID', async () => {
  const folder = writePrograms('route-mesh.md');
  const port = String(await freePort());
  const start = () => runProgram(folder, 'play.mjs', ['play-1', port]);
  const first = start();
  const [line, endpoint] = await first.printed(/^play-1 is process \d+ at (\S+)\n/);
  const lobby = runProgram(folder, 'lobby.mjs', ['play-1', endpoint ?? '']);
  await lobby.printed(new RegExp(`^${line.split(' at ')[0]}\n$`));
  first.stop();
  expect(await first.ended).toEqual({ code: 0, stdout: line });
  await lobby.printed(/\nplay-1: \w+\n/);
  const again = start();
  const [lineAgain] = await again.printed(/^play-1 is process \d+ at \S+\n/);
  await lobby.printed(new RegExp(`\n${lineAgain.split(' at ')[0]}\n$`));
  lobby.stop();
  again.stop();
  const { code, stdout } = await lobby.ended;
  expect(code).toBe(0);
  for (const said of stdout.split('\n').slice(1, -2)) expect(said).toMatch(/^play-1: (?:ShuttingDown|Unavailable)$/);
  expect(await again.ended).toMatchObject({ code: 0 });
}, 180_000);
