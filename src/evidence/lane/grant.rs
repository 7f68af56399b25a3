//! Who lets a change of evidence in.

use crate::evidence::authority::{Asked, approvals, is_agent};
use crate::forge::{Account, ReviewState};
use crate::policy::Authority;
use crate::words::HeadSha;

/// Whether somebody of the role lets this very head in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// These do, in the order of the alphabet.
    Given(Vec<String>),
    /// Nobody does, but these let an earlier head in.
    Stale(Vec<String>),
    /// Nobody does; who tried, and why it does not count.
    Waits(Vec<(String, String)>),
    /// Nobody can be seen to from here.
    Unseen,
}

/// Somebody's setting of the label, as a signed delivery told it and the forge confirms it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// Who.
    pub by: Account,
    /// On which head.
    pub head: HeadSha,
}

/// Decides. `label` is the newest setting of the lane's label; it counts only where the policy lets a label count. Pure.
pub fn grant(asked: &Asked<'_>, label: Option<&Labelled>) -> Grant {
    let found = approvals(asked);
    if !found.counted.is_empty() {
        return Grant::Given(found.counted);
    }
    let by_label = (asked.policy.lane.authority == Authority::Label).then_some(label).flatten();
    let refused = by_label.map(|label| (label, refusal(asked, label)));
    if let Some((label, None)) = &refused {
        return Grant::Given(vec![label.by.login.clone()]);
    }
    let other_head = |commit: Option<&crate::words::ObjectId>| commit.is_some_and(|commit| commit != asked.head.id());
    let mut stale: Vec<String> = asked
        .reviews
        .decisive()
        .filter(|review| review.state == ReviewState::Approved && !review.author.is_bot)
        .filter(|review| other_head(review.commit.as_ref()))
        .map(|review| review.author.login.clone())
        .collect();
    stale.extend(by_label.filter(|label| other_head(Some(label.head.id()))).map(|label| label.by.login.clone()));
    if !stale.is_empty() {
        stale.sort();
        stale.dedup();
        return Grant::Stale(stale);
    }
    let mut vain = found.not_counted;
    vain.extend(refused.and_then(|(label, why)| Some((label.by.login.clone(), why?))));
    Grant::Waits(vain)
}

/// Why a label does not count. Whoever set it may be the author of the change: that is what it is for.
fn refusal(asked: &Asked<'_>, label: &Labelled) -> Option<String> {
    let Account { login, is_bot, .. } = &label.by;
    if label.head != *asked.head {
        return Some("set the label on another head than the present one".to_owned());
    }
    if *is_bot || is_agent(asked.policy, login) {
        return Some("set the label, and is no person".to_owned());
    }
    match asked.reviews.roles.get(login) {
        Some(role) if *role >= asked.least => None,
        Some(role) => Some(format!("set the label; the role is {role}, and {} is needed", asked.least)),
        None => Some(format!("set the label; no role here, and {} is needed", asked.least)),
    }
}
