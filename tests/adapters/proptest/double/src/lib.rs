//! The product.

/// Twice as much.
pub fn double(n: i64) -> i64 {
    n + n
}
