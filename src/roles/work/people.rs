//! What people had said when a verdict was made, so that a look for what was missed finds an approval or a label that nobody told of.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::evaluate::stands_on_somebody;
use super::failure::Failure;
use super::worker::Worker;
use crate::change::Sha256;
use crate::event::Way;
use crate::evidence::authority::Reviews;
use crate::forge::{OpenPull, Pull};
use crate::score::Record;
use crate::words::{HeadSha, InstallationId, PullNumber, RepoRef, Verdict};

/// What is kept of one pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    labels: BTreeSet<String>,
    /// The digest of who approved which head with which role, and of who set a label that may grant something.
    reviews: String,
}

fn mark_of(repository: &RepoRef, pull: PullNumber) -> String {
    format!("people/{}/{}/{pull}", repository.forge, repository.id)
}

/// Only what can decide: comments and reviews of other heads change nothing.
fn digest(reviews: &Reviews, head: &HeadSha) -> String {
    let approving: BTreeMap<u64, &str> =
        reviews.approving(head).map(|account| (account.id, account.login.as_str())).collect();
    let roles: Vec<_> = reviews.roles.iter().map(|(login, role)| (login, role.to_string())).collect();
    let labels: Vec<_> = reviews.labels.iter().map(|(label, set)| (label, set.by.id, set.head.to_string())).collect();
    Sha256::of(format!("{approving:?} {roles:?} {labels:?}").as_bytes()).to_string()
}

impl Worker {
    /// Keeps what a verdict about this pull request is made of.
    pub(super) async fn remember_people(
        &self,
        repository: &RepoRef,
        pull: &Pull,
        reviews: &Reviews,
    ) -> Result<(), Failure> {
        let said = Said { labels: pull.labels.iter().cloned().collect(), reviews: digest(reviews, &pull.head) };
        self.keep(repository, pull.number, &said).await
    }

    /// A label without a meaning was set or taken away, and nothing has to be judged for it.
    pub(super) async fn remember_label(
        &self,
        repository: &RepoRef,
        pull: PullNumber,
        label: &str,
        way: Way,
    ) -> Result<(), Failure> {
        let Some(mut said) = self.said(repository, pull).await? else { return Ok(()) };
        match way {
            Way::Set => drop(said.labels.insert(label.to_owned())),
            Way::Removed => drop(said.labels.remove(label)),
        }
        self.keep(repository, pull, &said).await
    }

    /// What is another now than when the record was made; `None`: nothing that could decide. Reviews are asked for only where an
    /// approval made the verdict, or could end it.
    pub(super) async fn people_changed(
        &self,
        installation: Option<InstallationId>,
        pull: &OpenPull,
        record: &Record,
    ) -> Result<Option<&'static str>, Failure> {
        let by_somebody = stands_on_somebody(record);
        let Some(said) = self.said(&pull.repository, pull.number).await? else {
            return Ok(by_somebody.then_some("it is not known any more who let it pass"));
        };
        if said.labels != pull.labels.iter().cloned().collect() {
            return Ok(Some("its labels are others now"));
        }
        if !by_somebody && record.verdict != Verdict::Hold {
            return Ok(None);
        }
        let now = self.reviews(&pull.repository, installation, (pull.number, &pull.head, &pull.labels)).await?;
        Ok((digest(&now, &pull.head) != said.reviews)
            .then_some("its reviews, or what its reviewers may do, are others now"))
    }

    async fn said(&self, repository: &RepoRef, pull: PullNumber) -> Result<Option<Said>, Failure> {
        let kept = self.queue.mark(&mark_of(repository, pull)).await?;
        Ok(kept.and_then(|(_, text)| serde_json::from_str(&text).ok()))
    }

    async fn keep(&self, repository: &RepoRef, pull: PullNumber, said: &Said) -> Result<(), Failure> {
        let text = serde_json::to_string(said).map_err(|error| Failure::GiveUp { why: error.to_string() })?;
        Ok(self.queue.set_mark(&mark_of(repository, pull), &text, (self.now)()).await?)
    }
}
