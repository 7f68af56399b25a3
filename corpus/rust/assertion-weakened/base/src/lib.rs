/// One percent, at least ten cents.
pub fn fee(cents: u64) -> u64 {
    cents / 100
}
