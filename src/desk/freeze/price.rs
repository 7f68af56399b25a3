//! What freezes cost.

use std::path::PathBuf;

use jiff::civil::Date;

use super::{LedgerArgs, open, parsed};
use crate::desk::{Failure, coverage, out};
use crate::maps;

/// Which freezes, and on which map.
#[derive(Clone, Debug, clap::Args)]
pub struct PriceArgs {
    /// Where the ledger is.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// The coverage map, packed or not, or an index; several are united.
    #[arg(long, required = true, value_name = "FILE")]
    pub map: Vec<PathBuf>,
    /// A test that is not frozen yet: priced on top of the ledger's live entries. Without it each of those is priced.
    #[arg(long, value_name = "ID")]
    pub nodeid: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn price(args: &PriceArgs, today: Date) -> Result<(), Failure> {
    let opened = match open(&args.ledger) {
        // Whoever prices a test need not have a ledger yet, unless one was named.
        Err(Failure::InputOutput { source, .. })
            if source.kind() == std::io::ErrorKind::NotFound
                && args.ledger.ledger.is_none()
                && !args.nodeid.is_empty() =>
        {
            None
        }
        opened => Some(opened?),
    };
    let frozen: Vec<String> = match &opened {
        Some(opened) => {
            let ledger = parsed(&opened.path, &opened.bytes)?;
            ledger.live(today).map(|freeze| freeze.nodeid.clone()).collect()
        }
        None => Vec::new(),
    };
    let reach = match &opened {
        Some(opened) => opened.policy.freeze.reach,
        None => coverage::reach(args.ledger.policy.as_deref(), &args.ledger.repo)?,
    };
    let index = coverage::open(&args.map)?;
    let (standing, asked) = if args.nodeid.is_empty() { (&[][..], &frozen) } else { (&frozen[..], &args.nodeid) };
    let price = maps::price(&index, standing, asked, reach)?;
    if args.json {
        let text =
            serde_json::to_string_pretty(&coverage::price_json(&price)).expect("a JSON value can always be printed");
        out::print(&format!("{text}\n"))
    } else {
        out::print(&coverage::price_text(&price))
    }
}
