//! Statements over many rows. Each statement costs two hops between threads, each row next to nothing.

use sqlx::AssertSqlSafe;

/// Rows of one statement at most. Few different lengths keep the number of prepared statements small.
const LARGEST: usize = 64;

/// Cuts a list into pieces of 64, 32, 16, 8, 4, 2 and 1.
pub(super) fn chunks<T>(mut rest: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let largest = 1 << rest.len().checked_ilog2()?;
        let (chunk, left) = rest.split_at(LARGEST.min(largest));
        rest = left;
        Some(chunk)
    })
}

/// `head tuple, tuple, … tail` with `count` tuples. All three are literals of this room; values are bound.
pub(super) fn values(head: &str, tuple: &str, count: usize, tail: &str) -> AssertSqlSafe<String> {
    AssertSqlSafe(format!("{head}{}{tail}", vec![tuple; count].join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_make_up_the_list_in_order() {
        let list: Vec<usize> = (0..203).collect();
        let lengths: Vec<usize> = chunks(&list).map(<[_]>::len).collect();
        assert_eq!(lengths, [64, 64, 64, 8, 2, 1]);
        assert_eq!(chunks(&list).flatten().copied().collect::<Vec<_>>(), list);
        assert_eq!(chunks::<u8>(&[]).count(), 0);
    }

    #[test]
    fn tuples_are_parted_by_commas() {
        assert_eq!(values("VALUES ", "(?)", 3, ";").0, "VALUES (?), (?), (?);");
    }
}
