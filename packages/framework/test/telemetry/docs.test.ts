/** The three processes of docs/tracing.md that are one trace. */
import { quietPort } from '@zlink/testing/internal';
import { readDoc, type Run, runProgram, writePrograms } from '../doc-programs.ts';
import { isListening } from '../ports.ts';
import { eventually } from '../redis/eventually.ts';

const PAGE = 'tracing.md';
const LIMIT_MS = 120_000;
const PROGRAMS = ['shop.mjs', 'billing.mjs', 'ledger.mjs'] as const;

test(
  '[TRACE-024] [TRACE-025] the spans of three processes print as the page says, and are one trace',
  async () => {
    const page = readDoc(PAGE);
    const pattern = /`grep -E '([^']+)'`/.exec(page)?.[1];
    if (pattern === undefined) throw new Error('the page does not say which lines it shows');
    const shown = PROGRAMS.map((program) => blockOf(page, program));
    expect(new Set(shown.flatMap((lines) => lines.filter((line) => line.startsWith('  traceId')))).size).toBe(1);

    const folder = writePrograms(PAGE);
    const [ledgerPort, billingPort] = [await quietPort(), await quietPort()];
    const ports = { LEDGER_PORT: String(ledgerPort), BILLING_PORT: String(billingPort) };
    const start = (program: (typeof PROGRAMS)[number]): Run => runProgram(folder, program, [], ports);
    // One after the other: calls do not wait for a server as long as a busy machine may take to start one.
    const serve = async (program: (typeof PROGRAMS)[number], port: number): Promise<Run> => {
      const server = start(program);
      await eventually(() => isListening(port), `${program} listens`, LIMIT_MS);
      return server;
    };
    const ledger = await serve('ledger.mjs', ledgerPort);
    const billing = await serve('billing.mjs', billingPort);
    const ended = [await start('shop.mjs').ended];
    for (const server of [billing, ledger]) {
      await server.printed(/name: 'process /);
      server.stop();
      ended.push(await server.ended);
    }
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    const printed = ended.map(({ stdout }) => stdout.split('\n').filter((line) => new RegExp(pattern).test(line)));
    expect(named(printed)).toEqual(named(shown));
  },
  LIMIT_MS,
);

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
