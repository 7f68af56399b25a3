//! Which commits a tip stands on.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};

use super::error::{GitError, from_stderr};
use super::git::{Git, ids};
use crate::words::ObjectId;

/// What was found of some names in the history of a tip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ancestors {
    /// For each name the commits that it stands for, the tip included; empty where there is none.
    pub named: BTreeMap<String, Vec<ObjectId>>,
    /// Whether history is cut off, so that a name without a commit may have one.
    pub cut_off: bool,
}

impl Ancestors {
    /// Whether each name has a commit.
    pub fn all_found(&self) -> bool {
        self.named.values().all(|commits| !commits.is_empty())
    }
}

/// A commit and those before it along first parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The commits, the newest first.
    pub commits: Vec<ObjectId>,
    /// Whether history is cut off behind the last of them.
    pub cut_off: bool,
}

impl Git {
    /// A commit and at most `before` commits before it, along first parents.
    pub fn first_parents(&self, tip: &ObjectId, before: u32) -> Result<Line, GitError> {
        let doing = "looking up the commits before the merge base";
        let count = format!("--max-count={}", u64::from(before) + 1);
        let ended = self.call(doing).args(["rev-list", "--first-parent", &count, tip.as_str()]).run(b"")?;
        if ended.code != Some(0) {
            return Err(ended.into_error(doing));
        }
        let commits = ids(&ended.stdout, doing)?;
        let cut_off = commits.last().is_some_and(|last| self.is_cut_off_at(last));
        Ok(Line { commits, cut_off })
    }

    /// Finds commits by full ids or by their first digits (lower-case hexadecimal) among the ancestors of a commit, itself included.
    ///
    /// Only ancestors count for whether an abbreviation is unique, so that nobody who pushes a branch can make one ambiguous. When all
    /// names are full ids the walk ends with the last one found; the newest commits come first.
    pub fn ancestors(&self, tip: &ObjectId, names: &BTreeSet<String>) -> Result<Ancestors, GitError> {
        let doing = "looking up commits in the history";
        let mut found = Ancestors::default();
        found.named.extend(names.iter().map(|name| (name.clone(), Vec::new())));
        if names.is_empty() {
            return Ok(found);
        }
        let whole = tip.as_str().len();
        let shortest = names.iter().map(String::len).min().unwrap_or(whole);
        let mut missing = names.len();
        let all_full = shortest == whole;
        let (running, stdin, stdout) = self.call(doing).args(["rev-list", tip.as_str()]).start()?;
        drop(stdin);
        let mut enough = false;
        for line in BufReader::with_capacity(256 * 1024, stdout).lines() {
            let id: ObjectId = line
                .map_err(|error| GitError::Unreadable { doing, why: error.to_string() })?
                .parse()
                .map_err(|error: crate::words::NotAWord| GitError::Unreadable { doing, why: error.to_string() })?;
            found.cut_off |= self.is_cut_off_at(&id);
            // Every name that begins as this commit does stands between the shortest beginning and the whole id.
            let names = found.named.range_mut(id.as_str()[..shortest.min(whole)].to_owned()..=id.to_string());
            for (_, commits) in names.filter(|(name, _)| id.as_str().starts_with(name.as_str())) {
                missing -= usize::from(commits.is_empty());
                commits.push(id.clone());
            }
            if all_full && missing == 0 {
                enough = true;
                running.kill();
                break;
            }
        }
        let (status, stderr) = running.end()?;
        if enough || status.success() { Ok(found) } else { Err(from_stderr(doing, &stderr)) }
    }
}
