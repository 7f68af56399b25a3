//! A row that git reports with a letter we do not know.

use super::{Facts, Finding, Oracle, Rule, wording};
use crate::change::Status;
use crate::words::Verdict;

pub(super) struct UnparsedStatus;

pub(super) static UNPARSED_STATUS: Rule = Rule {
    id: "unparsed-status",
    verdict: Verdict::Unscored,
    when: "A row has the status U or X, or a letter that is not known.",
    innocent: "Never: what happened to the file is unknown.",
    next: "Push the branch again after resolving any conflict in it; if it stays, report it with the letter that the message names.",
};

impl Oracle for UnparsedStatus {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&UNPARSED_STATUS] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let mut letters: Vec<char> = Vec::new();
        for row in facts.rows {
            if let Status::Unparsed(_) = row.row.status {
                letters.push(row.row.status.letter());
            }
        }
        letters.sort_unstable();
        letters.dedup();
        let letters: Vec<String> = letters.into_iter().map(|letter| letter.escape_debug().to_string()).collect();
        wording::over(
            &UNPARSED_STATUS,
            facts.rows,
            |row| matches!(row.row.status, Status::Unparsed(_)),
            |number, names| {
                let rows = wording::count(number, "row has", "rows have");
                format!("{rows} a status that cannot be judged ({}): {names}", letters.join(", "))
            },
        )
        .into_iter()
        .collect()
    }
}
