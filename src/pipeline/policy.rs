//! Whose rules are asked: the operator's copy, or the file at the tip of the base branch. Never the head's.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::collect::{Fetch, read_file};
use super::{Origin, PipelineError, Question};
use crate::change::{BytePath, Compared, Git};
use crate::evidence::{Blob, RulesFrom};
use crate::policy::{Gate, LARGEST, NamePattern, Policy, Scope as Select};
use crate::score::Scope;
use crate::words::RepoRef;

/// A policy that the operator keeps on the scoring host; it wins over the repository's.
#[derive(Clone, Debug)]
pub struct OperatorsPolicy {
    /// Where it was read.
    pub origin: String,
    /// Its text.
    pub text: String,
}

/// Why an operator's policy cannot be read, although it is there.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the operator's policy {path}: {source}")]
pub struct PolicyUnreadable {
    path: String,
    source: std::io::Error,
}

/// The operator's policy for a repository: `FOLDER/FORGE/REPOSITORY-ID.toml`. `None` when no such file is there.
pub fn operators_policy(
    folder: Option<&Path>,
    repository: &RepoRef,
) -> Result<Option<OperatorsPolicy>, PolicyUnreadable> {
    let Some(folder) = folder else { return Ok(None) };
    let path = folder.join(repository.forge.as_str()).join(format!("{}.toml", repository.id));
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(OperatorsPolicy { origin: path.display().to_string(), text })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PolicyUnreadable { path: path.display().to_string(), source }),
    }
}

/// The rules of one evaluation.
pub(super) struct Rules {
    pub(super) policy: Policy,
    pub(super) from: RulesFrom,
    /// sha256 of the policy's text.
    pub(super) digest: Option<String>,
}

/// Reads the rules. A policy that is missing or wrong is no error here but a fact, which `evidence/` judges.
pub(super) fn rules(git: &Git, question: &Question, fetch: Fetch<'_>) -> Result<Rules, PipelineError> {
    if let Some(OperatorsPolicy { origin, text }) = &question.policy {
        return Ok(parsed(text.as_bytes(), origin.clone()));
    }
    let origin = format!("{} at {} ({})", Policy::FILE, question.base_ref, question.base.id().short());
    let path = BytePath::new(Policy::FILE);
    let limit = u64::try_from(LARGEST).unwrap_or(u64::MAX);
    let unreadable = |why: String| Rules {
        policy: Policy::default(),
        from: RulesFrom::Unreadable { origin: origin.clone(), why },
        digest: None,
    };
    let Some((mode, blob)) = read_file(git, question.base.id(), &path, limit, fetch)? else {
        return Ok(Rules { policy: Policy::default(), from: RulesFrom::Nowhere, digest: None });
    };
    Ok(match blob {
        _ if !mode.is_file() => unreadable(format!("it is no file but an entry of mode {mode}")),
        Blob::Whole(bytes) => parsed(&bytes, origin),
        Blob::TooLarge(size) => unreadable(format!("it has {size} bytes, and at most {LARGEST} are read")),
        Blob::Missing => unreadable("its contents could not be fetched".to_owned()),
    })
}

fn parsed(bytes: &[u8], origin: String) -> Rules {
    let digest = Some(hex::encode(Sha256::digest(bytes)));
    let parsed = match std::str::from_utf8(bytes) {
        Ok(text) => crate::policy::parse(text, &origin).map_err(|error| error.one_line()),
        Err(error) => Err(format!("it is no UTF-8 after byte {}", error.valid_up_to())),
    };
    match parsed {
        Ok(policy) => Rules { policy, from: RulesFrom::Read(origin), digest },
        Err(why) => Rules { policy: Policy::default(), from: RulesFrom::Unreadable { origin, why }, digest },
    }
}

/// Whether the policy gates this change at all. A local change always is, and so is one whose history cannot be told.
pub(super) fn scope(
    git: &Git,
    policy: &Policy,
    question: &Question,
    compared: &Compared,
) -> Result<Scope, PipelineError> {
    let (Gate::Agents, Origin::Pull { author, branch, labels, .. }, Compared::One(change)) =
        (policy.scope.gate, &question.origin, compared)
    else {
        return Ok(Scope::Gated);
    };
    let lines = git.message_lines(&change.merge_base, &change.head)?;
    let Select { authors, branches, trailers, labels: marks, .. } = &policy.scope;
    let named = any(authors, [&author.login]) || any(branches, [branch]) || any(marks, labels) || any(trailers, &lines);
    Ok(if named {
        Scope::Gated
    } else {
        Scope::NotGated("its author, branch, labels and commit trailers match nothing of [scope]".to_owned())
    })
}

fn any<'a>(patterns: &[NamePattern], names: impl IntoIterator<Item = &'a String>) -> bool {
    names.into_iter().any(|name| patterns.iter().any(|pattern| pattern.matches(name)))
}
