const { fee } = require('../src/fee');

test('a large amount costs one percent', () => {
  expect(fee(5000)).toBe(50);
});

test('a small amount costs ten cents', () => {
  expect(fee(500)).toBe(10);
});
