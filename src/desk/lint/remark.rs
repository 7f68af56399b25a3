//! One thing to be told.

use std::path::Path;

use crate::change::{BytePath, Git, TreeFile};
use crate::classes::Classifier;
use crate::policy::{Policy, line_of};
use crate::words::ObjectId;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// As it is, no change can pass, or evidence has no protection.
    Fault,
    /// A line that does not do what it seems to.
    Warning,
    /// Good to know.
    Note,
}

impl Level {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Fault => "fault",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A remark about a policy.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(super) struct Remark {
    pub(super) level: Level,
    /// What was looked for: a word that stays.
    pub(super) check: &'static str,
    /// The line of the policy; `None` where a default speaks.
    pub(super) line: Option<u32>,
    pub(super) message: String,
    pub(super) next: String,
}

/// What a policy is held against.
pub(super) struct Subject<'s> {
    pub(super) git: &'s Git,
    pub(super) text: &'s str,
    pub(super) policy: &'s Policy,
    pub(super) classifier: &'s Classifier,
    pub(super) commit: &'s ObjectId,
    /// The revision as a person named it.
    pub(super) rev: &'s str,
    /// Every file of the commit, sorted by path.
    pub(super) files: &'s [TreeFile],
    /// The top of the working copy; `None` for a bare repository.
    pub(super) here: Option<&'s Path>,
}

impl Subject<'_> {
    /// The line of a key.
    pub(super) fn line(&self, keys: &[&str]) -> Option<u32> {
        line_of(self.text, keys)
    }

    /// The file at a path of the commit.
    pub(super) fn file(&self, path: &str) -> Option<&TreeFile> {
        let path = BytePath::new(path);
        self.files.binary_search_by(|file| file.path.cmp(&path)).ok().map(|at| &self.files[at])
    }

    /// What is said of a file that stands in the working copy and is not in the commit; `None` where that is not so.
    pub(super) fn not_committed(&self, path: &str, line: Option<u32>) -> Option<Remark> {
        let here = self.here?.join(path).symlink_metadata().is_ok_and(|found| found.is_file());
        (here && self.file(path).is_none()).then(|| Remark {
            level: Level::Note,
            check: "not-committed",
            line,
            message: format!("{path} is in the working copy and not in {}", self.rev),
            next: "commit it with the policy: the gate reads both from the base branch".to_owned(),
        })
    }
}
