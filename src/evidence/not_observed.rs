//! What a review does not stand on, so that it never looks like more than it is.

use crate::policy::{Policy, RequireProperties};

/// Evidence that is neither there nor required, one phrase each.
pub fn not_observed(policy: &Policy) -> Vec<String> {
    let properties = policy.property.is_empty() || policy.require.properties == RequireProperties::Off;
    [
        (!policy.require.fixture_lock, "a fixture lock: none is required"),
        (properties, "properties: none is configured"),
        (policy.tree_tests.is_none(), "live tests of the merged tree: none are configured"),
        (true, "which tests run the changed lines: there is no coverage map"),
    ]
    .into_iter()
    .filter(|(absent, _)| *absent)
    .map(|(_, phrase)| phrase.to_owned())
    .collect()
}
