export default { preset: '../../jest.preset.js', displayName: 'telemetry' };
