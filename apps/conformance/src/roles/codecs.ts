/** The codecs of the matrix, told about the packets of the contract. Loaded where a plan names one. */
import type { CodecExtension } from '@zlink/framework';
import { Ask, MissingAsk, MissingNote, Note, Reply, Tick } from '../contracts.ts';
import type { CodecKind } from './plan.ts';

const schema = `
  syntax = "proto3";
  package conformance;
  message Payload { string mark = 1; string text = 2; bytes bytes = 3; string act = 4; }
  message Reply { string mark = 1; string by = 2; string text = 3; bytes bytes = 4; }
`;

/** Nothing for JSON, which every host has. */
export async function extensionOf(codec: CodecKind): Promise<CodecExtension | undefined> {
  if (codec === 'json') return undefined;
  if (codec === 'msgpack') return (await import('@zlink/codec-msgpack')).msgpack();
  const { protobuf } = await import('@zlink/codec-protobuf');
  const { default: protobufjs } = await import('protobufjs');
  const { root } = protobufjs.parse(schema, { keepCase: true });
  const payload = 'conformance.Payload';
  return protobuf({
    root,
    types: [
      [Ask, payload],
      [Note, payload],
      [Tick, payload],
      [MissingAsk, payload],
      [MissingNote, payload],
      [Reply, 'conformance.Reply'],
    ],
  });
}

export const contentTypes: Readonly<Record<CodecKind, string>> = {
  json: 'application/json',
  protobuf: 'application/protobuf',
  msgpack: 'application/msgpack',
};
