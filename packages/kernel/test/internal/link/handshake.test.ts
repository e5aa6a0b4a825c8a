import { ManualClock, seededRandom, strangerInputs } from '@zlink/testing';
import { type GreetingNumbers, Handshake, sendRecord } from '../../../src/internal/link/handshake.ts';
import { DeadlineWheel } from '../../../src/internal/time/index.ts';
import type { Pipe, PipeSink } from '../../../src/internal/transport/index.ts';
import {
  type DecodedHello,
  encodeHello,
  encodeRejection,
  EndpointKind,
  ownHello,
  RejectReason,
  type Rejection,
} from '../../../src/internal/wire/hello.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { mutatedMessage } from '../wire/mutation.ts';
import { decodeMessage } from '../wire/message-codec.ts';
import { vectorNamed, vectors } from '../wire/vectors.ts';
import { DESCRIPTOR } from './link-side.ts';
import { TestPipe } from './pipe-pair.ts';

const greeting = (channels = DESCRIPTOR.channels): Uint8Array =>
  encodeHello(
    ownHello({
      kind: EndpointKind.channelServer,
      generation: 1n,
      windowBytes: 65_536,
      maxMessageBytes: 0,
      rid: 'server',
      scope: 'billing',
      endpoint: '',
      publicKey: '',
      descriptor: { ...DESCRIPTOR, channels },
    }),
  );

/** A handshake on one end of a pipe, its owner, and the other end in the hands of the test. */
class Exchange {
  readonly clock = new ManualClock();
  readonly wheel = new DeadlineWheel({
    clock: this.clock,
    onError: (error) => {
      throw error;
    },
  });
  readonly own: TestPipe;
  readonly other: TestPipe;
  readonly handshake: Handshake;
  readonly greetings: DecodedHello[] = [];
  readonly numbers: GreetingNumbers[] = [];
  readonly failures: { readonly rejection: Rejection; readonly byPeer: boolean }[] = [];
  /** What reaches the link that the pipe has become. */
  readonly linkHeard: string[] = [];
  verdict: PipeSink | Rejection = {
    onPipeOpen: () => undefined,
    onPipeMessage: (parts) => this.linkHeard.push(`message of ${parts.length}`),
    onPipeClosed: (reason) => this.linkHeard.push(reason),
  };

  constructor(role: 'dialing' | 'accepting', own?: GreetingNumbers) {
    [this.own, this.other] = TestPipe.pair();
    this.handshake = new Handshake(
      {
        onGreeting: (decoded: DecodedHello, pipe: Pipe, { correlation, aux }) => {
          expect(pipe).toBe(this.own);
          this.greetings.push(decoded);
          this.numbers.push({ correlation, aux });
          return this.verdict;
        },
        onFailed: (rejection, byPeer) => this.failures.push({ rejection, byPeer }),
      },
      role === 'dialing' ? () => greeting() : undefined,
      this.wheel,
      this.clock,
      own,
    );
    this.handshake.attach(this.own);
    this.own.sink = this.handshake;
  }

  /** What the other side says, in one message. */
  say(...parts: Uint8Array[]): this {
    this.other.send(parts);
    this.other.deliver();
    return this;
  }

  sayRecord(kind: RecordKind, payload: Uint8Array): this {
    sendRecord(this.other, kind, payload);
    this.other.deliver();
    return this;
  }

  /** Kinds of the records that this side has sent. */
  get sentKinds(): number[] {
    return this.own.sent.flatMap((parts) => {
      const batches = decodeMessage(parts);
      if (typeof batches === 'string') throw new Error(batches);
      return batches.flat().map(({ kind }) => kind);
    });
  }

  get isOver(): boolean {
    return this.wheel.size === 0 && this.clock.pendingTimers === 0;
  }
}

const malformed = { reason: RejectReason.malformed, text: 'handshake is malformed' };

test('[WIRE-001] the dialling side says hello as soon as the pipe is open, and an admit makes it a link', () => {
  const exchange = new Exchange('dialing');
  expect(exchange.own.sent).toEqual([]);
  exchange.handshake.onPipeOpen();
  expect(exchange.sentKinds).toEqual([RecordKind.hello]);
  exchange.sayRecord(RecordKind.admit, greeting());
  expect(exchange.greetings).toMatchObject([{ kind: 'hello', hello: { rid: 'server' } }]);
  exchange.sayRecord(RecordKind.send, new Uint8Array(1));
  exchange.own.break();
  exchange.other.deliver();
  expect(exchange.linkHeard).toEqual(['message of 1', 'connection lost']);
  expect([exchange.failures, exchange.isOver]).toEqual([[], true]);
});

test('[WIRE-001] the accepting side answers a hello and says nothing before', () => {
  const exchange = new Exchange('accepting');
  exchange.handshake.onPipeOpen();
  expect(exchange.own.sent).toEqual([]);
  exchange.sayRecord(RecordKind.hello, greeting());
  expect(exchange.greetings).toHaveLength(1);
  expect([exchange.failures, exchange.isOver]).toEqual([[], true]);
});

test('[WIRE-001] both sides hear the two numbers of a greeting', () => {
  const numbers = { correlation: 0xffff_ffff, aux: 0x8000_0001 };
  const dialing = new Exchange('dialing', numbers);
  dialing.handshake.onPipeOpen();
  const [hello = []] = dialing.own.sent;
  expect(new Exchange('accepting').say(...hello).numbers).toEqual([numbers]);
  expect(new Exchange('accepting').sayRecord(RecordKind.hello, greeting()).numbers).toEqual([
    { correlation: 0, aux: 0 },
  ]);
});

test('[WIRE-001] a hello or admit with as many channels as 64 KiB hold passes', () => {
  const channels = Array.from({ length: 250 }, (_, at) => ({ name: `${at}`.padEnd(250, '-'), weight: 1 }));
  const exchange = new Exchange('accepting').sayRecord(RecordKind.hello, greeting(channels));
  expect(exchange.greetings).toMatchObject([{ kind: 'hello', hello: { descriptor: { channels } } }]);
});

test.each(['dialing', 'accepting'] as const)(
  '[CORE-009] [SEC-002] a peer that says nothing is given up after 5 s (%s)',
  (role) => {
    const exchange = new Exchange(role);
    exchange.handshake.onPipeOpen();
    exchange.clock.advance(4_999);
    expect([exchange.failures, exchange.own.isClosed]).toEqual([[], false]);
    exchange.clock.advance(50);
    expect(exchange.failures).toEqual([
      {
        rejection: { reason: RejectReason.malformed, text: 'no answer to the handshake within 5000 ms' },
        byPeer: false,
      },
    ]);
    expect([exchange.own.isClosed, exchange.isOver]).toEqual([true, true]);
  },
);

test('[CORE-009] a pipe that never opens is given up after 5 s, too', () => {
  const exchange = new Exchange('dialing');
  exchange.clock.advance(5_050);
  expect([exchange.failures.length, exchange.own.isClosed]).toEqual([1, true]);
  exchange.handshake.onPipeOpen();
  expect(exchange.own.sent).toEqual([]);
});

test('[WIRE-001] a rejection reaches the dialling side with its reason', () => {
  const exchange = new Exchange('dialing');
  exchange.handshake.onPipeOpen();
  const rejection = { reason: RejectReason.wrongScope, text: 'endpoint serves "a", expected "b"' };
  exchange.sayRecord(RecordKind.reject, encodeRejection(rejection));
  expect(exchange.failures).toEqual([{ rejection, byPeer: true }]);
  expect(exchange.sentKinds).toEqual([RecordKind.hello]); // no rejection of a rejection
  expect([exchange.own.isClosed, exchange.isOver]).toEqual([true, true]);
});

test('[WIRE-001] [C22] a rejection that cannot be read is still one', () => {
  for (const payload of [[], [0], [99], [1, 0xc3, 0x28]]) {
    const exchange = new Exchange('dialing');
    exchange.handshake.onPipeOpen();
    exchange.sayRecord(RecordKind.reject, Uint8Array.from(payload));
    expect(exchange.failures).toEqual([{ rejection: malformed, byPeer: true }]);
  }
});

test('[WIRE-001] nobody rejects who has not been asked: a reject instead of a hello is malformed', () => {
  const exchange = new Exchange('accepting');
  exchange.sayRecord(RecordKind.reject, encodeRejection({ reason: RejectReason.busy, text: '' }));
  expect(exchange.failures).toEqual([{ rejection: malformed, byPeer: false }]);
});

test('[WIRE-001] who is refused is told why, and the pipe closes once that has left', () => {
  const exchange = new Exchange('accepting');
  const rejection = { reason: RejectReason.busy, text: 'later' };
  exchange.verdict = rejection;
  exchange.sayRecord(RecordKind.hello, greeting());
  expect(exchange.sentKinds).toEqual([RecordKind.reject]);
  expect(exchange.failures).toEqual([{ rejection, byPeer: false }]);
  expect([exchange.own.isClosed, exchange.own.underWay, exchange.isOver]).toEqual([true, 2, true]);
});

const helloMessage = (): Uint8Array[] => {
  const pipe = new TestPipe('');
  sendRecord(pipe, RecordKind.hello, greeting());
  return pipe.sent[0] ?? [];
};

const greetingOf = (payloadBytes: number): Uint8Array => {
  const pipe = new TestPipe('');
  sendRecord(pipe, RecordKind.hello, new Uint8Array(payloadBytes));
  return Buffer.concat(pipe.sent[0] ?? []);
};

test.each<[string, () => Uint8Array[]]>([
  [
    'a second record behind the hello',
    () => [Buffer.concat([...helloMessage(), ...(vectorNamed('probe').parts as [])])],
  ],
  ['a second part behind the hello', () => [...helloMessage(), new Uint8Array(0)]],
  ['a hello in two parts', () => helloMessage().flatMap((part) => [part.subarray(0, 20), part.subarray(20)])],
  ['a record one byte larger than a hello may be', () => [greetingOf(65_537)]],
  ['a record of 16 MiB', () => [greetingOf(16_777_216)]],
  ['two empty parts', () => [new Uint8Array(0), new Uint8Array(0)]],
  ['an admit instead of a hello', () => [...vectorNamed('admit').parts]],
])('[WIRE-001] %s is refused before admission', (_, parts) => {
  const exchange = new Exchange('accepting').say(...parts());
  expect(exchange.greetings).toEqual([]);
  expect(exchange.failures).toEqual([{ rejection: malformed, byPeer: false }]);
  expect([exchange.own.isClosed, exchange.isOver]).toEqual([true, true]);
});

test('[WIRE-001] nothing but the expected record is accepted before admission', () => {
  for (const { name, parts } of vectors) {
    for (const role of ['dialing', 'accepting'] as const) {
      const exchange = new Exchange(role);
      exchange.handshake.onPipeOpen();
      exchange.say(...parts);
      const isExpected = role === 'dialing' ? name === 'admit' : name.startsWith('hello');
      expect([name, role, exchange.greetings.length]).toEqual([name, role, isExpected ? 1 : 0]);
      expect([name, role, exchange.failures.length]).toEqual([name, role, isExpected ? 0 : 1]);
    }
  }
});

test.each(strangerInputs.filter(({ bytes }) => bytes.length > 0))(
  '[C06] $name is refused, and the pipe closed',
  ({ bytes }) => {
    for (const role of ['dialing', 'accepting'] as const) {
      const exchange = new Exchange(role);
      exchange.handshake.onPipeOpen();
      exchange.say(bytes);
      expect(exchange.failures).toEqual([{ rejection: malformed, byPeer: false }]);
      expect([exchange.own.isClosed, exchange.isOver]).toEqual([true, true]);
    }
  },
);

test('[CORE-009] a pipe that closes before the answer fails the handshake with its reason', () => {
  const exchange = new Exchange('dialing');
  exchange.own.break();
  exchange.other.deliver();
  expect(exchange.failures).toEqual([
    { rejection: { reason: RejectReason.malformed, text: 'connection lost' }, byPeer: false },
  ]);
  expect(exchange.isOver).toBe(true);
});

test('[CORE-011] a handshake that is called off closes its pipe, tells nobody and leaves no timer', () => {
  const exchange = new Exchange('dialing');
  exchange.handshake.onPipeOpen();
  exchange.handshake.cancel();
  exchange.handshake.cancel();
  exchange.sayRecord(RecordKind.admit, greeting());
  exchange.handshake.onPipeClosed('late');
  expect([exchange.greetings, exchange.failures, exchange.own.isClosed, exchange.isOver]).toEqual([[], [], true, true]);
});

test('[CORE-011] a link is not ended by calling off the handshake it came from', () => {
  const exchange = new Exchange('accepting').sayRecord(RecordKind.hello, greeting());
  exchange.handshake.cancel();
  expect(exchange.own.isClosed).toBe(false);
});

test('[SEC-002] a handshake may be refused before the other side has said anything', () => {
  const exchange = new Exchange('accepting');
  const rejection = { reason: RejectReason.busy, text: 'too many' };
  exchange.handshake.refuse(rejection);
  expect(exchange.failures).toEqual([{ rejection, byPeer: false }]);
  expect(exchange.sentKinds).toEqual([RecordKind.reject]);
  exchange.sayRecord(RecordKind.hello, greeting());
  expect([exchange.greetings, exchange.isOver]).toEqual([[], true]);
});

test('[WIRE-003] [C06] whatever comes in whatever order: never throws, and ends at most once', () => {
  const random = seededRandom(9);
  for (let round = 0; round < 5_000; round++) {
    const exchange = new Exchange(random() < 0.5 ? 'dialing' : 'accepting');
    if (random() < 0.3) exchange.verdict = { reason: RejectReason.busy, text: '' };
    for (let step = 0; step < 6; step++) {
      const what = random();
      if (what < 0.5) exchange.say(...mutatedMessage(random));
      else if (what < 0.6) exchange.handshake.onPipeOpen();
      else if (what < 0.7) exchange.handshake.onPipeClosed('gone');
      else if (what < 0.8) exchange.clock.advance(random() * 4_000);
      else exchange.sayRecord(random() < 0.5 ? RecordKind.hello : RecordKind.admit, greeting());
    }
    exchange.clock.advance(6_000);
    const accepted = 'reason' in exchange.verdict ? 0 : exchange.greetings.length;
    expect(accepted + exchange.failures.length).toBe(1);
    expect(exchange.isOver).toBe(true);
  }
});
