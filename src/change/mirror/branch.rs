//! The remote's default branch, and which commits it stands on.

use std::collections::BTreeSet;

use super::{Mirror, Want};
use crate::change::GitError;
use crate::forge::Remote;
use crate::words::ObjectId;

/// How much of the branch's history is looked through, in commits: one fetch for each until all that is asked for is found.
const DEPTHS: [u32; 3] = [64, 512, 4096];

impl Mirror {
    /// The full name of the remote's default branch, and its tip, as the remote says now.
    ///
    /// <https://git-scm.com/docs/git-ls-remote#Documentation/git-ls-remote.txt---symref>
    pub fn default_branch(&self, remote: &Remote) -> Result<Want, GitError> {
        let doing = "asking the remote for its default branch";
        let args = ["ls-remote", "--symref", "--end-of-options", "forge", "HEAD"];
        let ended = self.remote_call(remote, doing)?.args(args).run(b"")?;
        if ended.code != Some(0) {
            return Err(ended.into_error(doing));
        }
        let text = String::from_utf8_lossy(&ended.stdout);
        let of_head = |line: &'_ str| line.strip_suffix("\tHEAD").map(str::to_owned);
        let lines: Vec<String> = text.lines().filter_map(of_head).collect();
        let reference = lines.iter().find_map(|line| line.strip_prefix("ref: "));
        let tip = lines.iter().find_map(|line| line.parse().ok());
        match (reference, tip) {
            (Some(reference), Some(sha)) => Ok(Want { sha, reference: reference.to_owned() }),
            _ => Err(GitError::Unreadable { doing, why: "it names no branch that exists".to_owned() }),
        }
    }

    /// Those of some commits that a branch stands on, among its newest 4,096 and whatever else of its history is here.
    pub fn on_branch(
        &self,
        remote: &Remote,
        tip: &Want,
        commits: &BTreeSet<ObjectId>,
    ) -> Result<BTreeSet<ObjectId>, GitError> {
        let names: BTreeSet<String> = commits.iter().map(ToString::to_string).collect();
        let mut found = None;
        if self.keeps(&tip.sha)? {
            found = Some(self.git()?.ancestors(&tip.sha, &names)?);
        }
        for depth in DEPTHS {
            if found.as_ref().is_some_and(|found| found.all_found() || !found.cut_off) {
                break;
            }
            found = Some(self.deepen(remote, tip, Some(depth))?.ancestors(&tip.sha, &names)?);
        }
        let named = found.unwrap_or_default().named;
        Ok(named.into_values().flatten().filter(|commit| commits.contains(commit)).collect())
    }
}
