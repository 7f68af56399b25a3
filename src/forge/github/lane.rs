//! One installation's way to GitHub: one write at a time, and shut while GitHub asks us to wait (R89).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::MutexGuard;
use tokio::time::Instant;

use super::limits::Limit;
use crate::forge::Budget;
use crate::words::InstallationId;

/// A lane for each installation, and one (`None`) for the App itself. Grows with the number of installations, a few bytes each.
#[derive(Default)]
pub(super) struct Lanes(Mutex<BTreeMap<Option<InstallationId>, Arc<Lane>>>);

impl Lanes {
    pub(super) fn of(&self, installation: Option<InstallationId>) -> Arc<Lane> {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lanes.entry(installation).or_default())
    }
}

#[derive(Default)]
pub(super) struct Lane {
    /// When the last write ended. The lock is the turn.
    last_write: tokio::sync::Mutex<Option<Instant>>,
    shut: Mutex<Shut>,
    budget: Mutex<Option<Budget>>,
}

#[derive(Default)]
struct Shut {
    until: Option<Timestamp>,
    in_a_row: u32,
}

impl Lane {
    /// Waits for the right to write. It ends when the turn is dropped.
    pub(super) async fn turn(&self) -> Turn<'_> {
        Turn { last_write: self.last_write.lock().await }
    }

    /// What is left, as far as the last answer said.
    pub(super) fn budget(&self) -> Option<Budget> {
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what an answer said of it.
    pub(super) fn note_budget(&self, said: Option<Budget>) {
        if said.is_some() {
            *self.budget.lock().unwrap_or_else(PoisonError::into_inner) = said;
        }
    }

    /// How long nothing may be sent. Zero: the lane is open.
    pub(super) fn shut_for(&self, now: Timestamp) -> Duration {
        let until = self.shut().until;
        until.and_then(|until| Duration::try_from(until.duration_since(now)).ok()).unwrap_or(Duration::ZERO)
    }

    /// Shuts the lane, and returns for how long.
    pub(super) fn limited(&self, limit: Limit, now: Timestamp) -> Duration {
        let mut shut = self.shut();
        let wait = limit.wait(shut.in_a_row);
        shut.in_a_row = shut.in_a_row.saturating_add(1);
        shut.until = SignedDuration::try_from(wait).ok().and_then(|wait| now.checked_add(wait).ok());
        wait
    }

    /// Notes that GitHub took a request. One that was under way while another shut the lane does not open it.
    pub(super) fn accepted(&self, now: Timestamp) {
        let mut shut = self.shut();
        if shut.until.is_none_or(|until| until <= now) {
            *shut = Shut::default();
        }
    }

    fn shut(&self) -> std::sync::MutexGuard<'_, Shut> {
        self.shut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to write. While it lives nobody else of this installation writes.
pub(super) struct Turn<'a> {
    last_write: MutexGuard<'a, Option<Instant>>,
}

impl Turn<'_> {
    /// Waits until `between` has passed since the last write.
    pub(super) async fn space(&self, between: Duration) {
        if let Some(last) = *self.last_write {
            tokio::time::sleep_until(last + between).await;
        }
    }

    /// Notes that a write ended.
    pub(super) fn written(&mut self) {
        *self.last_write = Some(Instant::now());
    }
}
