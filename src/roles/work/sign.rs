//! Every record that is published is signed first, behind the last one of its repository.

use tracing::info;

use super::failure::Failure;
use super::worker::Worker;
use crate::proof::{Keys, Place, Sealed, seal};
use crate::queue::{Added, EvaluationId, Link};
use crate::score::Record;
use crate::words::{RepoRef, with_causes};

/// How often another worker may be quicker with a record of the same repository.
const ROUNDS: u32 = 16;

impl Worker {
    /// Signs the record and keeps the envelope. Nothing may be published without.
    pub(in crate::roles::work) async fn sign(
        &self,
        repository: &RepoRef,
        evaluation: EvaluationId,
        record: &Record,
    ) -> Result<Sealed, Failure> {
        let keys = Keys::at(self.settings.keys());
        for _ in 0..ROUNDS {
            let place = match self.queue.last_link(repository).await? {
                Some((number, digest)) => Place::after(number, digest),
                None => Place::first(),
            };
            let now = (self.now)();
            let key = keys.signing(now).map_err(|error| Failure::retry(with_causes(&error)))?;
            let sealed =
                seal(record, &place, &key, now).map_err(|error| Failure::GiveUp { why: with_causes(&error) })?;
            let link = Link {
                repository: repository.clone(),
                number: place.number,
                evaluation,
                digest: sealed.digest.clone(),
                signed: now,
                envelope: sealed.envelope.clone(),
            };
            if self.queue.add_link(&link).await? == Added::Kept {
                info!(record.number = place.number, record.sha256 = sealed.digest, "signed record {}", place.number);
                return Ok(sealed);
            }
        }
        Err(Failure::retry("other workers sign records of this repository faster than this one"))
    }
}
