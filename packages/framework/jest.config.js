// Its tests are the longest and wait for leases, limits and children more than they compute.
export default { preset: '../../jest.preset.js', displayName: 'framework', maxWorkers: 3 };
