//! Runs that were opened and that nobody works at any more: a worker died, or newer work took the place of a retry (R30).

use jiff::{SignedDuration, Timestamp};
use tracing::{info, warn};

use crate::forge::ForgeError;
use crate::queue::Hanging;
use crate::report;
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;

impl Worker {
    /// Ends each as blocking, with the reason.
    pub(super) async fn end_hanging_runs(&self) -> Result<(), Failure> {
        let grace = SignedDuration::try_from(self.work().lease).unwrap_or(SignedDuration::MAX);
        let before = (self.now)().saturating_sub(grace).unwrap_or(Timestamp::MIN);
        for hanging in self.queue.hanging(before).await? {
            match self.end_one(&hanging).await {
                // It is out of reach for good: the forge ends it itself after two weeks, as blocking.
                Err(ForgeError::GiveUp { .. } | ForgeError::NotFound { .. }) => {
                    warn!(run.id = %hanging.run, "a run that hangs is out of reach");
                }
                ended => ended?,
            }
            self.queue.ended(&hanging).await?;
        }
        Ok(())
    }

    async fn end_one(&self, hanging: &Hanging) -> Result<(), ForgeError> {
        let Hanging { evaluation, repository, installation, head, run, .. } = hanging;
        let found = self.forge.find_run(repository, *installation, head, &evaluation.to_string()).await?;
        if found.is_some_and(|found| found.id == *run && !found.completed) {
            info!(run.id = %run, "ending a run that nobody works at");
            let why = "it was cut off, and newer work may have taken its place";
            self.forge.update_run(repository, *installation, *run, &report::superseded(why)).await?;
        }
        Ok(())
    }
}
