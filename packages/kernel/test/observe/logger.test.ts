import { loopTurns, ManualClock } from '@zlink/testing';
import { ZLinkError } from '../../src/errors/index.ts';
import { guardLogger, type Logger, stderrLogger } from '../../src/observe/index.ts';
import { createStderrLogger } from '../../src/observe/logger.ts';

function arrange() {
  const lines: string[] = [];
  const logger = createStderrLogger({ date: () => new Date(0), write: (line) => lines.push(line) });
  const written = (): Record<string, unknown>[] => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { lines, logger, written };
}

const throwing = {
  get broken(): never {
    throw new Error('getter');
  },
  fine: 'text',
};

test('[C11] the default logger writes warnings and errors as JSON lines, nothing else', () => {
  const { logger, written } = arrange();
  logger.debug({ n: 1 });
  logger.info({ n: 2 });
  logger.warn({ eventId: 'w', text: 'two\nlines' });
  logger.error({ eventId: 'e' });
  expect(written()).toEqual([
    { level: 'warn', at: '1970-01-01T00:00:00.000Z', eventId: 'w', text: 'two\nlines' },
    { level: 'error', at: '1970-01-01T00:00:00.000Z', eventId: 'e' },
  ]);
});

test('[C11] [C23] any record becomes one line: bigint, errors, cycles, getters that throw, far too much', () => {
  const { lines, logger, written } = arrange();
  const cyclic: Record<string, unknown> = { name: 'cyclic', error: new TypeError('t') };
  cyclic['self'] = cyclic;
  logger.warn({ generation: 2n ** 63n - 1n, error: new ZLinkError('Rejected', 'no'), when: new Date(1) });
  logger.warn(cyclic);
  logger.warn(throwing);
  logger.warn({ text: 'x'.repeat(100_000), count: 3 });
  logger.warn(new Proxy({}, { ownKeys: () => throwing.broken }));
  logger.warn({ toJSON: () => throwing.broken });
  expect(written()).toMatchObject([
    { generation: '9223372036854775807', error: '[Rejected] no', when: '1970-01-01T00:00:00.001Z' },
    { name: 'cyclic', error: 'TypeError: t', self: 'object' },
    { broken: 'unreadable: getter', fine: 'text' },
    { count: 3 },
    { message: 'unreadable record' },
    { level: 'warn' },
  ]);
  for (const line of lines) {
    expect(line).not.toContain('\n');
    expect(line.length).toBeLessThanOrEqual(16_384);
  }
});

test('[C11] a stderr that cannot be written to is no reason to fail', () => {
  const logger = createStderrLogger({
    write: () => {
      throw new Error('EPIPE');
    },
  });
  expect(() => logger.error({ n: 1 })).not.toThrow();
});

test('[C11] the default logger ends up on stderr', () => {
  const written: unknown[] = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (chunk: unknown) => written.push(chunk) > 0;
  try {
    stderrLogger.warn({ eventId: 'x' });
  } finally {
    process.stderr.write = write;
  }
  expect(written).toEqual([expect.stringMatching(/^\{"level":"warn","at":"[^"]+","eventId":"x"\}\n$/)]);
});

describe('a guarded logger', () => {
  function guarded(log: (record: object) => unknown) {
    const clock = new ManualClock();
    const lines: string[] = [];
    const logger = { debug: log, info: log, warn: log, error: log };
    return { clock, lines, logger: guardLogger(logger, { clock, write: (line) => lines.push(line) }) };
  }

  test('[C11] passes records on', () => {
    const seen: object[] = [];
    const { logger } = guarded((record) => void seen.push(record));
    logger.debug({ n: 1 });
    logger.info({ n: 2 });
    logger.warn({ n: 3 });
    logger.error({ n: 4 });
    expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
  });

  test('[C11] a throwing logger is caught, and reported at most once per minute and text', () => {
    const { clock, lines, logger } = guarded((record) => {
      throw new Error((record as { text: string }).text);
    });
    logger.warn({ text: 'disk full' });
    logger.warn({ text: 'disk full' });
    logger.error({ text: 'other' });
    clock.advance(59_999);
    logger.warn({ text: 'disk full' });
    expect(lines).toHaveLength(2);
    clock.advance(1);
    logger.warn({ text: 'disk full' });
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'logger failed in warn: disk full',
      'logger failed in error: other',
      'logger failed in warn: disk full',
    ]);
  });

  test('[C11] [MON-023] however many texts a failing logger has, 256 of them a minute are reported, each once', () => {
    const { clock, lines, logger } = guarded((record) => {
      throw new Error((record as { text: string }).text);
    });
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < 300; at++) logger.warn({ text: `disk full at ${at}` });
    }
    expect([lines.length, new Set(lines).size]).toEqual([256, 256]);
    clock.advance(60_000);
    logger.warn({ text: 'disk full at 299' });
    expect(lines).toHaveLength(257);
  });

  test('[C11] an async logger that rejects leaves no unhandled rejection', async () => {
    const { lines, logger } = guarded(async () => {
      throw new Error('async');
    });
    logger.warn({ n: 1 });
    await loopTurns(1);
    expect(lines).toHaveLength(1);
  });

  test('[C11] whatever is thrown, and wherever it cannot be told, nothing comes out', () => {
    for (const thrown of [null, undefined, 'text', Object.freeze({}), new Proxy({}, { get: () => throwing.broken })]) {
      const { logger } = guarded(() => {
        throw thrown; // eslint-disable-line @typescript-eslint/only-throw-error -- loggers may throw anything
      });
      expect(() => logger.warn({ n: 1 })).not.toThrow();
    }
    const mute = guardLogger({} as Logger, {
      write: () => {
        throw new Error('EPIPE');
      },
    });
    expect(() => mute.warn({ n: 1 })).not.toThrow();
  });
});

test('[C11] what a terminal or viewer could take for an order stands in a line as an escape', () => {
  const { lines, logger, written } = arrange();
  const evil = '\u001b]0;pwned\u0007\u007f\u0085\u009b31m\u061c\u200e\u2028\u2029\u202eevil\u2066\u2069 "quoted\\"';
  logger.warn({ packet_name: evil, [evil]: 1 });
  logger.warn({ source_rid: evil, tooLong: 'x'.repeat(100_000) });
  const guarded: string[] = [];
  const broken = (): never => {
    throw new Error('no');
  };
  const inner = { debug: broken, info: broken, warn: broken, error: broken };
  guardLogger(inner, { write: (line) => guarded.push(line) }).warn({});
  expect(written()).toMatchObject([{ packet_name: evil, [evil]: 1 }, { source_rid: evil }]);
  for (const line of [...lines, ...guarded]) expect(line).toMatch(/^[ -~…]*$/);
  expect(lines[0]).toContain('\\u009b31m');
});
