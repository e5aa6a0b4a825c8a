/**
 * Transports over memory that are broken in one place each, and the case of the suite that catches each of them.
 *
 * Owns the breakages. Leaves running the cases to suites-catch.test.ts.
 */
import type {
  InboundRecord,
  Link,
  LinkSink,
  Pipe,
  PipeEngine,
  PipeSink,
  Transport,
} from '@zlink/kernel/internal/transport';
import type { TransportOverrides } from '../../src/index.ts';
import { altered } from '../altered.ts';

export interface BrokenTransport {
  readonly what: string;
  /** How the title of the case begins. */
  readonly caughtBy: string;
  readonly engine?: (inner: PipeEngine) => PipeEngine;
  readonly transport?: (inner: Transport, overrides: TransportOverrides) => Transport;
}

/** What one side of every connection is told, changed on the way. */
function heard(inner: PipeEngine, change: (sink: PipeSink) => PipeSink): PipeEngine {
  return altered(inner, {
    listen: (options, accept) => inner.listen(options, (pipe: Pipe) => change(accept(pipe))),
    connect: (options, sink) => inner.connect(options, change(sink)),
  });
}

/** What topics are told of their links, changed on the way. */
function told(inner: Transport, change: (sink: LinkSink) => Partial<LinkSink>): Transport {
  const changed = <T extends { readonly group: Parameters<Transport['dial']>[0]['group'] }>(options: T): T => {
    const { group } = options;
    const open: typeof group.open = (link) => {
      const sink = group.open(link);
      return altered(sink, change(sink));
    };
    return { ...options, group: altered(group, { open }) };
  };
  return altered(inner, {
    listen: (options) => inner.listen(changed(options)),
    dial: (options) => inner.dial(changed(options)),
  });
}

const received = (change: (record: InboundRecord) => Partial<InboundRecord>) => (inner: Transport) =>
  told(inner, (sink) => ({ onRecord: (record, link) => sink.onRecord(altered(record, change(record)), link) }));

const LARGE_BYTES = 4_096;

function spoiled(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= LARGE_BYTES) return bytes;
  const copy = Uint8Array.from(bytes); // memory shares them with the sender
  copy[LARGE_BYTES] = (copy[LARGE_BYTES] ?? 0) ^ 1;
  return copy;
}

export const brokenTransports: readonly BrokenTransport[] = [
  {
    what: 'loses a message',
    caughtBy: '[CORE-001] [C04] 5,000 sends',
    engine: (inner) =>
      heard(inner, (sink) => {
        let count = 0;
        return altered(sink, {
          onPipeMessage: (parts, first) => void (++count % 3 === 0 || sink.onPipeMessage(parts, first)),
        });
      }),
  },
  {
    what: 'changes a byte of large messages',
    caughtBy: '[CORE-012] a payload of 1 MiB arrives intact',
    engine: (inner) =>
      heard(inner, (sink) =>
        altered(sink, {
          onPipeMessage: (parts, first) => sink.onPipeMessage(parts.map(spoiled), first),
        }),
      ),
  },
  {
    what: 'does not notice that a connection is gone',
    caughtBy: '[CORE-009] a dial to nobody says why',
    engine: (inner) => heard(inner, (sink) => altered(sink, { onPipeClosed: () => undefined })),
  },
  {
    what: 'delivers a record twice',
    caughtBy: '[CORE-001] [C04] 5,000 sends',
    transport: (inner) => {
      let count = 0;
      return told(inner, (sink) => ({
        onRecord: (record, link) => {
          if (++count === 100) sink.onRecord(record, link);
          sink.onRecord(record, link);
        },
      }));
    },
  },
  {
    what: 'swallows cancels',
    caughtBy: '[C12] an abandoned request reaches the other side as a cancel',
    transport: (inner) => told(inner, () => ({ onCancel: () => undefined })),
  },
  {
    what: 'gives a request no time',
    caughtBy: '[WIRE-006] a request carries the time that is left',
    transport: received(() => ({ remainingMs: 0 })),
  },
  {
    what: 'loses metadata',
    caughtBy: '[WIRE-007] [MSG-011] metadata and trace context arrive apart',
    transport: received(() => ({ metadata: undefined })),
  },
  {
    what: 'makes a name anew for every record',
    caughtBy: '[WIRE-004] more names than the table holds arrive',
    transport: received(({ name }) => ({ name: name && { ...name, slot: undefined } })),
  },
  {
    what: 'does not tell of changed descriptors',
    caughtBy: '[WIRE-001] [CS-005] an update with a higher revision arrives',
    transport: (inner) => told(inner, () => ({ onUpdate: () => undefined })),
  },
  {
    what: 'tells of an end twice',
    caughtBy: '[CORE-011] a link that fails ends both sides at once',
    transport: (inner) =>
      told(inner, (sink) => ({
        onClosed: (link, reason) => {
          sink.onClosed(link, reason);
          sink.onClosed(link, reason);
        },
      })),
  },
  {
    what: 'admits whom the topic does not want',
    caughtBy: '[WIRE-001] [NET-004] refused with a reason on both sides: what the topic does not want',
    transport: (inner) =>
      altered(inner, {
        listen: (options) =>
          inner.listen({
            ...options,
            group: { policy: options.group.policy, open: (link) => options.group.open(link) },
          }),
      }),
  },
  {
    what: 'dials again after it was told to stop',
    caughtBy: '[CORE-009] a withdrawn intent ends its link and is never dialled again',
    transport: (inner) =>
      altered(inner, {
        dial: (options) => {
          const intent = inner.dial(options);
          return altered(intent, {
            close: async (lingerMs) => {
              await intent.close(lingerMs);
              inner.dial(options);
            },
          });
        },
      }),
  },
  {
    what: 'forgets what was sent over links that have ended',
    caughtBy: '[CORE-001] a transport sums what has gone over its links',
    transport: (inner) => {
      const ended: Link[] = [];
      const watched = told(inner, (sink) => ({
        onClosed: (link, reason) => {
          ended.push(link);
          sink.onClosed(link, reason);
        },
      }));
      return altered(watched, {
        get status() {
          const { traffic, ...status } = inner.status;
          const forgotten = ended.reduce((sum, link) => sum + link.traffic.sentMessages, 0);
          return { ...status, traffic: { ...traffic, sentMessages: traffic.sentMessages - forgotten } };
        },
      });
    },
  },
  {
    what: 'keeps a permit',
    caughtBy: '[CORE-012] a payload of 1 MiB arrives intact',
    transport: (inner, { permits }) => {
      permits.tryAcquire();
      return inner;
    },
  },
  {
    what: 'leaves a timer behind',
    caughtBy: '[CORE-012] a payload of 1 MiB arrives intact',
    transport: (inner, { clock }) => {
      clock.setTimer(() => undefined, 2_000_000_000);
      return inner;
    },
  },
];
