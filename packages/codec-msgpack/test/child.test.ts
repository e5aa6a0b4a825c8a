import { jest } from '@jest/globals';
import { codecPackageSuite } from '@zlink/testing/internal';

jest.setTimeout(150_000); // longer than its children may take

codecPackageSuite('@zlink/codec-msgpack', {
  tests: new URL('.', import.meta.url),
  libraries: ['@msgpack/msgpack'],
  values: 15,
  refused: 3_801,
});
