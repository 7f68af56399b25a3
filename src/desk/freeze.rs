//! `evidence-gate freeze`: list, check, sign, add and price known flaky failures.

mod add;
mod check;
mod list;
mod price;
mod report;
mod signature;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

use super::{Failure, place};
use crate::evidence::ledger::{self, LARGEST_LEDGER, Ledger, LedgerError};
use crate::policy::Policy;

pub use add::AddArgs;
pub use price::PriceArgs;
pub use signature::{HowArgs, SeenArgs, SignatureArgs};

/// What to do with the freeze ledger.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum FreezeCommand {
    /// List what is frozen, and until when.
    List(LedgerArgs),
    /// Say whether the ledger can be relied on, and name every entry and field that cannot.
    ///
    /// Exits with 0 when `score` would take it, with 2 when it would be unscored, with 65 when it is no ledger.
    Check(LedgerArgs),
    /// Print the signature of a failure, and what it is made of.
    Signature(SignatureArgs),
    /// Freeze a failure that a report or a record shows; the entry is written for a person to commit.
    Add(AddArgs),
    /// Say which lines and files lose their only observer by a freeze.
    Price(PriceArgs),
}

/// Which ledger.
#[derive(Clone, Debug, clap::Args)]
pub struct LedgerArgs {
    /// The ledger; without it the file that the policy names in `freeze.ledger`.
    #[arg(value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// The working copy.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub repo: PathBuf,
    /// The policy; without it the working copy's.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// The commit that entries must be bound to: the tip of the branch that the ledger is meant for.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub base: String,
}

/// Does it, and returns the exit code.
pub fn freeze(command: &FreezeCommand, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let today = Offset::UTC.to_datetime(clock()).date();
    match command {
        FreezeCommand::List(args) => list::list(args, today).map(|()| 0),
        FreezeCommand::Check(args) => check::check(args, clock),
        FreezeCommand::Signature(args) => signature::signature(args).map(|()| 0),
        FreezeCommand::Add(args) => add::add(args, today).map(|()| 0),
        FreezeCommand::Price(args) => price::price(args, today).map(|()| 0),
    }
}

/// A ledger that was read, where it stands, and the policy that it is held against.
struct Opened {
    path: PathBuf,
    bytes: Vec<u8>,
    policy: Policy,
}

fn open(args: &LedgerArgs) -> Result<Opened, Failure> {
    let top = place::working_copy(&args.repo)?;
    let policy = place::policy(args.policy.as_deref(), &top)?;
    let path = args.ledger.clone().unwrap_or_else(|| top.join(policy.freeze.ledger.as_str()));
    let bytes = std::fs::read(&path).map_err(|source| Failure::read(path.display(), source))?;
    if bytes.len() as u64 > LARGEST_LEDGER {
        return Err(Failure::BadInput(format!("{} has more than {LARGEST_LEDGER} bytes", path.display())));
    }
    Ok(Opened { path, bytes, policy })
}

/// Every fault on a line of its own.
fn parsed(path: &Path, bytes: &[u8]) -> Result<Ledger, Failure> {
    ledger::parse(bytes).map_err(|error| {
        let origin = path.display();
        let text = match &error {
            LedgerError::Document(why) => format!("{origin}: {why}"),
            LedgerError::Entries(faults) => {
                let lines: Vec<String> = faults.iter().map(|fault| format!("{origin}: {fault}")).collect();
                lines.join("\n")
            }
        };
        Failure::BadInput(text.lines().map(crate::score::visible).collect::<Vec<_>>().join("\n"))
    })
}

/// `3 days left`, `ended 2 days ago`, `no last day`.
fn days_left(expires_on: Option<Date>, today: Date) -> String {
    let Some(last) = expires_on else { return "no last day".to_owned() };
    let days = today.until(last).map_or(0, |span| span.get_days());
    let count = |days: i32| if days == 1 { "1 day".to_owned() } else { format!("{days} days") };
    match days {
        0 => "ends today".to_owned(),
        1.. => format!("{} left", count(days)),
        _ => format!("ended {} ago", count(-days)),
    }
}
