/** What a codec is called and what it serves. */
import assert from 'node:assert/strict';
import { CodecRegistry } from '@zlink/kernel/codec';
import { Problems } from '@zlink/kernel/errors';
import type { CodecCase } from './codec-rig.ts';

export const typeCases: readonly CodecCase[] = [
  {
    title: '[CODEC-002] it registers under the content type that is its own',
    act: ({ codec, harness }) => {
      const problems = new Problems();
      const table = new CodecRegistry().use({ register: (codecs) => void codecs.add(codec) }).freeze(problems);
      problems.throwIfAny();
      assert.equal(codec.contentType, harness.contentType);
      assert.equal(table.byContentType(harness.contentType), codec);
    },
  },
  {
    title: '[CODEC-004] it serves its declared type and leaves others alone, with the same answer every time',
    act: ({ codec, harness: { declaredType, foreignType } }) => {
      for (let time = 0; time < 3; time++) {
        assert.equal(codec.matches(declaredType), true, 'the declared type');
        if (foreignType !== undefined) assert.equal(codec.matches(foreignType), false, 'a foreign type');
      }
    },
  },
];
