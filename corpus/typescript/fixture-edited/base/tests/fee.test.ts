import { expect, test } from 'vitest';
import { fee } from '../src/fee';
import fees from './fixtures/fees.json';

test.each(Object.entries(fees))('%s cents', (cents, wanted) => {
  expect(fee(Number(cents))).toBe(wanted);
});
