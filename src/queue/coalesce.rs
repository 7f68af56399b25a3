//! How triggers of one pull request run together: pure, the same for every database.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::EvaluationId;
use crate::event::{Cause, Trigger};
use crate::words::DeliveryId;

/// How long a replayed body waits for its fresh look. Everybody who ever saw a delivery can send it again under another id, so
/// replays alone may ask for one evaluation of a pull request in this time and no more (R8).
pub(super) const REPLAY_PAUSE: Duration = Duration::from_secs(10);

/// The one queued job of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    /// The newest trigger, with the weightiest cause of all that were folded in.
    pub(super) trigger: Trigger,
    /// When the first trigger came.
    pub(super) queued: Timestamp,
    /// When the newest trigger came.
    pub(super) newest: Timestamp,
    /// The earliest next try.
    pub(super) due: Timestamp,
    /// Tries begun.
    pub(super) attempt: u32,
    /// The evaluation that earlier tries made.
    pub(super) evaluation: Option<EvaluationId>,
    /// The newest delivery that asked for it; `None` where none did.
    pub(super) delivery: Option<DeliveryId>,
}

/// The one running job of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Running {
    /// The weightiest cause that it was taken up for.
    pub(super) cause: Cause,
    /// When its newest trigger came.
    pub(super) newest: Timestamp,
    /// Whether it may no longer publish, although nothing newer is queued.
    pub(super) void: bool,
}

/// All the live work of one pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) queued: Option<Pending>,
    pub(super) running: Option<Running>,
}

/// What a trigger did to the work of its pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folded {
    /// A job was made.
    Queued,
    /// The queued job does it.
    Coalesced,
    /// The pull request was closed: no work is left for it.
    Dropped,
}

/// A queued job with this cause, alone, leaves a running evaluation of its pull request standing: a replay only repeats what was heard
/// before. Otherwise a stranger's replays could keep every verdict from being published.
pub(super) const SUPERSEDES_NOTHING: Cause = Cause::Replayed;

impl Standing {
    /// Folds one more trigger in. `received` decides which of two triggers is newer, not the order of the calls.
    pub(super) fn fold(&mut self, trigger: Trigger, received: Timestamp) -> Folded {
        match (trigger.cause, &mut self.queued) {
            (Cause::Closed, _) => self.close(trigger, received),
            (Cause::Replayed, Some(_)) => Folded::Coalesced,
            (_, Some(pending)) => {
                pending.absorb(trigger, received);
                Folded::Coalesced
            }
            (_, None) => {
                self.queued = Some(Pending::new(trigger, received));
                Folded::Queued
            }
        }
    }

    /// Drops what the closing makes needless. Deliveries come in any order: where the work at hand began with a reopening, nobody can
    /// tell which of the two happened last, and the pull request is looked at once more.
    fn close(&mut self, trigger: Trigger, closed: Timestamp) -> Folded {
        if let Some(pending) = &self.queued {
            if pending.newest > closed || pending.trigger.cause == Cause::Reopened {
                return Folded::Coalesced;
            }
            self.queued = None;
        }
        match &mut self.running {
            Some(running) if running.newest > closed => Folded::Dropped,
            Some(running) if running.cause == Cause::Reopened => {
                let look = Trigger { cause: Cause::Reopened, head: None, ..trigger };
                self.queued = Some(Pending::new(look, closed));
                Folded::Queued
            }
            Some(running) => {
                running.void = true;
                Folded::Dropped
            }
            None => Folded::Dropped,
        }
    }
}

impl Pending {
    fn new(trigger: Trigger, received: Timestamp) -> Self {
        let pause = if trigger.cause == Cause::Replayed { REPLAY_PAUSE } else { Duration::ZERO };
        let due = later(received, pause);
        Self { trigger, queued: received, newest: received, due, attempt: 0, evaluation: None, delivery: None }
    }

    /// Takes a trigger that is no replay into this job. A push may heal what failed, so tries count from the start again and nothing
    /// is left of a pause; and the earlier tries' evaluation stays behind with them, because their run may already be completed.
    fn absorb(&mut self, trigger: Trigger, received: Timestamp) {
        let cause = weightier(self.trigger.cause, trigger.cause);
        // Nothing happens to a pull request before it is opened: an `opened` that comes second came late.
        let came_late = trigger.cause == Cause::Opened && self.trigger.cause != Cause::Replayed;
        if received >= self.newest && !came_late {
            self.trigger = trigger;
        }
        self.trigger.cause = cause;
        self.queued = self.queued.min(received);
        self.newest = self.newest.max(received);
        self.due = self.due.min(received);
        self.attempt = 0;
        self.evaluation = None;
    }
}

/// The cause that asks for more. A reopening weighs most, because [`Standing::fold`] must not lose it.
fn weightier(one: Cause, other: Cause) -> Cause {
    let weight = |cause| match cause {
        Cause::Replayed => 0,
        Cause::Missed => 1,
        Cause::DraftFlipped => 2,
        Cause::Asked => 3,
        Cause::Labelled => 4,
        Cause::Reviewed => 5,
        Cause::Opened => 6,
        Cause::Pushed => 7,
        Cause::BaseChanged => 8,
        Cause::Retargeted => 9,
        Cause::Reopened => 10,
        Cause::Closed => 11,
    };
    if weight(one) >= weight(other) { one } else { other }
}

/// `moment + length`, or the end of time.
pub(super) fn later(moment: Timestamp, length: Duration) -> Timestamp {
    SignedDuration::try_from(length).ok().and_then(|length| moment.checked_add(length).ok()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{ForgeKind, PullNumber, RepoRef, RepositoryId};

    const OLD: char = 'a';
    const NEW: char = 'b';

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).expect("within range")
    }

    fn trigger(cause: Cause, head: char) -> Trigger {
        let name = "acme/widgets".parse().expect("a name");
        Trigger {
            installation: None,
            repository: RepoRef { forge: ForgeKind::Github, id: RepositoryId(1), name },
            pull: PullNumber(7),
            head: Some(head.to_string().repeat(40).parse().expect("a sha")),
            cause,
        }
    }

    fn folded(triggers: &[(Cause, char, i64)]) -> (Standing, Vec<Folded>) {
        let mut standing = Standing::default();
        let answers = triggers.iter().map(|(cause, head, second)| standing.fold(trigger(*cause, *head), at(*second)));
        let answers = answers.collect();
        (standing, answers)
    }

    fn queued(triggers: &[(Cause, char, i64)]) -> Pending {
        folded(triggers).0.queued.expect("a queued job")
    }

    #[test]
    fn the_newest_trigger_is_kept_with_the_weightiest_cause() {
        let job = queued(&[(Cause::Retargeted, OLD, 0), (Cause::Pushed, NEW, 1)]);
        assert_eq!(job.trigger, trigger(Cause::Retargeted, NEW));
        assert_eq!((job.queued, job.newest, job.due), (at(0), at(1), at(0)));
    }

    #[test]
    fn a_trigger_that_was_received_earlier_does_not_replace_the_head_of_a_later_one() {
        let job = queued(&[(Cause::Pushed, NEW, 5), (Cause::Pushed, OLD, 2)]);
        assert_eq!(job.trigger, trigger(Cause::Pushed, NEW));
        assert_eq!((job.queued, job.newest, job.due), (at(2), at(5), at(2)));
    }

    #[test]
    fn an_opened_that_comes_after_a_push_brings_no_head() {
        let job = queued(&[(Cause::Pushed, NEW, 0), (Cause::Opened, OLD, 1)]);
        assert_eq!(job.trigger, trigger(Cause::Pushed, NEW));
    }

    #[test]
    fn a_replay_waits_and_changes_nothing_that_is_queued() {
        let replay = queued(&[(Cause::Replayed, OLD, 0), (Cause::Replayed, OLD, 3)]);
        assert_eq!(replay.due, at(10));
        let push = queued(&[(Cause::Pushed, NEW, 0), (Cause::Replayed, OLD, 3)]);
        assert_eq!((push.trigger, push.newest, push.due), (trigger(Cause::Pushed, NEW), at(0), at(0)));
    }

    #[test]
    fn a_true_trigger_ends_the_pause_of_a_replay() {
        let job = queued(&[(Cause::Replayed, OLD, 0), (Cause::Opened, NEW, 3)]);
        assert_eq!((job.trigger, job.due), (trigger(Cause::Opened, NEW), at(3)));
    }

    #[test]
    fn closing_drops_queued_work_and_reopening_asks_for_it_again() {
        let (standing, answers) = folded(&[(Cause::Pushed, OLD, 0), (Cause::Closed, OLD, 1)]);
        assert_eq!((standing, answers), (Standing::default(), vec![Folded::Queued, Folded::Dropped]));
        let job = queued(&[(Cause::Pushed, OLD, 0), (Cause::Closed, OLD, 1), (Cause::Reopened, OLD, 2)]);
        assert_eq!(job.trigger, trigger(Cause::Reopened, OLD));
    }

    #[test]
    fn a_closing_that_was_received_before_a_push_drops_nothing() {
        let job = queued(&[(Cause::Pushed, NEW, 5), (Cause::Closed, OLD, 4)]);
        assert_eq!(job.trigger, trigger(Cause::Pushed, NEW));
    }

    #[test]
    fn a_closing_that_meets_a_reopening_cannot_tell_which_came_last_and_keeps_the_look() {
        let job = queued(&[(Cause::Reopened, NEW, 0), (Cause::Pushed, NEW, 1), (Cause::Closed, OLD, 2)]);
        assert_eq!(job.trigger, trigger(Cause::Reopened, NEW));

        let running = Running { cause: Cause::Reopened, newest: at(0), void: false };
        let mut standing = Standing { queued: None, running: Some(running.clone()) };
        assert_eq!(standing.fold(trigger(Cause::Closed, OLD), at(1)), Folded::Queued);
        let look = standing.queued.expect("one more look").trigger;
        assert_eq!((look.cause, look.head, standing.running), (Cause::Reopened, None, Some(running)));
    }

    #[test]
    fn closing_makes_a_running_evaluation_void_unless_that_was_asked_for_later() {
        for (closed, void) in [(1, true), (-1, false)] {
            let running = Running { cause: Cause::Pushed, newest: at(0), void: false };
            let mut standing = Standing { queued: None, running: Some(running) };
            assert_eq!(standing.fold(trigger(Cause::Closed, OLD), at(closed)), Folded::Dropped);
            assert_eq!(standing.running.map(|running| running.void), Some(void));
        }
    }

    #[test]
    fn a_push_into_a_job_that_waits_for_its_next_try_starts_it_afresh() {
        let mut job = Pending::new(trigger(Cause::Pushed, OLD), at(0));
        job.attempt = 3;
        job.due = at(900);
        job.evaluation = Some(EvaluationId(uuid::Uuid::from_u128(1)));
        let mut standing = Standing { queued: Some(job.clone()), running: None };
        standing.fold(trigger(Cause::Replayed, OLD), at(5));
        assert_eq!(standing.queued, Some(job));
        standing.fold(trigger(Cause::Pushed, NEW), at(6));
        let job = standing.queued.expect("a queued job");
        assert_eq!((job.attempt, job.due, job.evaluation), (0, at(6), None));
    }

    #[test]
    fn a_moment_too_far_away_is_the_end_of_time() {
        assert_eq!(later(at(0), Duration::MAX), Timestamp::MAX);
        assert_eq!(later(at(0), Duration::from_secs(3)), at(3));
    }
}
