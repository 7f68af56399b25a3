//! Whether the ledger can be relied on: the same rules as in `score`, on the ledger alone.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::{LedgerArgs, open, parsed};
use crate::change::Git;
use crate::desk::{Failure, out};
use crate::pipeline;
use crate::score::visible;
use crate::words::Verdict;

pub(super) fn check(args: &LedgerArgs, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let opened = open(args)?;
    let ledger = parsed(&opened.path, &opened.bytes)?;
    let git = Git::open(&args.repo)?;
    let base = git.resolve(&args.base)?;
    let origin = opened.path.display().to_string();
    let findings = pipeline::check_ledger(&git, &base, &origin, &ledger, &opened.policy, clock)
        .map_err(|error| Failure::from(error.0))?;
    let mut text = String::new();
    for finding in &findings {
        let line = visible(&format!("{}: {}", finding.rule.id, finding.message));
        writeln!(text, "{line}\n  next: {}", finding.next).expect("writing to a String cannot fail");
    }
    let number = ledger.freezes.len();
    if findings.is_empty() {
        let entries = if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") };
        text = format!("{} is sound: {entries}\n", visible(&origin));
    }
    out::print(&text)?;
    Ok(crate::score::decide(&findings).max(Verdict::Review).exit_code())
}
