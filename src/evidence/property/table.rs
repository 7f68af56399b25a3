//! Merged tree × base -> meaning. Total: every pair of outcomes stands here.

use super::Outcome;
use crate::evidence::ledger::Match;
use crate::policy::Keep;

/// What the trials of a property mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It holds.
    Holds,
    /// It holds, although a failure of it is frozen.
    HoldsFrozen,
    /// It does not say enough.
    Incomplete,
    /// Its failure is frozen.
    Frozen,
    /// Its failure was frozen, and the freeze has ended.
    FreezeExpired,
    /// A module or a program is missing, and the change touches what brings them.
    EnvironmentMissing,
    /// It fails, and did not fail so on the base.
    Failed,
    /// It fails as it does on the base.
    FailedOnBase,
    /// It fails, and what it does on the base is not known.
    BaseUnknown,
}

/// What else is known of a property.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// Whether an unexpired freeze of some failure of it stands.
    pub frozen: bool,
    /// The freeze that its failure falls under.
    pub matching: Match<'a>,
    /// Whether the change has a build or dependency row.
    pub build_changes: bool,
    /// What normalising leaves alone.
    pub keep: &'a [Keep],
}

/// What the outcome on the merged tree means, beside the one on the base with the same seed.
pub fn meaning(merged: &Outcome, base: Option<&Outcome>, beside: Beside<'_>) -> Meaning {
    let failed = match merged {
        Outcome::Complete(_) if beside.frozen => return Meaning::HoldsFrozen,
        Outcome::Complete(_) => return Meaning::Holds,
        Outcome::Incomplete(_) => return Meaning::Incomplete,
        Outcome::Failed(failed) => failed,
    };
    match beside.matching {
        Match::Live(_) => return Meaning::Frozen,
        Match::Expired(_) => return Meaning::FreezeExpired,
        Match::None => {}
    }
    if beside.build_changes && failed.misses_something() {
        return Meaning::EnvironmentMissing;
    }
    match base {
        Some(Outcome::Failed(before)) if failed.is_same(before, beside.keep) => Meaning::FailedOnBase,
        Some(Outcome::Complete(_) | Outcome::Failed(_)) => Meaning::Failed,
        Some(Outcome::Incomplete(_)) | None => Meaning::BaseUnknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::ledger::{Freeze, Match};
    use crate::evidence::property::{Failed, TrialLog};

    fn failed(message: &str) -> Outcome {
        Outcome::Failed(Failed { exc_type: "AssertionError".into(), message: message.into(), log: None })
    }

    fn missing() -> Outcome {
        Outcome::Failed(Failed {
            exc_type: "ModuleNotFoundError".into(),
            message: "No module named 'x'".into(),
            log: None,
        })
    }

    fn complete() -> Outcome {
        let log = TrialLog { seed: 1, trials: 1, hits: 1, counterexample: None, exc_type: None, message: None };
        Outcome::Complete(log)
    }

    fn incomplete() -> Outcome {
        Outcome::Incomplete("it left no trial log".into())
    }

    fn freeze() -> Freeze {
        let nodeid = "property:p".to_owned();
        Freeze {
            nodeid,
            failure: None,
            reason: None,
            citation: None,
            first_seen: None,
            expires_on: None,
            bound_sha: None,
        }
    }

    fn plain() -> Beside<'static> {
        Beside { frozen: false, matching: Match::None, build_changes: false, keep: &[] }
    }

    #[test]
    fn every_pair_of_outcomes_has_one_meaning() {
        let bases = || [Some(complete()), Some(failed("3 > 2")), Some(failed("other")), Some(incomplete()), None];
        let row = |merged: Outcome| bases().map(|base| meaning(&merged, base.as_ref(), plain()));
        assert_eq!(row(complete()), [Meaning::Holds; 5]);
        assert_eq!(row(incomplete()), [Meaning::Incomplete; 5]);
        assert_eq!(
            row(failed("4 > 3")),
            [Meaning::Failed, Meaning::FailedOnBase, Meaning::Failed, Meaning::BaseUnknown, Meaning::BaseUnknown]
        );
    }

    #[test]
    fn a_freeze_comes_before_the_base_and_an_ended_one_rejects() {
        let freeze = freeze();
        for base in [Some(complete()), Some(failed("3 > 2")), Some(incomplete()), None] {
            let of = |matching| meaning(&failed("3 > 2"), base.as_ref(), Beside { matching, ..plain() });
            assert_eq!(of(Match::Live(&freeze)), Meaning::Frozen);
            assert_eq!(of(Match::Expired(&freeze)), Meaning::FreezeExpired);
        }
        assert_eq!(meaning(&complete(), None, Beside { frozen: true, ..plain() }), Meaning::HoldsFrozen);
        assert_eq!(meaning(&incomplete(), None, Beside { frozen: true, ..plain() }), Meaning::Incomplete);
    }

    #[test]
    fn a_missing_module_is_the_environments_only_where_the_change_touches_it() {
        let of =
            |merged: Outcome, build_changes| meaning(&merged, Some(&complete()), Beside { build_changes, ..plain() });
        assert_eq!(of(missing(), true), Meaning::EnvironmentMissing);
        assert_eq!(of(missing(), false), Meaning::Failed);
        assert_eq!(of(failed("3 > 2"), true), Meaning::Failed);
    }
}
