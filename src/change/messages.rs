//! What the commits of a change say of themselves.

use std::collections::BTreeSet;

use super::error::GitError;
use super::git::Git;
use crate::words::{HeadSha, MergeBase};

impl Git {
    /// Every line of the messages of the commits that the head has and the merge base has not; bytes that are no UTF-8 replaced. The
    /// author's words: good for choosing what to look at, and for nothing else.
    pub fn message_lines(&self, merge_base: &MergeBase, head: &HeadSha) -> Result<BTreeSet<String>, GitError> {
        let doing = "reading the commit messages";
        let ended = self
            .call(doing)
            .args(["rev-list", "--no-commit-header", "--format=%B"])
            .args([head.id().as_str(), "--not", merge_base.id().as_str()])
            .run(b"")?;
        if ended.code != Some(0) {
            return Err(ended.into_error(doing));
        }
        let text = String::from_utf8_lossy(&ended.stdout);
        Ok(text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect())
    }
}
