import { TopologyHealth, type TopologyReason, type TopologyStatus } from '../../../src/observe/index.ts';

function arrange() {
  const told: TopologyStatus[] = [];
  const rig = { told, missing: [] as TopologyReason[] };
  const health = new TopologyHealth({ missing: () => rig.missing, onChanged: (status) => void told.push(status) });
  return { ...rig, health, miss: (...reasons: TopologyReason[]) => void (rig.missing = reasons) };
}

test('[MON-003] what is missing counts while a topology serves, and not before or after', () => {
  const { health, told, miss } = arrange();
  miss('no_ready_target');
  health.refresh();
  expect([health.status, told]).toEqual([{ state: 'starting', reasons: ['runtime_not_ready'] }, []]);
  health.become('serving');
  health.become('stopping');
  health.become('stopped');
  health.refresh();
  expect(told).toEqual([
    { state: 'degraded', reasons: ['no_ready_target'] },
    { state: 'stopping', reasons: ['draining'] },
    { state: 'stopped', reasons: [] },
  ]);
});

test('[MON-004] a topology is degraded as long as something is missing, and tells only what has changed', () => {
  const { health, told, miss } = arrange();
  health.become('serving');
  for (let count = 0; count < 3; count++) health.refresh();
  miss('location_unavailable');
  health.refresh();
  health.refresh();
  miss('location_unavailable', 'no_ready_peer');
  health.refresh();
  miss();
  health.refresh();
  expect(told).toEqual([
    { state: 'ready', reasons: [] },
    { state: 'degraded', reasons: ['location_unavailable'] },
    { state: 'degraded', reasons: ['location_unavailable', 'no_ready_peer'] },
    { state: 'ready', reasons: [] },
  ]);
});

test('[MON-004] one whose start has failed says so to the end', () => {
  const { health, told } = arrange();
  health.become('failed');
  health.become('stopped');
  expect(told).toEqual([{ state: 'failed', reasons: ['internal_failure'] }]);
});
