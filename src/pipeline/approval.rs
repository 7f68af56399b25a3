//! Whether somebody acknowledges the holds of a change (DESIGN section 3).

use super::{Origin, PipelineError, Question};
use crate::change::{Compared, Git};
use crate::evidence::authority::{self, Approvals, Asked};
use crate::evidence::{Finding, lane};
use crate::policy::{Policy, Release};
use crate::score::decide;
use crate::words::Verdict;

/// The approvals of a change that waits for a person; none where the policy has holds end by another change only, and none while the
/// evidence lane waits: that has an authority of its own.
pub(super) fn approvals(
    git: &Git,
    question: &Question,
    policy: &Policy,
    compared: &Compared,
    findings: &[Finding],
) -> Result<Approvals, PipelineError> {
    let (Origin::Pull { author, .. }, Some(reviews), Compared::One(change), Release::Approval, Verdict::Hold) =
        (&question.origin, &question.reviews, compared, policy.holds.release, decide(findings))
    else {
        return Ok(Approvals::default());
    };
    if lane::is_open(findings) {
        return Ok(Approvals::default());
    }
    let signed = git.signed(&change.merge_base, &change.head)?;
    let least = policy.holds.min_role;
    Ok(authority::approvals(&Asked { author, head: &question.head, least, policy, reviews, signed: &signed }))
}
