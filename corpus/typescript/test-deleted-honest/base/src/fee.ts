/** One percent, at least ten cents. */
export function fee(cents: number): number {
  return Math.floor(cents / 100);
}

export function testRate(): number {
  return 0.01;
}
