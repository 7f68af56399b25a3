//! What the small forge remembers.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::hooks::Delivery;

/// Everything but git's objects.
#[derive(Default)]
pub(in crate::desk::demo) struct State {
    /// By number.
    pub(in crate::desk::demo) pulls: BTreeMap<u64, Pull>,
    /// By number; numbers grow with time.
    pub(in crate::desk::demo) runs: BTreeMap<u64, Run>,
    /// By number.
    pub(in crate::desk::demo) comments: BTreeMap<u64, Comment>,
    /// Oldest first.
    pub(in crate::desk::demo) reviews: Vec<Review>,
    /// By their text.
    pub(super) tokens: BTreeMap<String, Token>,
    /// Every webhook, oldest first.
    pub(super) deliveries: Vec<Delivery>,
    numbers: u64,
}

/// A pull request.
#[derive(Clone, Debug)]
pub(in crate::desk::demo) struct Pull {
    pub(in crate::desk::demo) number: u64,
    pub(in crate::desk::demo) title: String,
    pub(in crate::desk::demo) author: &'static str,
    pub(in crate::desk::demo) labels: Vec<String>,
    pub(in crate::desk::demo) base_branch: String,
    /// The tip of the target branch when the head or the target last moved.
    pub(in crate::desk::demo) base: String,
    pub(in crate::desk::demo) head_branch: String,
    pub(in crate::desk::demo) head: String,
    pub(in crate::desk::demo) changed_files: usize,
}

/// A check run.
#[derive(Clone, Debug, Default)]
pub(in crate::desk::demo) struct Run {
    pub(in crate::desk::demo) id: u64,
    pub(in crate::desk::demo) head: String,
    pub(in crate::desk::demo) name: String,
    pub(in crate::desk::demo) external_id: Option<String>,
    pub(in crate::desk::demo) details_url: Option<String>,
    pub(in crate::desk::demo) status: String,
    pub(in crate::desk::demo) conclusion: Option<String>,
    pub(in crate::desk::demo) started: Option<String>,
    pub(in crate::desk::demo) completed: Option<String>,
    pub(in crate::desk::demo) title: Option<String>,
    pub(in crate::desk::demo) summary: Option<String>,
    pub(in crate::desk::demo) text: Option<String>,
    /// As they were sent, batch after batch.
    pub(in crate::desk::demo) annotations: Vec<Value>,
}

/// A comment on a pull request.
#[derive(Clone, Debug)]
pub(in crate::desk::demo) struct Comment {
    pub(in crate::desk::demo) pull: u64,
    pub(in crate::desk::demo) author: &'static str,
    pub(in crate::desk::demo) body: String,
    pub(in crate::desk::demo) reactions: BTreeSet<String>,
    pub(in crate::desk::demo) at: Timestamp,
}

/// A review of a pull request.
#[derive(Clone, Debug)]
pub(in crate::desk::demo) struct Review {
    pub(in crate::desk::demo) id: u64,
    pub(in crate::desk::demo) pull: u64,
    pub(in crate::desk::demo) author: &'static str,
    pub(in crate::desk::demo) commit: String,
    pub(in crate::desk::demo) at: Timestamp,
}

/// An installation token.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) permissions: BTreeMap<String, String>,
    pub(super) expires: Timestamp,
}

impl State {
    /// A number that nothing else has.
    pub(super) fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        7_000 + self.numbers
    }

    /// The runs on a commit, newest first.
    pub(in crate::desk::demo) fn runs_on(&self, head: &str) -> impl Iterator<Item = &Run> {
        self.runs.values().rev().filter(move |run| run.head == head)
    }
}
