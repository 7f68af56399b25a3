//! Runs what the policy asks for: properties first, then the live tests, each in the sandbox.
//!
//! The merged tree is laid out once. Properties see it read-only, so that none leaves anything for the next; the live tests may write
//! to it, and come last. The oracles come from the base's tip or from the operator, and never from the head.

mod bench;
mod expand;
mod kept;
mod layout;
mod property;
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::collect::Fetch;
use super::policy::Rules;
use super::{PipelineError, Question, lane};
use crate::change::{BytePath, Git, Mode};
use crate::config;
use crate::evidence::lane::Proposal;
use crate::evidence::property::PropertyFacts;
use crate::evidence::{self, Facts, Finding, Runs};
use crate::policy::Policy;
use crate::sandbox::Sandbox;
use crate::score::{PropertyRow, Tests, decide};
use crate::words::{RepoRef, Verdict, with_causes};

/// How the oracles of a policy are run.
#[derive(Clone)]
pub struct Running {
    /// Where.
    pub sandbox: Room,
    /// What a run may use at most.
    pub limits: config::Sandbox,
    /// A seed in place of the policy's, for a person who looks for a failure.
    pub seed: Option<i64>,
    /// The operator's own oracle root, in place of the one at the base's tip.
    pub oracles: Option<PathBuf>,
    /// Where outcomes are kept; without it each run stands alone.
    pub outcomes: Option<PathBuf>,
    /// Told what runs, one line each.
    pub progress: fn(&str),
}

/// Whether there is a sandbox.
#[derive(Clone)]
pub enum Room {
    /// This one.
    Open(Arc<dyn Sandbox>),
    /// The one that [`Running::limits`] configures, opened when something is to be run.
    Configured,
    /// None: why.
    None(String),
}

impl Default for Running {
    /// Nowhere.
    fn default() -> Self {
        Self {
            sandbox: Room::None("none is set up".to_owned()),
            limits: config::Sandbox::default(),
            seed: None,
            oracles: None,
            outcomes: None,
            progress: |_| {},
        }
    }
}

impl Running {
    /// In the sandbox of a configuration. It is opened when something is to be run; where it is not to be had, the verdict says so.
    pub fn configured(settings: &config::Sandbox) -> Self {
        Self { sandbox: Room::Configured, limits: settings.clone(), ..Self::default() }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sandbox = match &self.sandbox {
            Room::Open(sandbox) => sandbox.name(),
            Room::Configured => "configured",
            Room::None(why) => why,
        };
        let Self { sandbox: _, limits: _, seed, oracles, outcomes, progress: _ } = self;
        f.debug_struct("Running")
            .field("sandbox", &sandbox)
            .field("seed", seed)
            .field("oracles", oracles)
            .field("outcomes", outcomes)
            .finish_non_exhaustive()
    }
}

/// Where a worker keeps the outcomes of a repository's oracles.
pub fn kept_outcomes(data_dir: &Path, repository: &RepoRef) -> PathBuf {
    data_dir.join("outcomes").join(repository.forge.as_str()).join(repository.id.to_string())
}

/// What came of it, for the findings and for the record.
#[derive(Default)]
pub(super) struct Brought {
    pub(super) runs: Runs,
    pub(super) properties: Vec<PropertyRow>,
    pub(super) tests: Option<Tests>,
    /// sha256 over every oracle file; `None` when nothing was laid out.
    pub(super) oracles: Option<String>,
    /// What came of the properties that a change of evidence proposes.
    pub(super) proposed: Vec<PropertyFacts>,
    /// What was not started, one phrase each.
    pub(super) not_observed: Vec<String>,
}

/// The digest that a record has where the oracles of the base's tip ran, without laying them out; `None` where there are none.
pub(super) fn oracles_digest(git: &Git, question: &Question, policy: &Policy) -> Result<Option<String>, PipelineError> {
    let root = BytePath::new(policy.oracles.root.as_str());
    match git.file_at(question.base.id(), &root)? {
        Some((Mode::TREE, tree)) => Ok(Some(layout::digest(&git.files(&tree, &[])?))),
        _ => Ok(None),
    }
}

/// Runs what is asked for, unless what was found before says reject or unscored already.
pub(super) fn run(
    git: &Git,
    question: &Question,
    rules: &Rules,
    facts: &Facts<'_>,
    before: &[Finding],
    fetch: Fetch<'_>,
) -> Result<Brought, PipelineError> {
    if !evidence::asks_for_runs(&rules.policy) {
        return Ok(Brought::default());
    }
    let sandbox = match opened(question) {
        Ok(sandbox) => sandbox,
        Err(why) => return Ok(Brought { runs: Runs::NoSandbox(why), ..Brought::default() }),
    };
    let worst = decide(before);
    let Some(merged) = facts.change.merged_tree.as_ref().filter(|_| worst < Verdict::Unscored) else {
        return Ok(not_started(worst));
    };
    let base = question.base.id();
    let mut bench = bench::Bench::lay_out(git, question, &rules.policy, (merged, base), sandbox, fetch)?;
    let mut brought = Brought { oracles: bench.oracles_digest(), ..Brought::default() };
    match bench.run(facts, &mut brought) {
        Ok(runs) => brought.runs = runs,
        Err(bench::Stopped::NoSandbox(why)) => brought.runs = Runs::NoSandbox(why),
        Err(bench::Stopped::Git(error)) => return Err(error),
    }
    Ok(brought)
}

/// Runs what a change of evidence touches: the properties of its own policy, with the oracles of the merged tree, and the live tests. The
/// product is the base's, so nothing is run there.
pub(super) fn run_proposed(
    git: &Git,
    question: &Question,
    proposal: &Proposal,
    facts: &Facts<'_>,
    before: &[Finding],
    fetch: Fetch<'_>,
) -> Result<Brought, PipelineError> {
    let next = proposal.next_policy(facts.policy);
    let touched = if evidence::asks_for_properties(next) { lane::touched(facts, next) } else { Vec::new() };
    let oracles = oracles_digest(git, question, facts.policy)?;
    if touched.is_empty() && next.tree_tests.is_none() {
        return Ok(Brought { oracles, ..Brought::default() });
    }
    let sandbox = match opened(question) {
        Ok(sandbox) => sandbox,
        Err(why) => return Ok(Brought { runs: Runs::NoSandbox(why), oracles, ..Brought::default() }),
    };
    let worst = decide(before);
    let Some(merged) = facts.change.merged_tree.as_ref().filter(|_| worst < Verdict::Unscored) else {
        return Ok(Brought { oracles, ..not_started(worst) });
    };
    let mut bench = bench::Bench::lay_out(git, question, next, (merged, merged), sandbox, fetch)?;
    let mut brought = Brought { oracles, ..Brought::default() };
    match bench.run_proposed(facts, &touched, &mut brought) {
        Ok(runs) => brought.runs = runs,
        Err(bench::Stopped::NoSandbox(why)) => brought.runs = Runs::NoSandbox(why),
        Err(bench::Stopped::Git(error)) => return Err(error),
    }
    Ok(brought)
}

fn not_started(worst: Verdict) -> Brought {
    let why = format!("properties and live tests: not started, since what was found before says {worst} already");
    Brought { not_observed: vec![why], ..Brought::default() }
}

fn opened(question: &Question) -> Result<Arc<dyn Sandbox>, String> {
    match &question.running.sandbox {
        Room::Open(sandbox) => Ok(Arc::clone(sandbox)),
        Room::Configured => {
            crate::sandbox::open(&question.running.limits).map(Arc::from).map_err(|error| with_causes(&error))
        }
        Room::None(why) => Err(why.clone()),
    }
}
