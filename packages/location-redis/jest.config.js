// The tests wait for servers most of the time, so more of them than cores run side by side.
export default { preset: '../../jest.preset.js', displayName: 'location-redis', maxWorkers: 3 };
