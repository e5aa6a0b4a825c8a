import { ManualClock } from '@zlink/testing';
import { HandshakeLedger } from '../src/handshake-ledger.ts';

interface Arranged {
  readonly ledger: HandshakeLedger;
  readonly clock: ManualClock;
  readonly refused: string[];
  behind: boolean;
}

function arrange(): Arranged {
  const clock = new ManualClock();
  const refused: string[] = [];
  const arranged: Arranged = { clock, refused, behind: false, ledger: undefined as unknown as HandshakeLedger };
  const ledger = new HandshakeLedger({
    clock,
    onRefused: (reason) => refused.push(reason),
    isBehind: () => arranged.behind,
  });
  return Object.assign(arranged, { ledger });
}

test('[SEC-002] an end without a last message is a stranger', () => {
  const { ledger, clock, refused } = arrange();
  ledger.connectionEnded();
  ledger.connectionEnded();
  expect(refused).toEqual([]);
  clock.advance(1_000);
  expect(refused).toEqual(['unknownProtocol', 'unknownProtocol']);
  expect(clock.pendingTimers).toBe(0);
});

test.each(['before', 'after'])('[SEC-002] an end with a last message %s it is a peer', (when) => {
  const { ledger, clock, refused } = arrange();
  if (when === 'before') ledger.peerLeft();
  ledger.connectionEnded();
  if (when === 'after') ledger.peerLeft();
  clock.advance(1_000);
  expect(refused).toEqual([]);
});

test('[SEC-002] the verdict waits while messages are unread', () => {
  const arranged = arrange();
  arranged.behind = true;
  arranged.ledger.connectionEnded();
  arranged.clock.advance(1_000);
  arranged.ledger.peerLeft();
  arranged.behind = false;
  arranged.clock.advance(1_000);
  expect(arranged.refused).toEqual([]);
});

test('[SEC-002] a failed handshake counts once, refused access not at all', () => {
  const { ledger, clock, refused } = arrange();
  ledger.handshakeFailed('wrongKey');
  ledger.connectionEnded();
  ledger.handshakeFailed('accessRefused');
  ledger.connectionEnded();
  clock.advance(1_000);
  expect(refused).toEqual(['wrongKey']);
});

test('[CORE-011] a closed ledger leaves no timer', () => {
  const { ledger, clock, refused } = arrange();
  ledger.connectionEnded();
  ledger.close();
  expect(clock.pendingTimers).toBe(0);
  expect(refused).toEqual([]);
});
