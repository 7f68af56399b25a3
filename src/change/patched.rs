//! A patch on a commit, as a commit.

use super::error::GitError;
use super::git::{Git, ids};
use crate::words::ObjectId;

/// Who made the commit and when: nobody, at no time, so that one patch on one base always makes one commit.
const NOBODY: &str = "evidence-gate <patch@invalid> 0 +0000";

impl Git {
    /// The commit that a patch makes of a base, in the scratch repository: it lives as long as this value, and nothing is written
    /// anywhere else. What git's own `apply` refuses is refused: a path out of the tree or into `.git`, a hunk that does not fit.
    pub fn patched(&self, base: &ObjectId, patch: &[u8]) -> Result<ObjectId, GitError> {
        let doing = "applying the patch";
        // The index is the scratch repository's own; `apply` reads no attribute and no file beside it.
        self.done(doing, &["read-tree", base.as_str()], b"")?;
        self.done(doing, &["apply", "--cached", "--whitespace=nowarn", "-"], patch)?;
        let tree = self.made(doing, &["write-tree"], b"")?;
        let commit = format!("tree {tree}\nparent {base}\nauthor {NOBODY}\ncommitter {NOBODY}\n\nA patch\n");
        self.made(doing, &["hash-object", "-t", "commit", "-w", "--stdin"], commit.as_bytes())
    }

    fn done(&self, doing: &'static str, args: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let ended = self.call(doing).args(args).run(input)?;
        if ended.code == Some(0) { Ok(ended.stdout) } else { Err(ended.into_error(doing)) }
    }

    fn made(&self, doing: &'static str, args: &[&str], input: &[u8]) -> Result<ObjectId, GitError> {
        let made = ids(&self.done(doing, args, input)?, doing)?;
        let none = || GitError::Unreadable { doing, why: "it names no object".to_owned() };
        made.into_iter().next().ok_or_else(none)
    }
}
