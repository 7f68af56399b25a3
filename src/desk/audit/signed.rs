//! `evidence-gate audit verify` and `audit envelope`: the signed records that this host keeps.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use super::super::verify::KeyArgs;
use super::super::{Failure, out};
use super::{opened, runtime};
use crate::config::{self, Settings};
use crate::proof::{Broken, Keys, Linked, Trusted, Walk};
use crate::queue::{AuditFilter, Envelopes as _, Errands as _, Link, QueueError, SqliteQueue};
use crate::score::visible;
use crate::words::{PullNumber, RepoRef};

/// How many records are read at once.
const PAGE: u32 = 100;

/// What to do with signed records.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum AuditCommand {
    /// Walk along the signed records of each repository, from the first to the last that the audit log names.
    ///
    /// Exits with 0 when every one holds and names the one before it, with 1 where a chain breaks.
    Verify {
        /// The configuration file; `EVIDENCE_GATE_*` variables win over it.
        #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
        config: Option<PathBuf>,
        /// Only this repository.
        #[arg(long, value_name = "OWNER/NAME")]
        repo: Option<String>,
        /// The keys to trust, in place of those of this host.
        #[command(flatten)]
        keys: Option<KeyArgs>,
    },
    /// Print a signed record, for whoever wants to verify it elsewhere.
    Envelope {
        /// The configuration file; `EVIDENCE_GATE_*` variables win over it.
        #[arg(long, value_name = "FILE", env = "EVIDENCE_GATE_CONFIG")]
        config: Option<PathBuf>,
        /// Whose record.
        #[arg(long, value_name = "OWNER/NAME")]
        repo: String,
        /// The one that was published last for this pull request.
        #[arg(long, value_name = "NUMBER", required_unless_present = "number", conflicts_with = "number")]
        pull: Option<u64>,
        /// The one of this number, counted from 1 in its repository.
        #[arg(long, value_name = "NUMBER")]
        number: Option<u64>,
    },
}

/// Does it. 0, or 1 where a chain breaks.
pub(super) fn signed(command: &AuditCommand) -> Result<u8, Failure> {
    let (AuditCommand::Verify { config, .. } | AuditCommand::Envelope { config, .. }) = command;
    let settings = Settings::load(config.as_deref(), &config::environment())?;
    match command {
        AuditCommand::Verify { repo, keys, .. } => {
            let trusted = match keys {
                Some(keys) => keys.trusted()?,
                None => Keys::at(settings.keys()).public()?.trusted(),
            };
            let walked = async {
                let queue = opened(&settings).await?;
                let walked = walk_all(&queue, repo.as_deref(), &trusted).await;
                queue.close().await;
                walked
            };
            let (text, code) = runtime()?.block_on(walked)?;
            out::print(&text).map(|()| code)
        }
        AuditCommand::Envelope { repo, pull, number, .. } => {
            let found = async {
                let queue = opened(&settings).await?;
                let found = find(&queue, repo, *pull, *number).await;
                queue.close().await;
                found
            };
            let link = runtime()?.block_on(found)?;
            out::print_bytes(&[&*link.envelope, b"\n"].concat()).map(|()| 0)
        }
    }
}

async fn walk_all(queue: &SqliteQueue, only: Option<&str>, trusted: &[Trusted]) -> Result<(String, u8), Failure> {
    let mut text = String::new();
    let mut code = 0;
    for repository in queue.linked().await? {
        if only.is_some_and(|only| only != repository.name.as_str()) {
            continue;
        }
        let line = match walk(queue, &repository, trusted).await? {
            Ok((number, digest)) => format!("{repository}: {number} records hold, the last has sha256 {digest}"),
            Err(broken) => {
                code = 1;
                format!("{repository}: the chain breaks at {broken}")
            }
        };
        writeln!(text, "{}", visible(&line)).expect("writing to a String cannot fail");
    }
    if text.is_empty() {
        "no record was signed yet\n".clone_into(&mut text);
    }
    Ok((text, code))
}

type Walked = Result<(u64, String), Broken>;

async fn walk(queue: &SqliteQueue, repository: &RepoRef, trusted: &[Trusted]) -> Result<Walked, QueueError> {
    let mut walk = Walk::new(repository.id, trusted);
    let mut digests = BTreeSet::new();
    loop {
        let after = walk.reached().map_or(0, |(number, _)| *number);
        let links = queue.links(repository, after, PAGE).await?;
        if links.is_empty() {
            break;
        }
        for Link { number, digest, envelope, .. } in links {
            if let Err(broken) = walk.step(&Linked { number, digest: digest.clone(), envelope }) {
                return Ok(Err(broken));
            }
            digests.insert(digest);
        }
    }
    let (number, digest) = walk.reached().cloned().unwrap_or_default();
    match missing_at_the_end(queue, repository, &digests).await? {
        Some(named) => {
            let why = format!("the audit log names the record with sha256 {named}, and it is not there");
            Ok(Err(Broken { number: number + 1, why }))
        }
        None => Ok(Ok((number, digest))),
    }
}

/// The end of a chain can be cut off without a trace in the rest of it; the audit log still names what was there.
async fn missing_at_the_end(
    queue: &SqliteQueue,
    repository: &RepoRef,
    digests: &BTreeSet<String>,
) -> Result<Option<String>, QueueError> {
    for kind in ["verdict", "group"] {
        let filter = AuditFilter {
            repository: Some(repository.name.as_str().to_owned()),
            kind: Some(kind.to_owned()),
            most: 1,
            ..AuditFilter::default()
        };
        for row in queue.audit(&filter).await? {
            let details: Value = serde_json::from_str(&row.details).unwrap_or(Value::Null);
            if let Some(named) = details["sha256"].as_str().filter(|named| !digests.contains(*named)) {
                return Ok(Some(named.to_owned()));
            }
        }
    }
    Ok(None)
}

async fn find(queue: &SqliteQueue, repo: &str, pull: Option<u64>, number: Option<u64>) -> Result<Link, Failure> {
    let none = |what: String| Failure::Usage(format!("there is no signed record {what}"));
    let repository = queue.linked().await?.into_iter().find(|known| known.name.as_str() == repo);
    let repository = repository.ok_or_else(|| none(format!("of {repo}")))?;
    if let Some(number) = number {
        let links = queue.links(&repository, number.saturating_sub(1), 1).await?;
        let link = links.into_iter().find(|link| link.number == number);
        return link.ok_or_else(|| none(format!("{number} of {repo}")));
    }
    let pull = pull.unwrap_or_default();
    let answer = queue.answer(&repository, PullNumber(pull)).await?;
    let answer = answer.ok_or_else(|| none(format!("of {repo}#{pull}")))?;
    queue.link_of(answer.evaluation).await?.ok_or_else(|| none(format!("of {repo}#{pull}")))
}
