import { readMemoryFacts, readProcessorFacts } from '../src/index.ts';

const GIB = 1_073_741_824;
const version1 = '/sys/fs/cgroup/memory/memory.limit_in_bytes';
const version2 = '/sys/fs/cgroup/memory.max';

test.each<[string, Readonly<Record<string, string>>, number | undefined]>([
  ['version 2', { [version2]: '536870912' }, 536_870_912],
  ['version 2 without a limit', { [version2]: 'max' }, undefined],
  ['version 1', { [version1]: '268435456' }, 268_435_456],
  ['version 1 without a limit', { [version1]: '9223372036854771712' }, undefined],
  ['both', { [version2]: '536870912', [version1]: '268435456' }, 536_870_912],
  ['more than the machine has', { [version2]: String(8 * GIB) }, undefined],
  ['nonsense', { [version2]: '-1', [version1]: 'lots' }, undefined],
  ['no container', {}, undefined],
])('[JOBQ-002] the limit of a container: %s', (_, files, containerBytes) => {
  expect(readMemoryFacts((path) => files[path], 4 * GIB, 0)).toMatchObject({ containerBytes, physicalBytes: 4 * GIB });
});

test.each<[string, number, string, number | undefined]>([
  ['of its own group', GIB, 'max', GIB],
  ['of its own group, smaller than that of the outermost', GIB, String(2 * GIB), GIB],
  ['of its own group, larger than that of the outermost', 3 * GIB, String(2 * GIB), 2 * GIB],
  ['as large as a number may be', 18_446_744_073_709_552_000, 'max', undefined],
  ['as large as the machine', 4 * GIB, 'max', undefined],
])('[JOBQ-002] the limit that Node.js knows: %s', (_, constrainedBytes, outermost, containerBytes) => {
  const read = (path: string): string | undefined => (path === version2 ? outermost : undefined);
  expect(readMemoryFacts(read, 4 * GIB, constrainedBytes).containerBytes).toBe(containerBytes);
});

const system = (files: Readonly<Record<string, string>>) => readProcessorFacts((path) => files[path], 64);

test.each([
  ['version 2', { '/sys/fs/cgroup/cpu.max': '250000 100000', '/sys/fs/cgroup/cpuset.cpus.effective': '0-3,8' }, 5, 2],
  ['version 2, no quota', { '/sys/fs/cgroup/cpu.max': 'max 100000' }, undefined, undefined],
  ['version 2, less than one processor', { '/sys/fs/cgroup/cpu.max': '50000 100000' }, undefined, 1],
  [
    'version 1',
    {
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '300000',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
      '/sys/fs/cgroup/cpuset/cpuset.effective_cpus': '7',
    },
    1,
    3,
  ],
  [
    'version 1, no quota',
    { '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1', '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000' },
    undefined,
    undefined,
  ],
  [
    'files of other content',
    { '/sys/fs/cgroup/cpu.max': '', '/sys/fs/cgroup/cpuset.cpus.effective': 'all' },
    undefined,
    undefined,
  ],
  ['no such files', {}, undefined, undefined],
])('[JOBQ-003] processors of a container: %s', (_, files, affinity, quota) => {
  expect(system(files)).toEqual({ parallelism: 64, affinity, quota });
});
