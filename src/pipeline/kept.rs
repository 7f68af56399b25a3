//! A file that the base's tip or the operator keeps: the fixture lock, the freeze ledger.

use std::sync::Arc;

use super::collect::{Fetch, read_file};
use super::{PipelineError, Question};
use crate::change::{Blob, BytePath, Git};
use crate::policy::RepoPath;

/// A file of the operator's own; it wins over the repository's.
#[derive(Clone, Debug)]
pub struct OperatorsFile {
    /// Where it was read.
    pub origin: String,
    /// What it holds.
    pub bytes: Arc<[u8]>,
}

/// What there is of a file.
pub(super) enum Kept {
    Absent,
    Unreadable { origin: String, why: String },
    Whole { origin: String, bytes: Arc<[u8]> },
}

/// The operator's copy, or the file at the tip of the base branch. Never the head's.
pub(super) fn kept(
    git: &Git,
    question: &Question,
    own: Option<&OperatorsFile>,
    path: &RepoPath,
    limit: u64,
    fetch: Fetch<'_>,
) -> Result<Kept, PipelineError> {
    if let Some(OperatorsFile { origin, bytes }) = own {
        return Ok(Kept::Whole { origin: origin.clone(), bytes: Arc::clone(bytes) });
    }
    let origin = format!("{path} at {} ({})", question.base_ref, question.base.id().short());
    let path = BytePath::new(path.as_str());
    let Some((mode, blob)) = read_file(git, question.base.id(), &path, limit, fetch)? else {
        return Ok(Kept::Absent);
    };
    let unreadable = |why: String| Kept::Unreadable { origin: origin.clone(), why };
    Ok(match blob {
        _ if !mode.is_file() => unreadable(format!("it is no file but an entry of mode {mode}")),
        Blob::Whole(bytes) => Kept::Whole { origin, bytes },
        Blob::TooLarge(size) => unreadable(format!("it has {size} bytes, and at most {limit} are read")),
        Blob::Missing => unreadable("its contents could not be fetched".to_owned()),
    })
}
