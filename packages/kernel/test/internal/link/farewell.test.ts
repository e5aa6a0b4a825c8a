import { Farewell, type PeerWord } from '../../../src/internal/link/farewell.ts';
import { GoodbyePhase } from '../../../src/internal/wire/record.ts';

/** One side's farewell, and what it has set in motion. */
function arrange() {
  const heard: string[] = [];
  const side = { owing: false, onFinishing: (): void => undefined };
  const farewell = new Farewell({
    say: (phase) => heard.push(phase === GoodbyePhase.finishing ? 'say finishing' : 'say finished'),
    isOwing: () => side.owing,
    onFinishing: (kind) => {
      heard.push(`refuse ${kind}`);
      side.onFinishing();
    },
    onPeerFinished: () => heard.push('peer finished'),
    onOver: () => {
      heard.push('over');
      farewell.close('over');
    },
  });
  return { farewell, heard, side };
}

test('[CORE-010] who wants to end says so once, and waits with the last word until the other side is finishing', () => {
  const { farewell, heard } = arrange();
  farewell.begin('ShuttingDown');
  farewell.begin('Unavailable');
  farewell.conclude();
  expect([farewell.phase, heard]).toEqual(['finishing', ['say finishing', 'refuse ShuttingDown']]);
  farewell.hear('finishing');
  farewell.conclude();
  expect([farewell.phase, farewell.state.kind, heard.slice(2)]).toEqual(['finishing', 'finished', ['say finished']]);
  farewell.hear('finished');
  expect([farewell.phase, heard.slice(3)]).toEqual(['closed', ['peer finished', 'over']]);
});

test('[CORE-010] who is asked to end answers in kind, and with the last word once nothing is owed', () => {
  const { farewell, heard, side } = arrange();
  side.owing = true;
  farewell.hear('finishing');
  expect([farewell.state, heard]).toEqual([
    { kind: 'finishing', peer: 'finishing' },
    ['say finishing', 'refuse Unavailable'],
  ]);
  farewell.conclude();
  expect(heard).toHaveLength(2);
  side.owing = false;
  farewell.conclude();
  farewell.conclude();
  expect([farewell.state.kind, heard.slice(2)]).toEqual(['finished', ['say finished']]);
});

test('[CORE-010] the last word of the other side may come first: this side still ends what it owes', () => {
  const { farewell, heard, side } = arrange();
  side.owing = true;
  farewell.begin('Unavailable');
  farewell.hear('finished');
  expect([farewell.phase, heard.slice(2)]).toEqual(['finishing', ['peer finished']]);
  side.owing = false;
  farewell.conclude();
  expect([farewell.phase, heard.slice(3)]).toEqual(['closed', ['say finished', 'over']]);
});

test.each(['finishing', 'finished'] as const)(
  '[CORE-010] a closed link says nothing, whatever it hears (%s)',
  (word) => {
    const { farewell, heard } = arrange();
    farewell.begin('Unavailable');
    expect([farewell.close('broken'), farewell.close('again')]).toEqual([true, false]);
    heard.length = 0;
    farewell.begin('Unavailable');
    farewell.hear(word satisfies PeerWord);
    farewell.conclude();
    expect(farewell.state).toEqual({ kind: 'closed', reason: 'broken' });
    expect(heard.filter((what) => what !== 'peer finished')).toEqual([]);
  },
);

test('[CORE-010] a link that a callback ends on the way says no last word', () => {
  const { farewell, heard, side } = arrange();
  side.onFinishing = () => void farewell.close('ended by a callback');
  farewell.hear('finishing');
  expect([farewell.state, heard]).toEqual([
    { kind: 'closed', reason: 'ended by a callback' },
    ['say finishing', 'refuse Unavailable'],
  ]);
});
