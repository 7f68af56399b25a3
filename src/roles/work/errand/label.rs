//! A label that selects a flow was set or taken away.
//!
//! The forge's history says who set a label and not on which head. The signed delivery says both, so it is kept here; what counts is only
//! what the forge confirms when the change is judged. A delivery that is lost grants nothing.

use serde_json::json;

use crate::event::{Cause, Way};
use crate::queue::ErrandLease;
use crate::roles::work::failure::Failure;
use crate::roles::work::reviews::{LabelMark, label_mark};
use crate::roles::work::worker::Worker;
use crate::words::{HeadSha, PullNumber};

/// What the delivery said.
pub(super) struct Told<'l> {
    pub(super) pull: PullNumber,
    pub(super) head: &'l HeadSha,
    pub(super) label: &'l str,
    pub(super) account: u64,
    pub(super) way: Way,
}

impl Worker {
    /// Looks at the pull request anew where the policy gives the label a meaning.
    pub(super) async fn labelled(&self, lease: &ErrandLease, told: &Told<'_>) -> Result<(), Failure> {
        let repository = self.place(lease)?;
        let Some(pull) = self.open_pull(lease, told.pull).await? else { return Ok(()) };
        let policy = self.rules_now(lease, repository, &pull).await?.policy;
        let lane = policy.lane.label.to_lowercase() == told.label.to_lowercase();
        if !lane && !policy.scope.labels.iter().any(|label| label.matches(told.label)) {
            return self.remember_label(repository, told.pull, told.label, told.way).await;
        }
        let name = label_mark(repository, told.pull, told.label);
        let who = lease.errand.by.clone().unwrap_or_default();
        let kept = match told.way {
            Way::Set if lane => serde_json::to_string(&LabelMark { account: told.account, head: told.head.clone() })
                .map_err(|error| Failure::GiveUp { why: error.to_string() })?,
            Way::Set | Way::Removed => String::new(),
        };
        self.queue.set_mark(&name, &kept, (self.now)()).await?;
        self.look_at(repository, lease.errand.installation, told.pull, None, Cause::Labelled).await?;
        let what = match told.way {
            Way::Set => format!("{who} set the label {}", told.label),
            Way::Removed => format!("{who} took the label {} away", told.label),
        };
        let details = json!({ "head": told.head, "account": told.account });
        Ok(self.note(lease, "label", Some(told.pull), &what, details).await?)
    }
}
