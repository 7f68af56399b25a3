const { fee } = require('../src/fee');

test('a small amount costs ten cents', async () => {
  await expect(Promise.resolve(fee(500))).resolves.toBe(10);
});
