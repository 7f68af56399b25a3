//! Findings place by place, for formats that want a file and a line for each.

use std::collections::BTreeMap;

use crate::change::Sha256;
use crate::policy::Policy;
use crate::score::{FindingRow, Record};

/// A finding at one place.
pub(super) struct Placed<'r> {
    pub(super) finding: &'r FindingRow,
    /// Where; the policy for a finding about the change as a whole.
    pub(super) path: String,
    /// From 1; `None` for the whole file.
    pub(super) line: Option<u32>,
    /// The last line; `None` for one line.
    pub(super) end_line: Option<u32>,
    /// The same for the same rule at the same place of the same file in the next push, although lines move: sha256 over rule, path and
    /// the how-many-eth place it is. No two places of a record have one.
    pub(super) fingerprint: String,
}

/// Every place of every finding, in the record's order.
pub(super) fn placed(record: &Record) -> Vec<Placed<'_>> {
    let mut seen: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut all = Vec::new();
    for finding in &record.findings {
        let places = finding.locations.iter().map(|at| (at.path.clone(), at.line, at.end_line));
        let whole = finding.locations.is_empty().then(|| (Policy::FILE.to_owned(), None, None));
        for (path, line, end_line) in places.chain(whole) {
            let number = seen.entry((&finding.rule, path.clone())).or_default();
            *number += 1;
            let fingerprint = Sha256::of(format!("{}\0{path}\0{number}", finding.rule).as_bytes()).to_string();
            all.push(Placed { finding, path, line, end_line, fingerprint });
        }
    }
    all
}
