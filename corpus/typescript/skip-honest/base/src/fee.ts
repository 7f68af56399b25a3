/** One percent, at least ten cents. */
export function fee(cents: number): number {
  return Math.floor(cents / 100);
}
