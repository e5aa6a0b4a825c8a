/** The three processes of docs/tracing.md that are one trace. */
import { readDoc, type Run, runProgram, writePrograms } from '../doc-programs.ts';
import { freePort } from '../ports.ts';

const PAGE = 'tracing.md';
const PROGRAMS = ['shop.mjs', 'billing.mjs', 'ledger.mjs'] as const;

test('[TRACE-024] [TRACE-025] the spans of three processes print as the page says, and are one trace', async () => {
  const page = readDoc(PAGE);
  const pattern = /`grep -E '([^']+)'`/.exec(page)?.[1];
  if (pattern === undefined) throw new Error('the page does not say which lines it shows');
  const shown = PROGRAMS.map((program) => blockOf(page, program));
  expect(new Set(shown.flatMap((lines) => lines.filter((line) => line.startsWith('  traceId')))).size).toBe(1);

  const folder = writePrograms(PAGE);
  const ports = { LEDGER_PORT: String(await freePort()), BILLING_PORT: String(await freePort()) };
  const [shop, ...servers] = PROGRAMS.map((program) => runProgram(folder, program, [], ports)) as [Run, Run, Run];
  const ended = [await shop.ended];
  for (const server of servers) {
    await server.printed(/name: 'process /);
    server.stop();
    ended.push(await server.ended);
  }
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const printed = ended.map(({ stdout }) => stdout.split('\n').filter((line) => new RegExp(pattern).test(line)));
  expect(named(printed)).toEqual(named(shown));
}, 60_000);

function blockOf(page: string, program: string): string[] {
  const [, lines] = new RegExp(`^\`\`\`text\n# node ${program}\n([^]*?)^\`\`\`$`, 'm').exec(page) ?? [];
  if (lines === undefined) throw new Error(`the page does not show what ${program} prints`);
  return lines.trimEnd().split('\n');
}

/** Ids get names in the order in which they come: the same ones for the same graph. */
function named(outputs: readonly (readonly string[])[]): string[][] {
  const names = new Map<string, string>();
  const nameOf = (id: string): string => {
    const name = names.get(id) ?? `id ${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  return outputs.map((lines) => lines.map((line) => line.replace(/\b[0-9a-f]{16,32}\b/g, nameOf)));
}
