import { ZLinkError } from '@zlink/framework';
import { CallTally, SendTally } from '../src/tally.ts';

test('[CALL-004] a tally counts every call when it begins and when it ends', () => {
  const tally = new CallTally();
  for (let n = 0; n < 5; n++) tally.accept();
  tally.answer('ash');
  tally.answer('birch');
  tally.answer('ash');
  tally.answerWrongly();
  expect(tally.counts()).toEqual({ accepted: 5, answered: { ash: 2, birch: 1 }, errors: {}, wrong: 1, untyped: 0 });
});

test('[CALL-005] a tally counts errors by kind and by whether the call had left', () => {
  const tally = new CallTally();
  tally.fail(new ZLinkError('Unavailable', 'link ended', { submitted: true }));
  tally.fail(new ZLinkError('Unavailable', 'link ended'));
  tally.fail(new ZLinkError('Unavailable', 'link ended'));
  tally.fail(new ZLinkError('Rejected', 'draining', { submitted: true }));
  tally.fail(new Error('no kind'));
  tally.fail('not even an error');
  const { errors, untyped } = tally.counts();
  expect(errors).toEqual({
    Unavailable: { submitted: 1, notSubmitted: 2 },
    Rejected: { submitted: 1, notSubmitted: 0 },
  });
  expect(untyped).toBe(2);
});

test('[CALL-004] counts taken earlier do not change', () => {
  const tally = new SendTally();
  tally.accept();
  const before = tally.counts();
  tally.accept();
  tally.fail(new ZLinkError('DeadlineExceeded', 'not accepted'));
  expect(before).toEqual({ accepted: 1, errors: {}, untyped: 0 });
  expect(tally.counts().accepted).toBe(2);
});
