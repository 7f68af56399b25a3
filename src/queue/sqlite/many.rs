//! Statements over many rows. Each statement costs two hops between threads, each row next to nothing.

use sqlx::AssertSqlSafe;

/// Rows of one statement at most. Every length is prepared once and kept (see `open.rs`), so this bounds what is kept.
pub(super) const LARGEST: usize = 64;

/// Cuts a list into pieces for one statement each.
pub(super) fn chunks<T>(list: &[T]) -> impl Iterator<Item = &[T]> {
    list.chunks(LARGEST)
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
        assert_eq!(lengths, [64, 64, 64, 11]);
        assert_eq!(chunks(&list).flatten().copied().collect::<Vec<_>>(), list);
        assert_eq!(chunks::<u8>(&[]).count(), 0);
    }

    #[test]
    fn tuples_are_parted_by_commas() {
        assert_eq!(values("VALUES ", "(?)", 3, ";").0, "VALUES (?), (?), (?);");
    }
}
