//! One door for all forges.

use super::{Event, Ignored, Malformed, github};
use crate::delivery::Delivery;
use crate::words::ForgeKind;

/// What a verified delivery asks for, or why it asks for nothing.
///
/// Unknown events and actions are ignored with their name as the reason, never refused (R12): forges add new ones over time.
/// Events about installations and renamed repositories are ignored too, because nothing is kept that they could change (R15): jobs
/// are keyed by the repository's number, and its name and installation are asked of the forge when a job runs.
///
/// # Errors
/// [`Malformed`] where the body is not what the event header says; no signature covers that header, so the body decides (R13).
pub fn parse(delivery: &Delivery) -> Result<Event, Malformed> {
    match delivery.forge() {
        ForgeKind::Github => github::read(delivery.event(), delivery.body()),
        other @ (ForgeKind::Gitlab | ForgeKind::Local) => Ok(Event::Ignored(Ignored::Forge(other))),
    }
}
