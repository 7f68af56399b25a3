//! One transaction over a group of deliveries.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{SqliteConnection, SqlitePool};

use super::errands::{self, Came};
use super::group::{Incoming, Kept};
use super::rows::PullKey;
use super::write::Write;
use super::{seen, work};
use crate::delivery::Stored;
use crate::event::{Cause, Errand, Event, Trigger};
use crate::queue::coalesce::{Folded, Standing};

/// What the table of seen deliveries said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    New,
    /// New id, known content.
    Replay,
    /// Known id, known content.
    Duplicate,
    /// Known id, other content.
    OtherBody,
}

/// Keeps all of `group`, or on an error nothing. One answer for each delivery, in order.
pub(super) async fn keep(writer: &SqlitePool, group: &[Incoming]) -> Result<Vec<Kept>, sqlx::Error> {
    let mut write = Write::begin(writer).await?;
    match within(write.connection(), group).await {
        Ok(kept) => {
            write.commit().await?;
            Ok(kept)
        }
        Err(error) => {
            // Where SQLite has rolled back by itself this fails too, and the connection is given up.
            let _given_up = write.undo().await;
            Err(error)
        }
    }
}

async fn within(db: &mut SqliteConnection, group: &[Incoming]) -> Result<Vec<Kept>, sqlx::Error> {
    let numbered = seen::number(db, group).await?;
    let novelty = seen::mark(db, &numbered).await?;
    let asking: BTreeSet<PullKey> = group.iter().filter_map(Incoming::pull).collect();
    let before = work::standing(db, &asking).await?;
    let mut after = before.clone();
    let mut kept: Vec<Kept> = group.iter().zip(&novelty).map(|(one, novelty)| one.fold(*novelty, &mut after)).collect();
    for ((incoming, novelty), kept) in group.iter().zip(&novelty).zip(&mut kept) {
        incoming.queue_errand(db, *novelty, kept).await?;
    }
    seen::insert(db, &numbered, &novelty, &kept).await?;
    work::write(db, &before, &after).await?;
    for (incoming, kept) in group.iter().zip(&mut kept) {
        if *kept == Kept::Stored(Stored::Duplicate) && incoming.finishes_what_died(db).await? {
            *kept = Kept::Stored(Stored::Queued);
        }
    }
    Ok(kept)
}

impl Incoming {
    /// The pull request that it asks to look at.
    fn pull(&self) -> Option<PullKey> {
        match &self.asks {
            Event::Trigger(trigger) => Some(PullKey::of(trigger)),
            Event::Errand(_) | Event::Ignored(_) => None,
        }
    }

    /// Decides, and folds what it asks for into the work of its pull request.
    fn fold(&self, novelty: Novelty, work: &mut BTreeMap<PullKey, Standing>) -> Kept {
        let trigger = match (novelty, &self.asks) {
            (Novelty::OtherBody, _) => return Kept::OtherBody,
            (Novelty::Duplicate, _) => return Kept::Stored(Stored::Duplicate),
            (Novelty::New | Novelty::Replay, Event::Ignored(why)) => {
                return Kept::Stored(Stored::Ignored(why.to_string()));
            }
            // Kept by itself, in the same transaction: see `queue_errand`.
            (Novelty::New | Novelty::Replay, Event::Errand(_)) => return Kept::Stored(Stored::Coalesced),
            (Novelty::New, Event::Trigger(trigger)) => trigger.clone(),
            // An old body that anybody may have sent: all it can ask for is a look at how things stand now (R8, R11).
            (Novelty::Replay, Event::Trigger(trigger)) => {
                Trigger { cause: Cause::Replayed, head: None, ..trigger.clone() }
            }
        };
        let standing = work.entry(PullKey::of(&trigger)).or_default();
        let folded = standing.fold(trigger, self.received);
        if let Some(pending) = standing.queued.as_mut().filter(|pending| pending.newest == self.received) {
            pending.delivery = Some(self.id.clone());
        }
        Kept::Stored(match folded {
            Folded::Queued => Stored::Queued,
            Folded::Coalesced => Stored::Coalesced,
            Folded::Dropped => Stored::Ignored("closed, and no work is left".to_owned()),
        })
    }

    /// Queues the errand that it asks for, if it asks for one and says something new. What a queued one will do anyway, and what is
    /// done once and was, stays as it was folded.
    async fn queue_errand(
        &self,
        db: &mut SqliteConnection,
        novelty: Novelty,
        kept: &mut Kept,
    ) -> Result<(), sqlx::Error> {
        let came = match novelty {
            Novelty::New => Came::First,
            Novelty::Replay => Came::Replayed,
            Novelty::Duplicate | Novelty::OtherBody => return Ok(()),
        };
        let queue = async |db: &mut SqliteConnection, errand: &Errand| {
            errands::queue(db, errand, Some(self.id.as_str()), came, self.received).await
        };
        match &self.asks {
            Event::Errand(errand) => {
                if queue(db, errand).await? {
                    *kept = Kept::Stored(Stored::Queued);
                }
            }
            Event::Trigger(trigger) => {
                if let Some(errand) = trigger.also()
                    && others_have_its_head(db, trigger).await?
                {
                    queue(db, &errand).await?;
                }
            }
            Event::Ignored(_) => {}
        }
        Ok(())
    }

    /// A redelivery asks for nothing, unless the work it once asked for has failed for good: then it is tried again (R8).
    async fn finishes_what_died(&self, db: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
        match &self.asks {
            Event::Trigger(trigger) if trigger.cause != Cause::Closed => {
                work::revive_newest_dead(db, PullKey::of(trigger), self.received).await
            }
            Event::Trigger(_) | Event::Errand(_) | Event::Ignored(_) => Ok(false),
        }
    }
}

/// Whether another pull request was judged on the head that the delivery names.
async fn others_have_its_head(db: &mut SqliteConnection, trigger: &Trigger) -> Result<bool, sqlx::Error> {
    let (forge, repository, pull) = PullKey::of(trigger).columns();
    let sql = "SELECT EXISTS (SELECT 1 FROM evaluations WHERE forge = ? AND repository = ? AND head = ? AND pull != ?)";
    let query = sqlx::query_scalar(sql).bind(forge).bind(repository);
    query.bind(trigger.head.as_ref().map(ToString::to_string)).bind(pull).fetch_one(db).await
}
