export default { preset: '../../jest.preset.js', displayName: 'zlink-top' };
