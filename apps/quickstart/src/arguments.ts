/** The demo's command line. */
import { parseArgs } from 'node:util';

export interface DemoOptions {
  /** How long calls go on, in the first two acts together. */
  readonly seconds: number;
  /** Port of the first server, and later of the first node; the others follow. 0: any free ones. */
  readonly port: number;
}

export const usage = `usage: npm run demo -- [--seconds N] [--port N]
  --seconds N   how long calls go on in the first two acts together, 3..50; default 20
  --port N      first of the three ports of servers, and then of nodes, 1..65533; default: any free ports
the third act has its own time and takes free ports: its hosts find each other`;

/** @throws Error that names the argument and what it may be */
export function readArguments(args: readonly string[]): DemoOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '20' },
      port: { type: 'string', default: '0' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  return { seconds: numberOf('seconds', values.seconds, 3, 50), port: numberOf('port', values.port, 0, 65_533) };
}

function numberOf(name: string, text: string, min: number, max: number): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`--${name}: "${text}" is not allowed, allowed: integer ${min}..${max}`);
}
