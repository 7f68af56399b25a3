//! Product paths that no property observes.

use super::{Facts, Finding, Oracle, Rule, wording};
use crate::classes::PathSet;
use crate::policy::{Class, RequireProperties};
use crate::words::Verdict;

pub(super) struct PropertyUncovered;

pub(super) static PROPERTY_UNCOVERED: Rule = Rule {
    id: "property-uncovered",
    verdict: Verdict::Unscored,
    when: "With `require.properties = \"touched\"` a product path changes that no property names.",
    innocent: "The product grew where nobody has written a property yet.",
    next: "A maintainer adds a property for these paths, or names them in one, on the base branch.",
};

impl Oracle for PropertyUncovered {
    fn rules(&self) -> &'static [&'static Rule] {
        const { &[&PROPERTY_UNCOVERED] }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        if facts.policy.require.properties != RequireProperties::Touched {
            return Vec::new();
        }
        let named = PathSet::new(facts.policy.property.iter().flat_map(|property| &property.paths));
        wording::over(
            &PROPERTY_UNCOVERED,
            facts.rows,
            |row| row.class == Class::Product && !row.row.paths().all(|path| named.holds(path)),
            |number, names| {
                format!(
                    "{} named by no property: {names}",
                    wording::count(number, "changed product path is", "changed product paths are")
                )
            },
        )
        .into_iter()
        .collect()
    }
}
