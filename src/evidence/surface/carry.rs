//! A map of an older commit -> the merge base's numbers.

use roaring::RoaringBitmap;

use super::diff::{hunks, lines};
use crate::maps::FileSurface;

/// What an older commit's map says of a file, in the numbers of the merge base. A line that changed in between has no observer, and a file
/// that has its holes in such lines only has none.
pub fn carried(known: &FileSurface, then: &[u8], now: &[u8]) -> FileSurface {
    let (then, now) = (lines(then), lines(now));
    let mut new_number: Vec<Option<u32>> = vec![None; then.len()];
    let (mut old_at, mut new_at) = (0, 0);
    let end = super::diff::Hunk { old: then.len()..then.len(), new: now.len()..now.len() };
    for hunk in hunks(&then, &now).into_iter().chain([end]) {
        for (old, new) in (old_at..hunk.old.start).zip(new_at..hunk.new.start) {
            new_number[old] = u32::try_from(new + 1).ok();
        }
        (old_at, new_at) = (hunk.old.end, hunk.new.end);
    }
    let moved = |line: u32| new_number.get((line as usize).checked_sub(1)?).copied().flatten();
    let all = |lines: &RoaringBitmap| lines.iter().filter_map(moved).collect::<RoaringBitmap>();
    FileSurface {
        live: all(&known.live),
        frozen: known.frozen.iter().filter_map(|(line, tests)| Some((moved(*line)?, tests.clone()))).collect(),
        import: all(&known.import),
        executable: known.executable.as_ref().map(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_observers_under_new_numbers_and_changed_ones_lose_them() {
        let known = FileSurface {
            live: [1, 2].into_iter().collect(),
            frozen: [(3, vec!["t".to_owned()]), (4, vec!["t".to_owned()])].into(),
            import: [5, 9].into_iter().collect(),
            executable: Some([2, 3].into_iter().collect()),
        };
        let carried = carried(&known, b"a\nb\nc\nd\ne\n", b"new\na\nb\nC\nd\ne\n");
        assert_eq!(carried.live.iter().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(carried.frozen.keys().copied().collect::<Vec<_>>(), [5]);
        assert_eq!(carried.import.iter().collect::<Vec<_>>(), [6]);
        assert_eq!(carried.executable.map(|lines| lines.iter().collect::<Vec<_>>()), Some(vec![3]));
    }
}
