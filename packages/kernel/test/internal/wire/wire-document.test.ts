/** The description of the wire format says what the code does. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beaconParts } from '../../../src/internal/wire/beacon.ts';
import { EventForm } from '../../../src/internal/wire/event-layout.ts';
import { DescriptorState, EndpointKind, ObjectRole, RejectReason } from '../../../src/internal/wire/hello.ts';
import * as limits from '../../../src/internal/wire/limits.ts';
import { allowedFlags, GoodbyePhase, RecordFlag, RecordKind } from '../../../src/internal/wire/record.ts';
import { eventVectors, vectors } from './vectors.ts';

const document = readFileSync(join(import.meta.dirname, '../../../../core-binding/WIRE.md'), 'utf8');

/** The rows of all tables, their cells without code marks. */
const rows = document
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );

const hexOf = (number: number): string => `0x${number.toString(16).padStart(2, '0')}`;
const flagNames = { inlineName: 'inline name', metadata: 'metadata', trace: 'trace', external: 'external' } as const;

test('[WIRE-002] the document has a row for each kind of record, with its flags', () => {
  const kinds = rows.filter(([kind = '', name = '']) => /^0x[0-9a-f]{2}$/.test(kind) && name in RecordKind);
  const expected = Object.entries(RecordKind).map(([name, kind]) => {
    const flags = Object.entries(RecordFlag).filter(([, flag]) => ((allowedFlags[kind] ?? 0) & flag) !== 0);
    const names = flags.map(([flag]) => flagNames[flag as keyof typeof flagNames]); // keys of RecordFlag
    return [hexOf(kind), name, names.length === 0 ? 'none' : names.join(', ')];
  });
  expect(kinds.map((cells) => cells.slice(0, 3))).toEqual(expected);
});

test('[WIRE-002] the document has a row for each flag', () => {
  const flags = rows.filter(([, name = '']) => (Object.values(flagNames) as string[]).includes(name));
  expect(flags.map((cells) => cells.slice(0, 2))).toEqual(
    Object.entries(RecordFlag).map(([flag, bit]) => [hexOf(bit), flagNames[flag as keyof typeof flagNames]]), // as above
  );
});

test('[WIRE-001] the document names the reasons of a rejection and the numbers of all other sets', () => {
  const reasons = new Map<string, number>();
  for (const cells of rows.filter((row) => row.length === 6)) {
    for (let at = 0; at < 6; at += 2)
      if ((cells[at + 1] ?? '') in RejectReason) reasons.set(cells[at + 1] ?? '', Number(cells[at]));
  }
  expect(Object.fromEntries(reasons)).toEqual(RejectReason);
  const inWords = (set: Readonly<Record<string, number>>): string =>
    Object.entries(set)
      .map(([name, number]) => `${number} ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`)
      .join(', ');
  for (const set of [EndpointKind, DescriptorState, ObjectRole]) expect(document).toContain(`: ${inWords(set)}\n`);
  for (const [name, phase] of Object.entries(GoodbyePhase)) {
    expect(rows.filter(([number, word]) => number === `${phase}` && word === name)).toHaveLength(1);
  }
});

test('[FAN-006] [LIVE-003] the document has the forms of frames and the bytes of the beacon', () => {
  const forms = Object.entries(EventForm).map(([name, form]) => `${form} ${name}`);
  expect(document).toContain(`form: ${forms.join(', ')}\n`);
  const [topic = '', payload = ''] = beaconParts().map((part) =>
    [...part].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(' '),
  );
  expect(document).toContain(`topic \`${topic}\`, payload \`${payload}\``);
});

test('[WIRE-002] every vector is an example in the document, and every example is a vector', () => {
  const linked = [...document.matchAll(/\[`([\w-]+)`\]\(vectors\/([\w-]+)\.hex\)/g)];
  for (const [, name, file] of linked) expect(name).toBe(file);
  expect([...new Set(linked.map(([, name]) => name))].sort()).toEqual(
    [...vectors, ...eventVectors].map(({ name }) => name).sort(),
  );
});

test('[WIRE-002] the limits in the document are those of the code', () => {
  const limitOf = (what: RegExp): string => rows.find(([cell = '']) => what.test(cell))?.at(-1) ?? '';
  const inThousands = (number: number): string => number.toLocaleString('en');
  expect(limitOf(/^hello, admit, update: payload/)).toBe(`${inThousands(limits.HELLO_BYTES)} bytes`);
  expect(limitOf(/^Names per link/)).toBe(inThousands(limits.NAME_LIMIT));
  expect(limitOf(/^Metadata of one record/)).toBe(`${inThousands(limits.METADATA_BYTES)} bytes`);
  expect(limitOf(/^Trace context of one record/)).toBe(`${inThousands(limits.TRACE_BYTES)} bytes`);
  expect(limitOf(/^Smallest window/)).toBe(`${inThousands(limits.MIN_WINDOW_BYTES)} bytes`);
  expect(limitOf(/^Size at which a batch/)).toBe(`${inThousands(limits.FLUSH_BYTES)} bytes`);
  expect(limitOf(/^Smallest payload that a sender/)).toBe(`${inThousands(limits.EXTERNAL_BYTES)} bytes`);
  expect(limitOf(/^Frame of a fanout publisher/)).toBe(`${inThousands(limits.EVENT_FRAME_BYTES)} bytes`);
  expect(limitOf(/^Payload of one event/)).toBe(`${inThousands(limits.EVENT_BYTES)} bytes`);
  expect(limitOf(/^Time from connecting/)).toBe(`${limits.HANDSHAKE_TIMEOUT_MS / 1_000} seconds`);
  expect(limitOf(/^Probe interval/)).toBe(
    `${limits.PROBE_INTERVAL_MS / 1_000} and ${limits.LIVENESS_DEADLINE_MS / 1_000} seconds`,
  );
  expect(document).toContain(`Version ${limits.WIRE_MAJOR}.${limits.WIRE_MINOR}.`);
  expect(document).toContain(`${limits.RECORD_COST_BYTES} + payload length + metadata length`);
});
