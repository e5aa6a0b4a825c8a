export default { preset: '../../jest.preset.js', displayName: 'location-redis' };
