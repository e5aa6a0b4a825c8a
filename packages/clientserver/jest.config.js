export default { preset: '../../jest.preset.js', displayName: 'clientserver' };
