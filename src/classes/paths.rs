//! A list of patterns that is no class.

use super::matcher::Matcher;
use crate::change::BytePath;
use crate::policy::Pattern;

/// Patterns such as a property's `paths`, ready to be asked.
#[derive(Debug)]
pub struct PathSet(Matcher);

impl PathSet {
    /// Prepares the patterns.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Self {
        let globs = patterns.into_iter().flat_map(Pattern::plain_globs).map(|glob| (glob, 0));
        Self(Matcher::new(globs))
    }

    /// Whether any of them matches.
    pub fn holds(&self, path: &BytePath) -> bool {
        self.0.first(path).is_some()
    }
}
