export default { preset: '../../jest.preset.js', displayName: 'conformance' };
