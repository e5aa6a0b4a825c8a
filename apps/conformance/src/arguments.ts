/** The command line of the conformance run. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type CellFilter, codecs, readFilter, securities, stores } from './matrix.ts';
import { type Topic, topics } from './scenario.ts';

export interface RunOptions {
  readonly list: boolean;
  readonly full: boolean;
  readonly only: readonly string[];
  readonly topics: readonly Topic[];
  readonly filter: CellFilter;
  readonly against: string | undefined;
  readonly out: string;
  readonly lanes: number;
}

export const usage = `usage: npm run conformance -- [options]
  --list             what would be run, and nothing else
  --only ID          scenarios of a requirement id, or of all that begin so (WRR, CS-00); may be repeated, or a list: WRR,CS-008
  --topic NAME       scenarios of a topic; may be repeated, or a list. With --only: those that are both
                     topics: ${topics.join(', ')}
  --matrix VALUES    settings to run in, such as redis,json,plain
                     stores: ${stores.join(', ')}; codecs: ${codecs.join(', ')}; security: ${securities.join(', ')}
  --full             every combination of settings, and a new process for each host
  --against ENDPOINT scenarios that need a peer only, against the one that serves there (tcp://host:port)
  --out DIR          where report.json and junit.xml go; default .cache/conformance
  --jobs N           scenarios at once, 1..32; default: two per processor
  --help             this text`;

/** @throws Error that names the option and what it may be */
export function readArguments(args: readonly string[]): RunOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      topic: { type: 'string', multiple: true, default: [] },
      matrix: { type: 'string' },
      full: { type: 'boolean', default: false },
      against: { type: 'string' },
      out: { type: 'string', default: '.cache/conformance' },
      jobs: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { list, full, against, out } = values;
  if (against !== undefined && !/^tcp:\/\/.+:\d{1,5}$/.test(against)) {
    throw new Error(`--against: "${against}" is not allowed, allowed: tcp://host:port`);
  }
  if (out.trim() === '') throw new Error('--out: "" is not allowed, allowed: a folder');
  return {
    list,
    full,
    only: idsOf(values.only),
    topics: topicsOf(values.topic),
    filter: values.matrix === undefined ? {} : readFilter(values.matrix),
    against,
    out,
    lanes: values.jobs === undefined ? 2 * availableParallelism() : jobsOf(values.jobs),
  };
}

function listed(given: readonly string[]): readonly string[] {
  return given.flatMap((text) => text.split(',')).map((item) => item.trim());
}

function idsOf(given: readonly string[]): readonly string[] {
  const ids = listed(given).map((id) => id.toUpperCase());
  if (ids.includes('')) throw new Error('--only: "" is not allowed, allowed: requirement ids or how they begin');
  return ids;
}

function topicsOf(given: readonly string[]): readonly Topic[] {
  return listed(given).map((name) => {
    const topic = topics.find((known) => known === name.toLowerCase());
    if (topic === undefined) throw new Error(`--topic: "${name}" is not allowed, allowed: ${topics.join(', ')}`);
    return topic;
  });
}

function jobsOf(text: string): number {
  const jobs = text.trim() === '' ? NaN : Number(text);
  if (Number.isInteger(jobs) && jobs >= 1 && jobs <= 32) return jobs;
  throw new Error(`--jobs: "${text}" is not allowed, allowed: integer 1..32`);
}
