//! One reason with one verdict.

use crate::change::BytePath;
use crate::evidence::Rule;
use crate::words::Verdict;

/// One reason with one verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which rule speaks.
    pub rule: &'static Rule,
    /// What it says; may differ from the rule's usual verdict where the policy says so.
    pub verdict: Verdict,
    /// What is the matter, in one sentence that stands alone.
    pub message: String,
    /// What to do next.
    pub next: String,
    /// Where. Sorted, without doubles.
    pub locations: Vec<Location>,
}

impl Finding {
    /// A finding with the rule's usual verdict and next step, and no place.
    pub fn new(rule: &'static Rule, message: impl Into<String>) -> Self {
        Self { rule, verdict: rule.verdict, message: message.into(), next: rule.next.to_owned(), locations: Vec::new() }
    }

    /// The same with another verdict, as the policy asks.
    #[must_use]
    pub fn with_verdict(mut self, verdict: Verdict) -> Self {
        self.verdict = verdict;
        self
    }

    /// The same with these places.
    #[must_use]
    pub fn at(mut self, locations: impl IntoIterator<Item = Location>) -> Self {
        self.locations.extend(locations);
        self.locations.sort();
        self.locations.dedup();
        self
    }
}

/// A place in the head's tree, or in the merge base's where the file is gone at head.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file.
    pub path: BytePath,
    /// The first line, from 1; `None` for the whole file.
    pub line: Option<u32>,
    /// The last line; `None` for one line or the whole file.
    pub end_line: Option<u32>,
}

impl Location {
    /// A whole file.
    pub fn file(path: &BytePath) -> Self {
        Self { path: path.clone(), line: None, end_line: None }
    }

    /// One line.
    pub fn line(path: &BytePath, line: u32) -> Self {
        Self { path: path.clone(), line: Some(line), end_line: None }
    }

    /// Some lines, first and last included.
    pub fn lines(path: &BytePath, line: u32, end_line: u32) -> Self {
        Self { path: path.clone(), line: Some(line), end_line: Some(end_line) }
    }
}
