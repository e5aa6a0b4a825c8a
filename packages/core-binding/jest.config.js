export default { preset: '../../jest.preset.js', displayName: 'core-binding' };
