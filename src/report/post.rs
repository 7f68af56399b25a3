//! Report -> check run, and a look at what the forge made of it.

use std::time::Duration;

use super::conclusion::{conclusion, word};
use super::render::{fallback, output};
use super::{annotations, buttons};
use crate::forge::{Conclusion, Forge, ForgeError, PostedRun, RunUpdate};
use crate::score::Record;
use crate::words::{HeadSha, InstallationId, RepoRef, RunId};

/// How long to wait after the forge showed something else than what was posted: its list may lag behind.
const LAG: Duration = Duration::from_secs(5);

/// All that is posted about one record. Made from a record only, so that conclusion and text cannot disagree.
#[derive(Clone, Debug)]
pub struct Posting {
    head: String,
    conclusion: Conclusion,
    update: RunUpdate,
}

impl Posting {
    /// Renders a record. `rules_page` is an address as [`super::RULES_PAGE`].
    pub fn of(record: &Record, rules_page: &str) -> Self {
        let conclusion = conclusion(record);
        let update = RunUpdate::Completed {
            conclusion,
            output: output(record, rules_page),
            annotations: annotations(record),
            fallback: fallback(record),
            buttons: buttons(),
            details: None,
        };
        Self { head: record.head.clone(), conclusion, update }
    }

    pub(super) fn whole(head: String, conclusion: Conclusion, update: RunUpdate) -> Self {
        Self { head, conclusion, update }
    }

    /// The same with a link to a page that shows more.
    #[must_use]
    pub fn with_details(mut self, link: Option<String>) -> Self {
        if let RunUpdate::Completed { details, .. } = &mut self.update {
            *details = link;
        }
        self
    }

    /// What branch protection will see.
    pub fn conclusion(&self) -> Conclusion {
        self.conclusion
    }
}

/// The run that a posting completes.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    /// Where.
    pub repo: &'a RepoRef,
    /// With whose token.
    pub installation: Option<InstallationId>,
    /// Which run; it is not completed yet (R31).
    pub run: RunId,
    /// The commit that the run is on.
    pub head: &'a HeadSha,
    /// The evaluation that opened it (R35).
    pub external_id: &'a str,
}

/// Why a posting does not stand on the forge.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// The forge did not take it, or could not be asked.
    #[error("the check run {run} could not be completed")]
    Forge {
        /// Which run.
        run: RunId,
        /// What the forge said.
        #[source]
        source: ForgeError,
    },
    /// The forge shows something else than what was posted (R33).
    #[error("the check run {run} was posted, but the forge shows {shown} where {posted} was meant")]
    Mismatch {
        /// Which run.
        run: RunId,
        /// What it shows.
        shown: String,
        /// What it should show.
        posted: String,
    },
    /// The record is about another commit than the run. Nothing was posted.
    #[error("the record is about {record}, and the check run {run} is on {head}")]
    OtherHead {
        /// Which run.
        run: RunId,
        /// The record's head.
        record: String,
        /// The run's head.
        head: HeadSha,
    },
}

impl PostError {
    /// How long to wait before another try; `None` when another try would change nothing.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Forge { source: ForgeError::Retry { after, .. }, .. } => Some(*after),
            Self::Mismatch { .. } => Some(LAG),
            Self::Forge { source: ForgeError::GiveUp { .. } | ForgeError::NotFound { .. }, .. }
            | Self::OtherHead { .. } => None,
        }
    }
}

/// Completes the run and reads it back. `Ok` only when the forge shows it as the newest run on its head, with the conclusion and the
/// evaluation that were meant.
pub async fn post(forge: &dyn Forge, target: &Target<'_>, posting: &Posting) -> Result<PostedRun, PostError> {
    let run = target.run;
    if posting.head != target.head.id().as_str() {
        return Err(PostError::OtherHead { run, record: posting.head.clone(), head: target.head.clone() });
    }
    let Target { repo, installation, .. } = *target;
    forge
        .update_run(repo, installation, run, &posting.update)
        .await
        .map_err(|source| PostError::Forge { run, source })?;
    read_back(forge, target, posting.conclusion).await
}

/// Only the second half of [`post()`]: for a worker that takes up an evaluation which may have been posted before a crash.
pub async fn read_back(forge: &dyn Forge, target: &Target<'_>, meant: Conclusion) -> Result<PostedRun, PostError> {
    let Target { repo, installation, run, head, external_id } = *target;
    let newest = forge.newest_run(repo, installation, head).await.map_err(|source| PostError::Forge { run, source })?;
    let posted = PostedRun {
        id: run,
        head: head.clone(),
        external_id: Some(external_id.to_owned()),
        completed: true,
        conclusion: Some(word(repo.forge, meant).to_owned()),
    };
    match newest {
        Some(shown) if shown == posted => Ok(shown),
        shown => Err(PostError::Mismatch { run, shown: said(shown.as_ref()), posted: said(Some(&posted)) }),
    }
}

/// The fields that are compared, for people.
fn said(run: Option<&PostedRun>) -> String {
    let Some(PostedRun { id, head, external_id, completed, conclusion }) = run else {
        return "no run at all".to_owned();
    };
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let state = if *completed { "completed" } else { "not completed" };
    format!("run {id} on {head} of evaluation {}, {state}, conclusion {}", or_none(external_id), or_none(conclusion))
}
