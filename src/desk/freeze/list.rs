//! What is frozen, and until when.

use std::fmt::Write as _;

use jiff::civil::Date;

use super::{LedgerArgs, days_left, open, parsed};
use crate::desk::{Failure, out};
use crate::score::visible;

pub(super) fn list(args: &LedgerArgs, today: Date) -> Result<(), Failure> {
    let opened = open(args)?;
    let ledger = parsed(&opened.path, &opened.bytes)?;
    let live = ledger.live(today).count();
    let mut text = format!("{live} live, {} ended\n", ledger.freezes.len() - live);
    for freeze in &ledger.freezes {
        let key = freeze.failure.as_ref().map_or("no signature", |failure| failure.signature.as_str());
        let until = freeze.expires_on.map_or_else(|| "-".to_owned(), |last| last.to_string());
        let left = days_left(freeze.expires_on, today);
        let reason = freeze.reason.as_deref().unwrap_or("no reason given");
        let line = format!("{key}  {until} ({left})  {}: {reason}", freeze.nodeid);
        writeln!(text, "{}", visible(&line)).expect("writing to a String cannot fail");
    }
    out::print(&text)
}
