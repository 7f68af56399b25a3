//! Entries that are more, or less, than the bytes of a file.

use super::{Facts, Finding, Location, Oracle, Rule, wording};
use crate::change::{BytePath, Mode, PathChange, Status};
use crate::words::Verdict;

pub(super) struct ModeOrTypeChange;

pub(super) static MODE_OR_TYPE_CHANGE: Rule = Rule {
    id: "mode-or-type-change",
    verdict: Verdict::Hold,
    when: "Outside evidence a mode or type changes, or a symbolic link or submodule is added, edited or removed.",
    innocent: "A script becomes executable, or a link that the project keeps.",
    next: "A person looks at what these entries are now, and a maintainer approves this head.",
};

impl Oracle for ModeOrTypeChange {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&MODE_OR_TYPE_CHANGE] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let mut odd: Vec<(&BytePath, String)> = facts
            .rows
            .iter()
            .filter(|row| !row.class.is_evidence())
            .filter_map(|row| Some((row.row.path(), what(row.row)?)))
            .collect();
        odd.sort();
        odd.dedup();
        if odd.is_empty() {
            return Vec::new();
        }
        let named = odd.iter().map(|(path, what)| format!("{} ({what})", wording::name(path))).collect();
        let message = format!(
            "{} a link or submodule, or changed mode: {}",
            wording::count(odd.len(), "entry is", "entries are"),
            wording::list(named)
        );
        vec![Finding::new(&MODE_OR_TYPE_CHANGE, message).at(odd.iter().map(|(path, _)| Location::file(path)))]
    }
}

/// What is unusual about a row; `None` for an ordinary file that stays one, with the mode that it had. A mode that changes together
/// with the bytes counts too: one edited letter must not hide it.
fn what(row: &PathChange) -> Option<String> {
    let (old, new) = (row.old.as_ref().map(|side| side.mode), row.new.as_ref().map(|side| side.mode));
    match (old, new) {
        (Some(old), Some(new)) if old != new && kind(old) == kind(new) => Some(format!("mode {old} to {new}")),
        (Some(old), Some(new)) if old != new => Some(format!("{} to {}", kind(old), kind(new))),
        (_, Some(mode)) if !mode.is_file() => Some(kind(mode).to_owned()),
        (Some(mode), None) if !mode.is_file() => Some(format!("{} removed", kind(mode))),
        (None, Some(mode)) if !matches!(mode, Mode::FILE | Mode::EXECUTABLE) => Some(format!("mode {mode}")),
        _ => (row.status == Status::TypeChanged).then(|| "type change".to_owned()),
    }
}

fn kind(mode: Mode) -> &'static str {
    match mode {
        mode if mode.is_file() => "file",
        Mode::SYMLINK => "symbolic link",
        Mode::SUBMODULE => "submodule",
        Mode::TREE => "folder",
        _ => "entry of unknown kind",
    }
}
