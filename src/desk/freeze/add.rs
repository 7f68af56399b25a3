//! A new entry, from a failure that was seen.

use std::path::{Path, PathBuf};

use jiff::ToSpan as _;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::parsed;
use super::report::Seen;
use super::signature::{HowArgs, SeenArgs, Signed};
use crate::change::{Git, GitError};
use crate::desk::{Failure, out, place};
use crate::evidence::ledger::Shape;
use crate::words::{BaseSha, HeadSha, ObjectId};

/// Which failure is frozen, why, and how long.
#[derive(Clone, Debug, clap::Args)]
pub struct AddArgs {
    /// The test, as its runner names it, or `property:ID`.
    #[arg(long, value_name = "ID")]
    pub nodeid: String,
    /// Why it may be ignored for a while; written by a person.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The address of the run, or the digest of the record, in which the failure was seen. With --record its digest is the default.
    #[arg(long, value_name = "URL|DIGEST", required_unless_present = "record")]
    pub citation: Option<String>,
    /// How many days from today it is frozen; the last day is part of it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub days: u32,
    /// Where the failure was seen.
    #[command(flatten)]
    pub seen: SeenArgs,
    /// How its message is made into a signature.
    #[command(flatten)]
    pub how: HowArgs,
    /// The working copy.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub repo: PathBuf,
    /// The default branch; without it what `origin/HEAD` points to, or `main`, or `master`.
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// The policy; without it the working copy's.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// The ledger; without it the file that the policy names in `freeze.ledger`.
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
}

pub(super) fn add(args: &AddArgs, today: Date) -> Result<(), Failure> {
    let top = place::working_copy(&args.repo)?;
    let policy = place::policy(args.policy.as_deref(), &top)?;
    if args.days > policy.freeze.max_days {
        let most = policy.freeze.max_days;
        return Err(Failure::Usage(format!("--days {} is more than `freeze.max_days`, which is {most}", args.days)));
    }
    let shown = Seen::of(&args.seen)?.failure(&args.nodeid)?;
    let citation = args.citation.clone().or_else(|| shown.digest.as_ref().map(|digest| format!("sha256:{digest}")));
    let citation = said("--citation", citation.as_deref().unwrap_or_default())?;
    let reason = said("--reason", &args.reason)?;
    let signed = args.how.sign(&args.nodeid, shown, &policy.freeze.keep)?;
    let bound = merge_base(&args.repo, args.base.as_deref())?;
    let path = args.ledger.clone().unwrap_or_else(|| top.join(policy.freeze.ledger.as_str()));
    let mut ledger = existing(&path)?;
    let key = signed.signature.to_string();
    let last = today.checked_add(i64::from(args.days).days());
    let last = last.map_err(|error| Failure::Usage(format!("--days {}: {error}", args.days)))?;
    let entry = entry(args, &signed, [today, last], reason, citation, &bound);
    let entries =
        ledger.get_mut("freezes").and_then(Value::as_object_mut).expect("what was read or made has an object");
    if entries.contains_key(&key) {
        let path = path.display();
        return Err(Failure::BadInput(format!("{path} has an entry {key} already: take it out before it is renewed")));
    }
    entries.insert(key.clone(), entry);
    let text = format!("{:#}\n", Value::Object(ledger));
    parsed(&path, text.as_bytes())?;
    place::replace(&path, text.as_bytes())?;
    out::print(&format!("{key} is frozen until {last} in {}: look at the entry, and commit it\n", path.display()))
}

fn said<'a>(option: &str, text: &'a str) -> Result<&'a str, Failure> {
    let text = text.trim();
    if text.is_empty() { Err(Failure::Usage(format!("{option} is empty"))) } else { Ok(text) }
}

fn entry(
    args: &AddArgs,
    signed: &Signed,
    [first, last]: [Date; 2],
    reason: &str,
    citation: &str,
    bound: &ObjectId,
) -> Value {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
    put("nodeid", json!(args.nodeid));
    put("seed", json!(signed.seed));
    put("exc_type", json!(signed.exc_type));
    put("message_digest", json!(signed.digest.as_str()));
    if let Some(code) = &args.how.error_code {
        put("error_code", json!(code));
    }
    put("normaliser", json!(signed.normaliser.number()));
    if !signed.keep.is_empty() {
        put("keep", signed.keep.iter().map(|keep| Value::from(keep.as_str())).collect());
    }
    put("first_seen", json!(first.to_string()));
    put("expires_on", json!(last.to_string()));
    put("reason", json!(reason));
    put("citation", json!(citation));
    put("bound_sha", json!(bound.as_str()));
    Value::Object(entry)
}

/// The ledger as it is, in its order; a new one where there is none. Only schema 2 has room for signatures.
fn existing(path: &Path) -> Result<Map<String, Value>, Failure> {
    let new = || Map::from_iter([("schema".to_owned(), json!(2)), ("freezes".to_owned(), json!({}))]);
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(new()),
        Err(source) => return Err(Failure::read(path.display(), source)),
    };
    let ledger = parsed(path, &bytes)?;
    match ledger.shape {
        Shape::Second => Ok(serde_json::from_slice(&bytes).expect("it was read as an object just now")),
        Shape::First | Shape::Signatures | Shape::NodeIds if ledger.freezes.is_empty() => Ok(new()),
        Shape::First | Shape::Signatures | Shape::NodeIds => Err(Failure::BadInput(format!(
            "{} has an older shape, which has no room for this entry: bring its entries into schema 2 first",
            path.display()
        ))),
    }
}

/// Where the working copy's history left the default branch: a commit on which every later tip of it stands.
fn merge_base(repo: &Path, base: Option<&str>) -> Result<ObjectId, Failure> {
    let git = Git::open(repo)?;
    let head = HeadSha(git.resolve("HEAD")?);
    let tip = match base {
        Some(base) => git.resolve(base)?,
        None => default_branch(&git)?,
    };
    let mut bases = git.merge_bases(&BaseSha(tip), &head)?;
    match bases.len() {
        1 => Ok(bases.remove(0)),
        0 => Err(Failure::BadInput(
            "HEAD and the default branch have no common ancestor: name it with --base".to_owned(),
        )),
        more => Err(Failure::BadInput(format!(
            "HEAD and the default branch have {more} best common ancestors: merge the default branch first"
        ))),
    }
}

fn default_branch(git: &Git) -> Result<ObjectId, Failure> {
    for name in ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "main", "master"]
    {
        match git.resolve(name) {
            Err(GitError::UnknownRevision { .. }) => {}
            found => return Ok(found?),
        }
    }
    Err(Failure::Usage("the default branch cannot be told: name it with --base".to_owned()))
}
