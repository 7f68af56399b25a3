//! The forge's own log of deliveries, read back to the last one that is known; what failed is asked for again (R21).

use std::collections::BTreeMap;

use tracing::{info, warn};

use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;
use crate::words::{DeliveryId, ForgeKind};

/// Pages of a hundred that one reading goes back at most.
const MOST_PAGES: usize = 30;

/// Deliveries that one reading asks for again at most; the next one goes on.
const MOST_AGAIN: usize = 100;

/// How often one delivery is asked for again, in all.
const MOST_TRIES: u32 = 3;

const LAST: &str = "log/last";

/// Every try of one delivery that the log shows.
#[derive(Default)]
struct Tries {
    newest: u64,
    status: u16,
    arrived: bool,
}

impl Worker {
    /// Reads the log, and asks again for what never arrived.
    pub(super) async fn read_log(&self) -> Result<(), Failure> {
        let last: u64 = self.queue.mark(LAST).await?.and_then(|(_, id)| id.parse().ok()).unwrap_or(0);
        let (tries, newest) = self.tries_since(last).await?;
        let mut lost: Vec<(u64, String)> = Vec::new();
        for (delivery, tries) in tries {
            if !tries.arrived && may_be_taken(tries.status) && !self.is_known(&delivery).await? {
                lost.push((tries.newest, delivery));
            }
        }
        lost.sort_unstable();
        let mut all = true;
        let mut asked = 0;
        for (id, delivery) in lost {
            let mark = format!("again/{delivery}");
            let so_far: u32 = self.queue.mark(&mark).await?.and_then(|(_, text)| text.parse().ok()).unwrap_or(0);
            if so_far >= MOST_TRIES {
                continue;
            }
            if asked == MOST_AGAIN {
                all = false;
                break;
            }
            self.surroundings.deliver_again(id).await?;
            self.queue.set_mark(&mark, &(so_far + 1).to_string(), (self.now)()).await?;
            asked += 1;
        }
        if asked > 0 {
            info!(deliveries = asked, "asked the forge for {asked} deliveries again");
        }
        if all {
            self.queue.set_mark(LAST, &newest.to_string(), (self.now)()).await?;
        }
        Ok(())
    }

    async fn tries_since(&self, last: u64) -> Result<(BTreeMap<String, Tries>, u64), Failure> {
        let mut tries: BTreeMap<String, Tries> = BTreeMap::new();
        let mut newest = last;
        let mut after: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let page = self.surroundings.delivery_log(after.as_deref()).await?;
            for entry in page.entries {
                if entry.id <= last {
                    return Ok((tries, newest));
                }
                newest = newest.max(entry.id);
                let seen = tries.entry(entry.delivery).or_default();
                if entry.id > seen.newest {
                    (seen.newest, seen.status) = (entry.id, entry.status);
                }
                seen.arrived |= (200..300).contains(&entry.status);
            }
            let Some(next) = page.next else { return Ok((tries, newest)) };
            after = Some(next);
        }
        warn!(
            "the log of deliveries is longer than {MOST_PAGES} pages; older ones are found by looking at the pull requests"
        );
        Ok((tries, newest))
    }

    async fn is_known(&self, delivery: &str) -> Result<bool, Failure> {
        let Ok(id) = delivery.parse::<DeliveryId>() else { return Ok(true) };
        Ok(self.queue.knows(ForgeKind::Github, &id).await?)
    }
}

/// Whether another try may end otherwise. What our own receiver refused it will refuse again.
fn may_be_taken(status: u16) -> bool {
    !(400..500).contains(&status) || matches!(status, 404 | 408 | 429)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_receiver_refused_is_not_asked_for_again() {
        let again: Vec<u16> = [0, 200, 400, 401, 404, 409, 413, 415, 429, 500, 502, 503]
            .into_iter()
            .filter(|status| may_be_taken(*status))
            .collect();
        assert_eq!(again, [0, 200, 404, 429, 500, 502, 503]);
    }
}
