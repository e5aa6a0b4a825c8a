import { jest } from '@jest/globals';
import { codecPackageSuite } from '@zlink/testing/internal';

jest.setTimeout(150_000); // longer than its children may take

codecPackageSuite('@zlink/codec-protobuf', {
  tests: new URL('.', import.meta.url),
  libraries: ['protobufjs/minimal.js'],
  values: 201,
  refused: 4_001,
});
