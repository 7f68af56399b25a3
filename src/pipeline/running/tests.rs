//! The live tests of the merged tree, and of the base beside it.

use std::path::{Path, PathBuf};

use super::bench::{Bench, REPO, Side, Stopped, not_started};
use super::expand::expand;
use super::kept::Left;
use super::layout;
use crate::change::Sha256;
use crate::evidence::Facts;
use crate::evidence::junit::LARGEST_REPORT;
use crate::evidence::tree_tests::{Frozen, Tested, TreeFacts, TreeRun, frozen_ids, read, worse};
use crate::policy::TreeTests;
use crate::sandbox::{Mount, Order, Outcome as Run};
use crate::score::Tests;

impl Bench<'_> {
    /// Runs the command on both trees and compares by name.
    pub(super) fn tree_tests(&mut self, facts: &Facts<'_>, asked: &TreeTests) -> Result<(TreeFacts, Tests), Stopped> {
        let frozen = frozen_ids(facts);
        let mut command = asked.command.words().to_vec();
        command.extend(expand(&asked.deselect, &frozen.whole));
        self.tell("live tests: the merged tree");
        let key = self.tests_key(asked, &command, Side::Merged);
        let now = self.start_tests(asked, &command, Side::Merged)?;
        let (merged, flaky) = match self.kept.get(&key) {
            None => {
                self.keep_tests(&key, &now);
                (taken(&now), Vec::new())
            }
            Some(earlier) => {
                let (now_read, earlier_read) = (taken(&now), taken(&earlier));
                if failures(&now_read) > failures(&earlier_read) {
                    self.keep_tests(&key, &now);
                }
                worse(now_read, earlier_read)
            }
        };
        let key = self.tests_key(asked, &command, Side::Base);
        let base = if let Some(left) = self.kept.get(&key) {
            taken(&left)
        } else {
            self.tell("live tests: the base");
            let left = self.start_tests(asked, &command, Side::Base)?;
            self.keep_tests(&key, &left);
            taken(&left)
        };
        let found = TreeFacts { merged, base, flaky };
        let row = row(&found, &frozen);
        self.tell(&format!("live tests: {} reported, {} failed", row.reported.len(), row.failed.len()));
        Ok((found, row))
    }

    fn keep_tests(&self, key: &Sha256, left: &Left) {
        self.kept.put(key, left);
    }

    fn tests_key(&self, asked: &TreeTests, command: &[String], side: Side) -> Sha256 {
        let tree = match side {
            Side::Merged => self.tree_id(side).as_str().to_owned(),
            Side::Base => format!("commit {}", self.tree_id(side)),
        };
        self.key(&serde_json::json!({
            "tree_tests": command,
            "report": asked.report.as_str(),
            "timeout": asked.timeout.0.as_secs(),
            "memory_mib": asked.memory_mib,
            "tree": tree,
        }))
    }

    fn start_tests(&mut self, asked: &TreeTests, command: &[String], side: Side) -> Result<Left, Stopped> {
        let repo = self.tree(side)?;
        // A report that the tree itself brings along is not the run's.
        if let Err(why) = without(&repo, asked.report.as_str()) {
            return Ok(missing(why));
        }
        let order = Order {
            command: command.to_vec(),
            environment: vec![("REPO_ROOT".to_owned(), REPO.to_owned())],
            directory: PathBuf::from(REPO),
            mounts: vec![Mount { source: repo.clone(), target: PathBuf::from(REPO), writable: true }],
            input: Vec::new(),
            log: false,
            limits: self.limits(asked.timeout.0, asked.memory_mib),
        };
        let mut run = match self.sandbox.run(&order) {
            Ok(run) => run,
            Err(error) => return not_started(&error).map(missing),
        };
        let no_report = match report(&repo, asked.report.as_str()) {
            Ok(bytes) => {
                run.log = bytes;
                None
            }
            Err(why) => Some(why),
        };
        Ok(Left { run, no_report })
    }
}

/// A run that left nothing.
fn missing(why: String) -> Left {
    let run = Run {
        ended: crate::sandbox::Ended::Exited(0),
        stdout: Vec::new(),
        stderr: Vec::new(),
        log: Vec::new(),
        took: std::time::Duration::ZERO,
    };
    Left { run, no_report: Some(why) }
}

fn taken(left: &Left) -> TreeRun {
    read(&left.run, left.no_report.clone().map_or(Ok(&left.run.log[..]), Err))
}

/// How bad a run is, for which one is kept: no report is the worst.
fn failures(run: &TreeRun) -> usize {
    match run {
        TreeRun::Missing(_) => usize::MAX,
        TreeRun::Reported(tests) => tests.values().filter(|test| test.failure().is_some() || !test.ran).count(),
    }
}

fn without(repo: &Path, path: &str) -> Result<(), String> {
    let place = layout::inside(repo, path)?;
    match std::fs::remove_file(&place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("what stands at `{path}` cannot be taken away: {error}"))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn report(repo: &Path, path: &str) -> Result<Vec<u8>, String> {
    let place = layout::inside(repo, path)?;
    let there = match std::fs::symlink_metadata(&place) {
        Ok(there) => there,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!("nothing was written to `{path}`"));
        }
        Err(error) => return Err(format!("`{path}` cannot be read: {error}")),
    };
    if !there.is_file() {
        return Err(format!("`{path}` is no file"));
    }
    if there.len() > LARGEST_REPORT {
        return Err(format!("`{path}` has {} bytes, and at most {LARGEST_REPORT} are read", there.len()));
    }
    std::fs::read(&place).map_err(|error| format!("`{path}` cannot be read: {error}"))
}

fn row(found: &TreeFacts, frozen: &Frozen) -> Tests {
    let (TreeRun::Reported(merged), base) = (&found.merged, &found.base) else { return Tests::default() };
    let ran = |test: &&Tested| test.ran;
    let is_frozen = |test: &Tested| frozen.whole.iter().chain(&frozen.by_signature).any(|id| test.case.is_one_of(id));
    let missing = match base {
        TreeRun::Missing(_) => Vec::new(),
        TreeRun::Reported(base) => {
            let gone = |id: &String| merged.get(id).is_none_or(|test| !test.ran);
            base.iter()
                .filter(|(id, test)| test.ran && gone(id) && !is_frozen(test))
                .map(|(id, _)| id.clone())
                .collect()
        }
    };
    Tests {
        reported: merged.iter().filter(|(_, test)| ran(test)).map(|(id, _)| id.clone()).collect(),
        missing,
        failed: merged.iter().filter(|(_, test)| test.failure().is_some()).map(|(id, _)| id.clone()).collect(),
        frozen: frozen.whole.iter().chain(&frozen.by_signature).cloned().collect(),
    }
}
