//! What is kept for the page of an evaluation, and the link to it.

use jiff::SignedDuration;

use super::failure::Failure;
use super::worker::Worker;
use crate::queue::{Lease, Pass};
use crate::web::{Exhibit, NewPass};

impl Worker {
    /// Keeps what the page shows, and answers the one link that opens it. `None` where there are no pages.
    pub(super) async fn exhibit(&self, lease: &Lease, exhibit: &Exhibit) -> Result<Option<String>, Failure> {
        let Some(web) = &self.settings.web else { return Ok(None) };
        let give_up = |error: &dyn std::error::Error| Failure::GiveUp { why: error.to_string() };
        let origin = web.origin().map_err(|error| give_up(&error))?;
        let pass = NewPass::random().map_err(|error| give_up(&error))?;
        let lifetime = SignedDuration::try_from(web.pass_lifetime).unwrap_or(SignedDuration::MAX);
        let expires = (self.now)().saturating_add(lifetime).unwrap_or(jiff::Timestamp::MAX);
        let kept = Pass { hash: pass.hash(), expires };
        self.queue.exhibit(lease.evaluation, lease.generation, &exhibit.bytes(), kept).await?;
        Ok(Some(pass.link(&origin)))
    }
}
