//! Files that change what git shows, stores and fetches.

use super::{Facts, Finding, Oracle, Rule, moves, wording};
use crate::change::BytePath;
use crate::words::Verdict;

pub(super) struct AttributesEdited;

pub(super) static ATTRIBUTES_EDITED: Rule = Rule {
    id: "attributes-edited",
    verdict: Verdict::Hold,
    when: "A `.gitattributes` or `.gitmodules` file changes.",
    innocent: "Line endings, LFS patterns or a submodule that the project really uses.",
    next: "A person checks which files show no diff, change their bytes on checkout or come from elsewhere now, and a maintainer approves this head.",
};

impl Oracle for AttributesEdited {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&ATTRIBUTES_EDITED] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        wording::over(
            &ATTRIBUTES_EDITED,
            facts.rows,
            |row| row.row.paths().any(is_attributes),
            |number, names| {
                format!("{} git changed: {names}", wording::count(number, "file that steers", "files that steer"))
            },
        )
        .into_iter()
        .collect()
    }
}

/// Whether a path is one of git's own files, in any case.
pub(super) fn is_attributes(path: &BytePath) -> bool {
    let name = moves::file_name(path);
    [&b".gitattributes"[..], b".gitmodules"].iter().any(|known| name.eq_ignore_ascii_case(known))
}
