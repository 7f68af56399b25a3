//! `evidence-gate replay`: the evaluation of a record once more, and where it comes out otherwise.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::{Failure, cache, out, score};
use crate::change::Git;
use crate::config;
use crate::pipeline::{self, LaneAsked, Origin, Question};
use crate::score::{Record, visible};
use crate::words::{BaseSha, ForgeKind, HeadSha};

/// The largest record that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// The most differences that are shown.
const SHOWN: usize = 50;

/// What `replay` is asked.
#[derive(Clone, Debug, clap::Args)]
pub struct ReplayArgs {
    /// The record: what `score --format json` wrote, or what the bot keeps.
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// A repository that holds the record's commits.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub repo: PathBuf,
    /// The operator's policy, where the record was made with one.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// The operator's fixture lock, where the record was made with one.
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
    /// The operator's freeze ledger, where the record was made with one.
    #[arg(long, value_name = "FILE")]
    pub freeze: Option<PathBuf>,
    /// The coverage map, where the record was made with one.
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// The operator's oracles, where the record was made with them.
    #[arg(long, value_name = "DIR")]
    pub oracles: Option<PathBuf>,
    /// The configuration whose section `[sandbox]` says how properties and live tests are run.
    #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
    pub config: Option<PathBuf>,
}

/// Judges the record's commits again, on the day of the record, and prints every difference. 0 when there is none, else 1.
pub fn replay(args: &ReplayArgs, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let old = read(&args.record)?;
    if old.pull.is_some() || old.forge != ForgeKind::Local {
        out::tell(
            "this record is of a pull request: labels, reviews and the scope of its policy are the forge's, and are not replayed",
        );
    }
    let git = Git::open(&args.repo).map_err(Failure::from)?;
    let id = |text: &str, what: &str| {
        let id = text.parse().map_err(|error| Failure::BadInput(format!("the record's {what}: {error}")))?;
        git.resolve(text).map_err(|_| {
            let repo = args.repo.display();
            Failure::Usage(format!(
                "{repo} does not hold the record's {what} {text}: fetch it, or name another repository with --repo"
            ))
        })?;
        Ok::<_, Failure>(id)
    };
    let on =
        old.run.started.parse().map_err(|error| Failure::BadInput(format!("the record's `run.started`: {error}")))?;
    let running = score::running(args.config.as_deref(), args.oracles.as_deref(), seed(&old))?;
    let question = Question {
        origin: Origin::Local { name: old.repository.name.clone() },
        base_ref: old.base_ref.clone(),
        base: BaseSha(id(&old.base, "base")?),
        head: HeadSha(id(&old.head, "head")?),
        policy: args.policy.as_deref().map(score::read_policy).transpose()?,
        lock: args.lock.as_deref().map(score::read_own).transpose()?,
        ledger: args.freeze.as_deref().map(score::read_own).transpose()?,
        map: args.map.as_deref().map(score::read_map).transpose()?,
        maps: None,
        reviews: None,
        lane: if old.lane.is_some() { LaneAsked::Always } else { LaneAsked::ByLabel },
        known_digests: cache::known_digests(&args.repo, &config::environment()),
        running,
        runner: old.run.runner.clone(),
        today: Some(on),
        clock,
    };
    let new = pipeline::score(&git, &question).map_err(|error| Failure::from(error.0))?;
    let differences = differences(&old, &new)?;
    if differences.is_empty() {
        out::print(&format!("the same: {}\n", visible(&new.title)))?;
        return Ok(0);
    }
    let mut text = format!("{} differ between the record and its replay:\n", differences.len());
    for difference in differences.iter().take(SHOWN) {
        text.push_str(&visible(difference));
        text.push('\n');
    }
    if let Some(more) = differences.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        writeln!(text, "and {more} more").expect("writing to a string works");
    }
    out::print(&text)?;
    Ok(1)
}

fn read(path: &Path) -> Result<Record, Failure> {
    let name = path.display();
    let size = std::fs::metadata(path).map_err(|source| Failure::read(name, source))?.len();
    if size > LARGEST {
        return Err(Failure::BadInput(format!("{} has {size} bytes, and at most {LARGEST} are read", path.display())));
    }
    let bytes = std::fs::read(path).map_err(|source| Failure::read(path.display(), source))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::BadInput(format!("{} is no record: {error}", path.display())))
}

/// The seed of the record's properties, where they all drew from one: the policy's own, or the one that a person gave.
fn seed(record: &Record) -> Option<i64> {
    let mut seeds = record.properties.iter().map(|property| property.seed);
    let first = seeds.next()??;
    seeds.all(|seed| seed == Some(first)).then_some(first)
}

/// Every value that differs, by its place. Of the run nothing is compared, and of the forge only what a repository can know.
fn differences(old: &Record, new: &Record) -> Result<Vec<String>, Failure> {
    let value = |record: &Record| {
        let mut value = serde_json::to_value(record).map_err(|error| Failure::Ours(error.to_string()))?;
        if let Value::Object(fields) = &mut value {
            for field in ["run", "product", "forge", "repository", "pull", "lane", "acknowledged", "citations"] {
                fields.remove(field);
            }
        }
        Ok::<_, Failure>(value)
    };
    let mut found = Vec::new();
    compare(&value(old)?, &value(new)?, "", &mut found);
    Ok(found)
}

fn compare(old: &Value, new: &Value, place: &str, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let of = |side: &serde_json::Map<String, Value>| side.get(key).cloned().unwrap_or(Value::Null);
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                compare(&of(old), &of(new), &place, found);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for at in 0..old.len().max(new.len()) {
                let of = |side: &[Value]| side.get(at).cloned().unwrap_or(Value::Null);
                compare(&of(old), &of(new), &format!("{place}[{at}]"), found);
            }
        }
        (old, new) if old == new => {}
        (old, new) => found.push(format!("{place}: {old} in the record, {new} now")),
    }
}
