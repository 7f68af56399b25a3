//! The bench on which everything is run: trees laid out, limits, the sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::kept::Kept;
use super::{Brought, layout};
use crate::change::{BytePath, Git, Sha256};
use crate::config;
use crate::evidence::property::PropertyFacts;
use crate::evidence::{Facts, Runs, asks_for_properties};
use crate::pipeline::collect::Fetch;
use crate::pipeline::{PipelineError, Question};
use crate::policy::{Policy, Property};
use crate::sandbox::{Limits, Mount, Sandbox, SandboxError};
use crate::words::{ObjectId, with_causes};

/// Where programs see the throw-away copy.
pub(super) const REPO: &str = "/gate/repo";

/// Where programs see the oracles.
pub(super) const ORACLES: &str = "/gate/oracle";

/// Why nothing more can be run.
pub(super) enum Stopped {
    /// The sandbox is not to be had, or failed: why.
    NoSandbox(String),
    /// A tree could not be read.
    Git(PipelineError),
}

impl From<PipelineError> for Stopped {
    fn from(error: PipelineError) -> Self {
        Self::Git(error)
    }
}

pub(super) struct Bench<'a> {
    pub(super) git: &'a Git,
    pub(super) question: &'a Question,
    pub(super) policy: &'a Policy,
    pub(super) merged: &'a ObjectId,
    pub(super) kept: Kept,
    pub(super) sandbox: Arc<dyn Sandbox>,
    fetch: Fetch<'a>,
    scratch: tempfile::TempDir,
    /// sha256 over every oracle file; `None` when there is no oracle root.
    oracles: Option<String>,
}

/// A tree that the oracles run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Merged,
    Base,
}

impl<'a> Bench<'a> {
    /// Makes the scratch folder and lays the oracles of a commit or tree out. The trees follow when they are asked for.
    pub(super) fn lay_out(
        git: &'a Git,
        question: &'a Question,
        policy: &'a Policy,
        (merged, oracles_of): (&'a ObjectId, &ObjectId),
        sandbox: Arc<dyn Sandbox>,
        fetch: Fetch<'a>,
    ) -> Result<Self, PipelineError> {
        let scratch = layout::scratch()?;
        let oracles = lay_out_oracles(git, question, (policy, oracles_of), scratch.path(), fetch)?;
        let kept = Kept::at(question.running.outcomes.clone());
        Ok(Self { git, question, policy, merged, kept, sandbox, fetch, scratch, oracles })
    }

    pub(super) fn oracles_digest(&self) -> Option<String> {
        self.oracles.clone()
    }

    /// Everything that the policy asks for, harness properties first.
    pub(super) fn run(&mut self, facts: &Facts<'_>, brought: &mut Brought) -> Result<Runs, Stopped> {
        let mut properties = Vec::new();
        if asks_for_properties(self.policy) {
            for property in &self.policy.property {
                let (facts, row) = self.property(facts, property)?;
                properties.push(facts);
                brought.properties.push(row);
            }
        }
        self.run_tests(facts, properties, brought)
    }

    /// These properties on the merged tree alone, and then the live tests.
    pub(super) fn run_proposed(
        &mut self,
        facts: &Facts<'_>,
        touched: &[Property],
        brought: &mut Brought,
    ) -> Result<Runs, Stopped> {
        for property in touched {
            let (found, row) = self.observed(property)?;
            brought.proposed.push(found);
            brought.properties.push(row);
        }
        self.run_tests(facts, Vec::new(), brought)
    }

    fn run_tests(
        &mut self,
        facts: &Facts<'_>,
        properties: Vec<PropertyFacts>,
        brought: &mut Brought,
    ) -> Result<Runs, Stopped> {
        let mut tests = None;
        if let Some(asked) = &self.policy.tree_tests {
            let (facts, row) = self.tree_tests(facts, asked)?;
            tests = Some(facts);
            brought.tests = Some(row);
        }
        Ok(Runs::Ended { properties, tests })
    }

    /// The object that names a tree.
    pub(super) fn tree_id(&self, side: Side) -> &'a ObjectId {
        match side {
            Side::Merged => self.merged,
            Side::Base => self.question.base.id(),
        }
    }

    /// The folder of a tree; laid out when it is asked for first.
    pub(super) fn tree(&mut self, side: Side) -> Result<PathBuf, PipelineError> {
        let folder = self.scratch.path().join(match side {
            Side::Merged => "merged",
            Side::Base => "base",
        });
        if !folder.exists() {
            layout::write_tree(self.git, self.tree_id(side), &folder, self.fetch)?;
        }
        Ok(folder)
    }

    /// The folder of the oracles; empty where there are none.
    pub(super) fn oracles(&self) -> PathBuf {
        self.scratch.path().join("oracle")
    }

    /// The oracles as the code under test may see them: without samples and known-bad inputs.
    pub(super) fn oracles_for_subjects(&self) -> PathBuf {
        self.scratch.path().join("subject")
    }

    pub(super) fn limits(&self, wall: Duration, memory_mib: Option<u32>) -> Limits {
        let config::Sandbox { memory, processes, file_size, open_files, output, .. } = &self.question.running.limits;
        let asked = memory_mib.map_or(u64::MAX, |mib| u64::from(mib) << 20);
        Limits {
            wall,
            memory: (*memory).min(asked),
            processes: *processes,
            file_size: *file_size,
            open_files: *open_files,
            output: *output,
        }
    }

    /// The name of some inputs: everything that an outcome may depend on.
    pub(super) fn key(&self, parts: &serde_json::Value) -> Sha256 {
        let limits = &self.question.running.limits;
        let all = serde_json::json!({
            "v": 1,
            "parts": parts,
            "oracles": self.oracles,
            "sandbox": self.sandbox.name(),
            "toolchains": limits.toolchains,
            "root": limits.root,
            "memory": limits.memory,
            "processes": limits.processes,
        });
        Sha256::of(all.to_string().as_bytes())
    }

    pub(super) fn tell(&self, line: &str) {
        (self.question.running.progress)(line);
    }
}

pub(super) fn shown(source: PathBuf, target: &str) -> Mount {
    Mount { source, target: PathBuf::from(target), writable: false }
}

/// What a failure to start means: a reason why this program said nothing, or the end of all runs.
pub(super) fn not_started(error: &SandboxError) -> Result<String, Stopped> {
    match error {
        SandboxError::NotStarted { .. } => Ok(error.to_string()),
        SandboxError::Unavailable(_) | SandboxError::Host { .. } => Err(Stopped::NoSandbox(with_causes(error))),
    }
}

/// The operator's oracles, or those of the base's tip. Those of the merged tree only where they themselves are judged, in the evidence lane.
fn lay_out_oracles(
    git: &Git,
    question: &Question,
    (policy, of): (&Policy, &ObjectId),
    scratch: &Path,
    fetch: Fetch<'_>,
) -> Result<Option<String>, PipelineError> {
    let (whole, without_samples) = (scratch.join("oracle"), scratch.join("subject"));
    let digest = if let Some(own) = &question.running.oracles {
        let digest = layout::copy_oracles(own, &whole)?;
        layout::copy_oracles(own, &without_samples)?;
        Some(digest)
    } else {
        let root = BytePath::new(policy.oracles.root.as_str());
        match git.file_at(of, &root)? {
            Some((mode, tree)) if mode == crate::change::Mode::TREE => {
                let files = layout::write_tree(git, &tree, &whole, fetch)?;
                layout::write_tree(git, &tree, &without_samples, fetch)?;
                Some(layout::digest(&files))
            }
            _ => {
                for folder in [&whole, &without_samples] {
                    std::fs::create_dir(folder).map_err(layout::io("make a folder for the oracles"))?;
                }
                None
            }
        }
    };
    for name in ["samples", "known_bad"] {
        let hidden = without_samples.join(name);
        if hidden.is_dir() && !hidden.is_symlink() {
            std::fs::remove_dir_all(&hidden).map_err(layout::io("hide samples from the code under test"))?;
        }
    }
    Ok(digest)
}
