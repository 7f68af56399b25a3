//! A list of patterns that is no class.

use super::matcher::Matcher;
use crate::change::BytePath;
use crate::policy::{Class, Pattern};

/// Patterns such as a property's `paths`, ready to be asked.
#[derive(Debug)]
pub struct PathSet(Matcher);

impl PathSet {
    /// Prepares the patterns.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Self {
        let globs = patterns.into_iter().flat_map(Pattern::plain_globs).map(|glob| (glob, 0));
        Self(Matcher::new(globs))
    }

    /// One pattern as it is meant in a class: in those of evidence it reaches further ([`Pattern::globs`]).
    pub fn of_class(class: Class, pattern: &Pattern) -> Self {
        Self(Matcher::new(pattern.globs(class).into_iter().map(|glob| (glob, 0))))
    }

    /// Whether any of them matches.
    pub fn holds(&self, path: &BytePath) -> bool {
        self.0.first(path).is_some()
    }
}
