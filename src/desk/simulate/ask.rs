//! A policy and a history -> what would have been said of each change.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use super::outcome::{Outcome, Runs, Simulated};
use super::pool;
use crate::change::{BytePath, Git, GitError, Landed, Sha256};
use crate::config;
use crate::desk::{cache, lock, score};
use crate::pipeline::{self, OperatorsFile, OperatorsPolicy, Origin, Question, Room, Running};
use crate::policy::Policy;
use crate::score::Record;
use crate::words::{BaseSha, HeadSha, ObjectId};

/// What is asked of a history.
pub(in crate::desk) struct Ask {
    /// The repository's folder, for its name and for what may be kept of it.
    pub(in crate::desk) repo: PathBuf,
    /// The repository.
    pub(in crate::desk) git: Git,
    /// The policy that is tried.
    pub(in crate::desk) policy: OperatorsPolicy,
    /// The same, read.
    pub(in crate::desk) parsed: Policy,
    /// The revision whose history it is, as a person named it.
    pub(in crate::desk) tip: String,
    /// The most changes.
    pub(in crate::desk) last: u32,
    /// How what the policy asks for is run; `None` where it is not.
    pub(in crate::desk) running: Option<Running>,
    /// The most that one change may take.
    pub(in crate::desk) limit: Duration,
    /// The clock.
    pub(in crate::desk) clock: fn() -> Timestamp,
    /// Told how many of how many changes are judged.
    pub(in crate::desk) progress: fn(usize, usize),
}

/// A history, judged.
#[derive(Clone, Debug)]
pub(in crate::desk) struct History {
    /// The policy's name for people.
    pub(in crate::desk) policy: String,
    /// The policy's text, for the lines of its keys.
    pub(in crate::desk) policy_text: String,
    /// The revision whose history it is.
    pub(in crate::desk) tip: String,
    /// Its commit.
    pub(in crate::desk) commit: ObjectId,
    /// The changes, the newest first.
    pub(in crate::desk) changes: Vec<Simulated>,
    /// Whether older changes exist that this repository does not hold.
    pub(in crate::desk) cut_off: bool,
    /// What the policy asks to run and the simulation did not, one phrase each.
    pub(in crate::desk) not_run: Vec<String>,
}

/// Judges the history.
pub(in crate::desk) fn run(ask: Ask) -> Result<History, GitError> {
    let commit = ask.git.resolve(&ask.tip)?;
    let landed = ask.git.landed(&commit, ask.last)?;
    let not_run = if ask.running.is_some() { Vec::new() } else { not_run(&ask.parsed) };
    let (limit, progress, total) = (ask.limit, ask.progress, landed.changes.len());
    let (policy, policy_text, tip) = (ask.policy.origin.clone(), ask.policy.text.clone(), ask.tip.clone());
    let asked = Arc::new(Asked::new(ask));
    let changes = Arc::new(landed.changes);
    let mut outcomes: Vec<Option<(Outcome, Duration)>> = vec![None; total];
    let mut done = 0;
    let (of, judge) = (Arc::clone(&changes), asked);
    pool::each(
        total,
        limit,
        move |job| judge.outcome(&of[job]),
        |job, outcome| {
            let late = || {
                let why = format!("it took longer than {} seconds (`--timeout`)", limit.as_secs());
                (Outcome::NotJudged(why), limit)
            };
            outcomes[job] = Some(outcome.unwrap_or_else(late));
            done += 1;
            progress(done, total);
        },
    );
    let simulated = changes.iter().zip(outcomes).filter_map(|(change, outcome)| {
        let (outcome, took) = outcome?;
        Some(Simulated { change: change.clone(), outcome, took })
    });
    let changes = simulated.collect();
    Ok(History { policy, policy_text, tip, commit, changes, cut_off: landed.cut_off, not_run })
}

/// What a policy asks that a simulation without runs does not do.
fn not_run(policy: &Policy) -> Vec<String> {
    let mut left = Vec::new();
    if crate::evidence::asks_for_properties(policy) {
        let number = policy.property.len();
        left.push(if number == 1 { "1 property".to_owned() } else { format!("{number} properties") });
    }
    if policy.tree_tests.is_some() {
        left.push("the live tests of the merged tree".to_owned());
    }
    if !policy.proposal.checks.is_empty() {
        left.push("what the pull request's own checks said".to_owned());
    }
    left
}

/// Everything that is the same for each change.
struct Asked {
    ask: Ask,
    name: String,
    known_digests: Option<PathBuf>,
    /// sha256 of fixtures that were hashed for one lock, for the next.
    hashed: Mutex<HashMap<ObjectId, Sha256>>,
}

impl Asked {
    fn new(ask: Ask) -> Self {
        let name = score::folder_name(&ask.repo);
        let known_digests = cache::known_digests(&ask.repo, &config::environment());
        Self { ask, name, known_digests, hashed: Mutex::default() }
    }

    fn outcome(&self, change: &Landed) -> Outcome {
        match self.judge(change) {
            Ok(record) => {
                let runs = if self.ask.running.is_some() { Runs::Run } else { Runs::LeftOut };
                Outcome::Judged { record: Box::new(record), runs }
            }
            Err(error) => Outcome::NotJudged(error.to_string()),
        }
    }

    /// Judges what a commit brought to its first parent, on the day on which it was committed.
    fn judge(&self, change: &Landed) -> Result<Record, GitError> {
        let running = self.ask.running.clone().unwrap_or_else(|| Running {
            sandbox: Room::None("a simulation runs nothing".to_owned()),
            ..Running::default()
        });
        let question = Question {
            origin: Origin::Local { name: self.name.clone() },
            base_ref: self.ask.tip.clone(),
            base: BaseSha(change.before.clone()),
            head: HeadSha(change.commit.clone()),
            policy: Some(self.ask.policy.clone()),
            lock: self.lock_as_kept(&change.before)?,
            ledger: None,
            map: None,
            maps: None,
            reviews: None,
            lane: pipeline::LaneAsked::ByLabel,
            known_digests: self.known_digests.clone(),
            running,
            runner: "local".to_owned(),
            today: Timestamp::from_second(change.committed).ok(),
            clock: self.ask.clock,
        };
        pipeline::score(&self.ask.git, &question).map_err(|error| error.0)
    }

    /// The lock that the base would have had under a policy that asks for one: a base from before the policy has none.
    fn lock_as_kept(&self, base: &ObjectId) -> Result<Option<OperatorsFile>, GitError> {
        let policy = &self.ask.parsed;
        let path = BytePath::new(policy.fixtures.lock.as_str());
        if !policy.require.fixture_lock || self.ask.git.file_at(base, &path)?.is_some() {
            return Ok(None);
        }
        let files = lock::fixtures(&self.ask.git, base, policy)?.files;
        let mut hashed = self.hashed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let new = self.ask.git.sha256(files.iter().map(|file| &file.id).filter(|id| !hashed.contains_key(*id)))?;
        hashed.extend(new.clone());
        self.hashed.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
        let digests: BTreeMap<_, _> =
            files.iter().filter_map(|file| Some((file.id.clone(), *hashed.get(&file.id)?))).collect();
        let origin = format!("{path} as it would have been kept");
        Ok(Some(OperatorsFile { origin, bytes: lock::text(&files, &digests).into() }))
    }
}
