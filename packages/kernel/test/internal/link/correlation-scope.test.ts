import { correlationScope } from '../../../src/internal/link/correlation-scope.ts';

test('[TRACE-020] both ends call the requests of a link as WIRE.md says', () => {
  const generation = 0xfedc_ba98_0000_3210n;
  expect(correlationScope(generation, 42, true)).toEqual({ own: '00003210-42-d', peer: '00003210-42-a' });
  expect(correlationScope(generation, 42, false)).toEqual({ own: '00003210-42-a', peer: '00003210-42-d' });
});
