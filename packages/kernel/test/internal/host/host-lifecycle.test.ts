import type { MonitoringFact } from '../../../src/observe/index.ts';
import { HostLifecycle } from '../../../src/internal/host/index.ts';
import { STOPPED } from '../../../src/lifecycle/index.ts';
import { thrownBy } from '../../thrown.ts';

class Begun {
  /** Later than any start before: those of one process have rising generations. */
  dateMs = Date.UTC(2100, 0, 1);
  readonly told: MonitoringFact[] = [];
  readonly life = new HostLifecycle({ tell: (fact) => void this.told.push(fact) }, () => this.dateMs);
}

test('[HOST-007] [DRAIN-007] each state is told once, and how a host has ended before it has stopped', () => {
  const { life, told } = new Begun();
  life.begin();
  life.become('serving');
  life.drain(1_000);
  life.end(STOPPED);
  expect(told.map((fact) => ('state' in fact ? fact.state : fact.type))).toEqual([
    'starting',
    'serving',
    'draining',
    'zlink.runtime.host.termination_changed',
    'stopped',
  ]);
  expect(thrownBy(() => life.become('serving'))).toMatchObject({ kind: 'InternalFailure' });
  expect(told).toHaveLength(5);
});

test('[MON-002] the deadline is there while the host drains, its result from then on, by the calendar that it was given', () => {
  const parts = new Begun();
  const { life } = parts;
  expect(life.facts('errors')).toEqual({ state: 'configuring', lifecycleGeneration: 0n, diagnosticsLevel: 'errors' });
  life.begin();
  const { lifecycleGeneration } = life.facts('errors');
  expect(lifecycleGeneration).toBeGreaterThanOrEqual(BigInt(parts.dateMs));
  parts.dateMs += 5_000;
  life.drain(1_000);
  expect(life.facts('off')).toMatchObject({ state: 'draining', deadline: new Date(parts.dateMs + 1_000) });
  life.end(STOPPED);
  expect(life.facts('off')).toMatchObject({ state: 'stopped', deadline: undefined, shutdownResult: STOPPED });
});

test('[DRAIN-007] a host that ends before its start tells nothing', () => {
  const { life, told } = new Begun();
  life.endUnstarted();
  expect([life.isOver, life.facts('off').shutdownResult, told]).toEqual([true, STOPPED, []]);
});
