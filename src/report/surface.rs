//! The changed lines that only frozen tests run, and those that no test runs: file by file, in runs.

use std::collections::BTreeMap;

use crate::score::{OverlapRow, Record, UnobservedRow};

/// Lines of one file that follow each other on both sides and have the same observers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines<'a> {
    /// Numbers at the merge base, first and last.
    pub old: Option<(u32, u32)>,
    /// Numbers at head, first and last; `None` where they are gone.
    pub head: Option<(u32, u32)>,
    /// The frozen tests that run them; none for lines that no test runs.
    pub tests: &'a [String],
}

impl Lines<'_> {
    /// `12-14`, or `-` where there are none.
    pub fn at_head(&self) -> String {
        shown(self.head)
    }

    /// As [`Lines::at_head`], of the merge base.
    pub fn at_merge_base(&self) -> String {
        shown(self.old)
    }
}

fn shown(lines: Option<(u32, u32)>) -> String {
    match lines {
        None => "-".to_owned(),
        Some((first, last)) if first == last => first.to_string(),
        Some((first, last)) => format!("{first}-{last}"),
    }
}

/// File by file what only frozen tests run.
pub fn overlap(record: &Record) -> BTreeMap<&str, Vec<Lines<'_>>> {
    let line = |row: &OverlapRow| (row.old_line, row.head_line);
    in_runs(record.overlap.iter().map(|row| (row.path.as_str(), line(row), row.frozen_tests.as_slice())))
}

/// File by file what no test runs.
pub fn unobserved(record: &Record) -> BTreeMap<&str, Vec<Lines<'_>>> {
    let line = |row: &UnobservedRow| (row.old_line, row.head_line);
    in_runs(record.unobserved.iter().map(|row| (row.path.as_str(), line(row), [].as_slice())))
}

type Row<'a> = (&'a str, (Option<u32>, Option<u32>), &'a [String]);

fn in_runs<'a>(rows: impl Iterator<Item = Row<'a>>) -> BTreeMap<&'a str, Vec<Lines<'a>>> {
    let mut files: BTreeMap<&str, Vec<Lines<'_>>> = BTreeMap::new();
    for (path, (old, head), tests) in rows {
        let runs = files.entry(path).or_default();
        match runs.last_mut().filter(|run| run.tests == tests) {
            Some(run) if joins(run.old, old) && joins(run.head, head) => {
                extend(&mut run.old, old);
                extend(&mut run.head, head);
            }
            _ => runs.push(Lines { old: old.map(|n| (n, n)), head: head.map(|n| (n, n)), tests }),
        }
    }
    files
}

/// Whether a line stands in a run or right behind it. Lines without a number join each other.
fn joins(run: Option<(u32, u32)>, line: Option<u32>) -> bool {
    match (run, line) {
        (None, None) => true,
        (Some((_, last)), Some(line)) => line == last || Some(line) == last.checked_add(1),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn extend(run: &mut Option<(u32, u32)>, line: Option<u32>) {
    if let (Some((_, last)), Some(line)) = (run.as_mut(), line) {
        *last = line;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_follow_each_other_under_the_same_tests_are_one_run() {
        let (a, b) = ([String::from("a")], [String::from("b")]);
        let rows: Vec<Row<'_>> = vec![
            ("f", (Some(1), Some(4)), &a),
            ("f", (Some(2), Some(5)), &a),
            ("f", (Some(3), Some(5)), &a),
            ("f", (Some(4), Some(6)), &b),
            ("f", (Some(5), None), &b),
            ("f", (Some(6), None), &b),
            ("g", (None, Some(1)), &[]),
            ("g", (None, Some(2)), &[]),
            ("g", (None, Some(9)), &[]),
        ];
        let told = |lines: &Lines<'_>| format!("{} {}", lines.at_merge_base(), lines.at_head());
        let runs: Vec<String> = in_runs(rows.into_iter()).values().flatten().map(told).collect();
        assert_eq!(runs, ["1-3 4-5", "4 6", "5-6 -", "- 1-2", "- 9"]);
    }
}
