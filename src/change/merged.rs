//! What was merged into a branch, one change after the other.

use super::error::GitError;
use super::git::Git;
use crate::words::ObjectId;

/// A commit on a branch's first-parent line, and what it brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// The commit: a merge, a squashed pull request, or a commit that was pushed.
    pub commit: ObjectId,
    /// Its first parent: the branch as it was before.
    pub before: ObjectId,
    /// The first line of its message; bytes that are no UTF-8 replaced. The author's word.
    pub subject: String,
    /// When it was committed, in seconds since 1970. The committer's word.
    pub committed: i64,
}

/// The newest changes of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The newest first. The very first commit of a history brought no change to anything, and is left out.
    pub changes: Vec<Landed>,
    /// Whether older ones may exist that this repository does not hold.
    pub cut_off: bool,
}

impl Git {
    /// The newest `most` changes that landed on `tip`, along first parents: a merge counts once, whatever commits it brought.
    pub fn landed(&self, tip: &ObjectId, most: u32) -> Result<History, GitError> {
        let doing = "listing what was merged";
        let ended = self
            .call(doing)
            .args(["rev-list", "--first-parent", "--no-commit-header", "--format=%H%x00%P%x00%ct%x00%s%x00"])
            .args([format!("--max-count={most}"), tip.to_string()])
            .run(b"")?;
        if ended.code != Some(0) {
            return Err(ended.into_error(doing));
        }
        let text = String::from_utf8_lossy(&ended.stdout);
        let unreadable = |why: &str| GitError::Unreadable { doing, why: why.to_owned() };
        let fields: Vec<&str> = text.split('\0').collect();
        let (commits, rest) = fields.as_chunks::<4>();
        if rest.iter().any(|rest| !rest.trim().is_empty()) {
            return Err(unreadable("a commit is cut off"));
        }
        let mut history = History { changes: Vec::with_capacity(commits.len()), cut_off: false };
        for [id, parents, committed, subject] in commits {
            let commit: ObjectId = id.trim().parse().map_err(|_| unreadable("a commit has no id"))?;
            if self.is_cut_off_at(&commit) {
                history.cut_off = true;
                break;
            }
            let Some(before) = parents.split(' ').next().filter(|parent| !parent.is_empty()) else { break };
            history.changes.push(Landed {
                before: before.parse().map_err(|_| unreadable("a parent has no id"))?,
                commit,
                subject: (*subject).to_owned(),
                committed: committed.parse().map_err(|_| unreadable("a commit has no time"))?,
            });
        }
        Ok(history)
    }
}
