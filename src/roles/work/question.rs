//! What is asked of the pipeline, and where it is asked.

use jiff::Timestamp;
use tracing::warn;

use super::failure::Failure;
use super::worker::Worker;
use crate::forge::Pull;
use crate::maps::Depot;
use crate::pipeline::{self, KnownMaps, LaneAsked, Origin, PipelineError, Question, Running};
use crate::words::{BaseSha, HeadSha, RepoRef};

impl Worker {
    /// A pull request as an origin.
    pub(super) fn origin_of(repository: &RepoRef, pull: &Pull) -> Origin {
        Origin::Pull {
            repository: repository.clone(),
            pull: pull.number,
            author: pull.author.clone(),
            branch: pull.head_branch.clone(),
            labels: pull.labels.clone(),
        }
    }

    /// A question about two commits, with the operator's own files.
    pub(super) fn question(
        &self,
        repository: &RepoRef,
        origin: Origin,
        base_ref: String,
        base: BaseSha,
        head: HeadSha,
    ) -> Result<Question, Failure> {
        let policy = pipeline::operators_policy(self.work().policies.as_deref(), repository).map_err(|error| {
            warn!(error = &error as &dyn std::error::Error, "the operator's policy cannot be read");
            Failure::GiveUp { why: "the operator's policy for this repository cannot be read".to_owned() }
        })?;
        Ok(Question {
            origin,
            base_ref,
            base,
            head,
            policy,
            lock: None,
            ledger: None,
            map: None,
            maps: Some(self.known_maps(repository)?.0),
            reviews: None,
            lane: LaneAsked::ByLabel,
            known_digests: Some(pipeline::known_digests(&self.settings.data_dir, repository)),
            running: Running {
                outcomes: Some(pipeline::kept_outcomes(&self.settings.data_dir, repository)),
                ..Running::configured(&self.settings.sandbox)
            },
            runner: self.runner.0.clone(),
            today: None,
            clock: self.now,
        })
    }

    /// The coverage maps of a repository that count, and when one of them became another one last.
    pub(super) fn known_maps(&self, repository: &RepoRef) -> Result<(KnownMaps, Option<Timestamp>), Failure> {
        let depot = Depot::below(&self.settings.data_dir);
        let known = depot.known(repository).map_err(|error| {
            warn!(error = &error as &dyn std::error::Error, "the coverage maps of {repository} cannot be read");
            Failure::retry("the coverage maps of this repository cannot be read")
        })?;
        Ok((KnownMaps { shelf: depot.shelf(), by_commit: known.by_commit }, known.changed))
    }

    /// Runs git and the judges away from the threads that talk to the network.
    pub(super) async fn away<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PipelineError> + Send + 'static,
    ) -> Result<T, Failure> {
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(made)) => Ok(made),
            Ok(Err(error)) => {
                warn!(error = &error as &dyn std::error::Error, "the change could not be judged");
                let why = error.public();
                Err(if error.is_passing() { Failure::retry(why) } else { Failure::GiveUp { why } })
            }
            Err(died) => Err(Failure::retry(format!("the judgement died: {died}"))),
        }
    }
}
