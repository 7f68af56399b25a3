//! `evidence-gate coverage list`: the maps that were uploaded to this host, and what became of each.

use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::InspectFormat;
use crate::config::{self, Settings};
use crate::desk::{Failure, out};
use crate::maps::{Depot, Fate, Listed};
use crate::score::visible;

/// Which maps, and how they are shown.
#[derive(Clone, Debug, clap::Args)]
pub struct ListArgs {
    /// The configuration file; `EVIDENCE_GATE_*` variables win over it.
    #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
    pub config: Option<PathBuf>,
    /// Only those of this repository, by its name or its number.
    #[arg(long, value_name = "REPOSITORY")]
    pub repo: Option<String>,
    /// Text for people, or JSON.
    #[arg(long, value_enum, default_value_t = InspectFormat::Text)]
    pub format: InspectFormat,
}

/// Does it.
pub(super) fn list(args: &ListArgs, now: Timestamp) -> Result<(), Failure> {
    let settings = Settings::load(args.config.as_deref(), &config::environment())?;
    let folder = &settings.data_dir;
    let mut maps = Depot::below(folder).list().map_err(|source| Failure::read(folder.display(), source))?;
    if let Some(wanted) = &args.repo {
        let is = |one: &Listed| {
            let repository = &one.receipt.repository;
            repository.name.as_str() == wanted || repository.id.to_string() == *wanted
        };
        maps.retain(is);
    }
    match args.format {
        InspectFormat::Text => out::print(&as_text(&maps, now)),
        InspectFormat::Json => {
            let rows: Vec<Value> = maps.iter().map(|one| as_json(one, now)).collect();
            let text = serde_json::to_string_pretty(&rows).expect("a JSON value can always be printed");
            out::print(&format!("{text}\n"))
        }
    }
}

fn as_text(maps: &[Listed], now: Timestamp) -> String {
    if maps.is_empty() {
        return "no map was uploaded\n".to_owned();
    }
    let mut text = String::new();
    for one in maps {
        let receipt = &one.receipt;
        let jitter = if one.jitter > 0 { format!(", {} in doubt", one.jitter) } else { String::new() };
        let fate = match &receipt.fate {
            Fate::Pending => "pending".to_owned(),
            Fate::Taken => format!("counts: {} tests{jitter}", one.tests),
            Fate::Refused(why) => format!("refused: {why}"),
        };
        let age = age(now.duration_since(receipt.received));
        let (commit, digest) = (receipt.commit.short(), &receipt.digest[..12]);
        let line = format!("{} {commit}  {age:>4}  {digest}  {}  {fate}", receipt.repository, receipt.by.what);
        writeln!(text, "{}", visible(&line)).expect("writing to a String cannot fail");
    }
    text
}

/// The largest unit that is full: `12 s`, `5 m`, `3 h`, `9 d`.
fn age(age: SignedDuration) -> String {
    let seconds = age.as_secs().max(0);
    let (count, unit) = match seconds {
        0..60 => (seconds, 's'),
        60..3_600 => (seconds / 60, 'm'),
        3_600..86_400 => (seconds / 3_600, 'h'),
        _ => (seconds / 86_400, 'd'),
    };
    format!("{count} {unit}")
}

fn as_json(one: &Listed, now: Timestamp) -> Value {
    let receipt = &one.receipt;
    let (fate, why) = match &receipt.fate {
        Fate::Pending => ("pending", None),
        Fate::Taken => ("taken", None),
        Fate::Refused(why) => ("refused", Some(why)),
    };
    json!({
        "forge": receipt.repository.forge, "repository": receipt.repository.id, "name": receipt.repository.name,
        "commit": receipt.commit, "sha256": receipt.digest, "bytes": receipt.bytes, "by": receipt.by.what, "ref": receipt.by.reference,
        "received": receipt.received.to_string(), "age_seconds": now.duration_since(receipt.received).as_secs(),
        "fate": fate, "why": why, "index": one.index, "tests": one.tests, "jitter": one.jitter,
    })
}
