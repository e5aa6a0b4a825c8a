import { hostSections, type Topic } from '../../../src/internal/host/index.ts';

/** Of a topic only what a snapshot asks for. */
function busyTopic(running: number, queued: number): Topic {
  const asked: Pick<Topic, 'showIn' | 'counters'> = {
    showIn: ({ backlog }) => {
      backlog.running += running;
      backlog.queued += queued;
    },
    counters: () => {
      throw new Error('rows of counters are made for who asks for them');
    },
  };
  return asked as Topic;
}

test('[MON-002] what the topics have in hand is added up without making their counters', () => {
  const facts = { state: 'serving', lifecycleGeneration: 1n, diagnosticsLevel: 'errors' } as const;
  const topics = [busyTopic(1, 2), busyTopic(0, 0), busyTopic(3, 4)];
  const { host } = hostSections({ ...facts, deadline: undefined, shutdownResult: undefined }, topics, undefined);
  expect([host.backlog.runningHandlers, host.jobs.queued]).toEqual([4, 6]);
});
