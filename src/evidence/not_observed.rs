//! What a review does not stand on, so that it never looks like more than it is.

use super::Facts;
use super::lock::{LockFacts, Spelling};
use super::surface::MapFacts;
use crate::policy::RequireProperties;

/// Evidence that is neither there nor required, one phrase each.
pub fn not_observed(facts: &Facts<'_>) -> Vec<String> {
    let policy = facts.policy;
    let properties = policy.property.is_empty() || policy.require.properties == RequireProperties::Off;
    let no_lock = matches!(facts.lock, LockFacts::Absent) && !policy.require.fixture_lock;
    let weak_lock = matches!(facts.lock, LockFacts::Read { lock, .. } if lock.spelling == Spelling::List);
    let no_map = !matches!(facts.surface.map, MapFacts::Read(_));
    [
        (no_lock, "a fixture lock: none is required"),
        (weak_lock, "bytes of locked fixtures: the lock lists paths without digests"),
        (properties, "properties: none is configured"),
        (policy.tree_tests.is_none(), "live tests of the merged tree: none are configured"),
        (no_map, "which tests run the changed lines: there is no coverage map"),
    ]
    .into_iter()
    .filter(|(absent, _)| *absent)
    .map(|(_, phrase)| phrase.to_owned())
    .collect()
}
