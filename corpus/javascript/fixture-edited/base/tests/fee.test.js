const { fee } = require('../src/fee');
const fees = require('./fixtures/fees.json');

test.each(Object.entries(fees))('%s cents', (cents, wanted) => {
  expect(fee(Number(cents))).toBe(wanted);
});
