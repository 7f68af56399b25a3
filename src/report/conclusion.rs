//! Verdict -> what branch protection sees.

use crate::forge::Conclusion;
use crate::score::{Passed, Record};
use crate::words::{ForgeKind, Verdict};

/// What branch protection sees of a record. One total function; a success asks for the proof that a complete record passed, and a
/// review without it blocks (R25 to R27).
pub fn conclusion(record: &Record) -> Conclusion {
    match record.verdict {
        Verdict::Review => record.passed().map_or(Conclusion::ActionRequired, |passed| success(&passed)),
        Verdict::Reject => Conclusion::Failure,
        Verdict::Hold | Verdict::Unscored => Conclusion::ActionRequired,
    }
}

/// The only place that makes a success.
fn success(_proof: &Passed<'_>) -> Conclusion {
    Conclusion::Success
}

/// The forge's own word for a conclusion, as it comes back when a run is read. GitLab knows no more than two that we use.
/// <https://docs.github.com/en/rest/checks/runs>, <https://docs.gitlab.com/api/commits/#set-the-pipeline-status-of-a-commit>
pub fn word(forge: ForgeKind, conclusion: Conclusion) -> &'static str {
    match (forge, conclusion) {
        (_, Conclusion::Success) => "success",
        (ForgeKind::Github | ForgeKind::Local, Conclusion::Failure) => "failure",
        (ForgeKind::Github | ForgeKind::Local, Conclusion::ActionRequired) => "action_required",
        (ForgeKind::Gitlab, Conclusion::Failure | Conclusion::ActionRequired) => "failed",
    }
}
