export default { preset: '../../jest.preset.js', displayName: 'codec-protobuf' };
