//! What a pull request that asks for the evidence lane proposes, read from the merged tree.
//!
//! The merged tree is what the base will be once the change is in, so the new evidence is held against itself there. It is judged and judges
//! nothing: whether it is sound is asked before anybody lets it in.

use std::collections::{BTreeMap, BTreeSet};

use super::collect::{Fetch, read_file};
use super::policy::Rules;
use super::{LaneAsked, Origin, PipelineError, Question, ledger, lock, map};
use crate::change::{Blob, BytePath, Change, Compared, Git};
use crate::evidence::authority::{self, Asked, Reviews};
use crate::evidence::lane::{
    EntryTest, Grant, Lane, Proposal, ProposedLedger, ProposedLock, ProposedPolicy, entries_to_judge, entry_lines,
    grant, line_of,
};
use crate::evidence::ledger::{Freeze, LARGEST_LEDGER, Ledger, LedgerFacts, parse_entries};
use crate::evidence::lock::{LARGEST_LOCK, LockError, LockedBase, LockedTrees, blobs_to_hash, folders_to_list};
use crate::evidence::{ClassedRow, Facts};
use crate::forge::Account;
use crate::maps::{self, Index, Price};
use crate::policy::{LARGEST, Policy, Property, RepoPath};
use crate::score::{FreezePrice, FreezeRow, Lane as LaneRow, LaneSurface};
use crate::words::ObjectId;

/// The most bytes of a test file in which a frozen test's name is looked for.
const LARGEST_TEST: u64 = 8 << 20;

/// `None` where nobody asks for the lane, or no evidence changes.
pub(super) fn collect(
    git: &Git,
    question: &Question,
    rules: &Rules,
    compared: &Compared,
    facts: &Facts<'_>,
    fetch: Fetch<'_>,
) -> Result<Option<Lane>, PipelineError> {
    let Compared::One(change) = compared else { return Ok(None) };
    let policy = &rules.policy;
    let evidence = |row: &ClassedRow<'_>| row.row.paths().all(|path| facts.classifier.class(path).is_evidence());
    if !is_asked_for(question, policy) || !facts.rows.iter().any(|row| row.class.is_evidence()) {
        return Ok(None);
    }
    let label = policy.lane.label.clone();
    if !facts.rows.iter().all(evidence) {
        return Ok(Some(Lane { label, proposal: None }));
    }
    let mut proposal = Proposal {
        agent: agent(git, question, policy, change)?,
        grant: granted(git, question, policy, change)?,
        policy: ProposedPolicy::Untouched,
        lock: ProposedLock::Untouched,
        ledger: ProposedLedger::Untouched,
    };
    if let Some(merged) = &change.merged_tree {
        let seen = Seen { git, question, rules, facts, change, merged };
        proposal.policy = seen.policy(fetch)?;
        let next = proposal.next_policy(policy).clone();
        proposal.lock = seen.lock(&next, fetch)?;
        proposal.ledger = seen.ledger(&next, fetch)?;
    }
    Ok(Some(Lane { label, proposal: Some(Box::new(proposal)) }))
}

fn is_asked_for(question: &Question, policy: &Policy) -> bool {
    match &question.origin {
        Origin::Pull { labels, .. } => labels.iter().any(|label| is_label(policy, label)),
        Origin::Local { .. } => question.lane == LaneAsked::Always,
        Origin::Group { .. } => false,
    }
}

/// Whether this is the lane's label. A forge takes two labels for one that differ in case alone.
pub(super) fn is_label(policy: &Policy, label: &str) -> bool {
    policy.lane.label.to_lowercase() == label.to_lowercase()
}

/// Why the author is no person. What `[scope]` calls an agent is one here whatever it gates.
fn agent(git: &Git, question: &Question, policy: &Policy, change: &Change) -> Result<Option<String>, PipelineError> {
    let scope = &policy.scope;
    if let Origin::Pull { author, branch, labels, .. } = &question.origin {
        let Account { login, is_bot, .. } = author;
        if *is_bot || authority::is_agent(policy, login) {
            return Ok(Some(format!("the author {login} is a bot or an agent")));
        }
        if scope.branches.iter().any(|agent| agent.matches(branch)) {
            return Ok(Some(format!("the branch {branch} is an agent's")));
        }
        let label = labels
            .iter()
            .find(|label| !is_label(policy, label) && scope.labels.iter().any(|agent| agent.matches(label)));
        if let Some(label) = label {
            return Ok(Some(format!("the label {label} marks what an agent made")));
        }
    }
    let lines = git.message_lines(&change.merge_base, &change.head)?;
    let line = lines.into_iter().find(|line| scope.trailers.iter().any(|agent| agent.matches(line)));
    Ok(line.map(|line| format!("a commit has the agent's trailer {line}")))
}

fn granted(git: &Git, question: &Question, policy: &Policy, change: &Change) -> Result<Grant, PipelineError> {
    let (Origin::Pull { author, .. }, Some(reviews)) = (&question.origin, &question.reviews) else {
        return Ok(Grant::Unseen);
    };
    let signed = git.signed(&change.merge_base, &change.head)?;
    let asked = Asked { author, head: &question.head, least: policy.lane.min_role, policy, reviews, signed: &signed };
    Ok(grant(&asked, label_of(reviews, policy)))
}

fn label_of<'a>(reviews: &'a Reviews, policy: &Policy) -> Option<&'a crate::evidence::lane::Labelled> {
    reviews.labels.iter().find(|(label, _)| is_label(policy, label)).map(|(_, set)| set)
}

/// Where the new evidence is read.
struct Seen<'a> {
    git: &'a Git,
    question: &'a Question,
    rules: &'a Rules,
    facts: &'a Facts<'a>,
    change: &'a Change,
    merged: &'a ObjectId,
}

/// A file of the merged tree.
enum Text {
    Absent,
    Unreadable(String),
    Whole(Vec<u8>),
}

impl Seen<'_> {
    fn touches(&self, path: &BytePath) -> bool {
        self.facts.rows.iter().any(|row| row.row.paths().any(|touched| touched == path))
    }

    fn text(&self, path: &BytePath, limit: u64, fetch: Fetch<'_>) -> Result<Text, PipelineError> {
        Ok(match read_file(self.git, self.merged, path, limit, fetch)? {
            None => Text::Absent,
            Some((mode, _)) if !mode.is_file() => {
                Text::Unreadable(format!("it is no file but an entry of mode {mode}"))
            }
            Some((_, Blob::Whole(bytes))) => Text::Whole(bytes.to_vec()),
            Some((_, Blob::TooLarge(size))) => {
                Text::Unreadable(format!("it has {size} bytes, and at most {limit} are read"))
            }
            Some((_, Blob::Missing)) => Text::Unreadable("its contents could not be fetched".to_owned()),
        })
    }

    fn policy(&self, fetch: Fetch<'_>) -> Result<ProposedPolicy, PipelineError> {
        let path = BytePath::new(Policy::FILE);
        if !self.touches(&path) {
            return Ok(ProposedPolicy::Untouched);
        }
        let bytes = match self.text(&path, LARGEST as u64, fetch)? {
            Text::Absent => return Ok(ProposedPolicy::Gone),
            Text::Unreadable(why) => return Ok(ProposedPolicy::Unreadable(why)),
            Text::Whole(bytes) => bytes,
        };
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(error) => {
                let why = format!("it is no UTF-8 after byte {}", error.valid_up_to());
                return Ok(ProposedPolicy::Unreadable(why));
            }
        };
        Ok(match crate::policy::parse(text, Policy::FILE) {
            Ok(policy) => ProposedPolicy::Read(Box::new(policy)),
            Err(error) => {
                ProposedPolicy::Faulty(error.faults().iter().map(|fault| (fault.line, fault.message.clone())).collect())
            }
        })
    }

    /// The lock is judged where the change touches it, a fixture or snapshot, or the policy's word on where it is.
    fn lock(&self, next: &Policy, fetch: Fetch<'_>) -> Result<ProposedLock, PipelineError> {
        let now = BytePath::new(self.rules.policy.fixtures.lock.as_str());
        let path = BytePath::new(next.fixtures.lock.as_str());
        let fixtures = self.facts.rows.iter().any(|row| {
            use crate::policy::Class::{Fixture, Oracle, Snapshot};
            matches!(row.class, Fixture | Oracle | Snapshot)
        });
        if !fixtures && !self.touches(&path) && !self.touches(&now) && path == now {
            return Ok(ProposedLock::Untouched);
        }
        let bytes = match self.text(&path, LARGEST_LOCK, fetch)? {
            Text::Absent => {
                let had = self.git.file_at(self.question.base.id(), &now)?.is_some();
                return Ok(ProposedLock::Absent { path, missed: had || next.require.fixture_lock });
            }
            Text::Unreadable(why) => return Ok(ProposedLock::Unreadable { path, line: None, why }),
            Text::Whole(bytes) => bytes,
        };
        let read = match crate::evidence::lock::parse(&bytes) {
            Ok(read) => read,
            Err(error) => {
                let line = match &error {
                    LockError::Line { line, .. } => u32::try_from(*line).ok(),
                    LockError::Path { .. } | LockError::Document(_) => None,
                };
                return Ok(ProposedLock::Unreadable { path, line, why: error.to_string() });
            }
        };
        let base = LockedBase::Listed(self.git.files(self.merged, &folders_to_list(&read))?);
        let rows = self.git.rows(self.question.base.id(), self.merged)?;
        let wanted = blobs_to_hash(&read, &base, Some(&rows));
        let digests = lock::digests(self.git, self.question, wanted, fetch)?;
        let trees = LockedTrees { base, merged: Some(rows), digests };
        let gone = |path: &BytePath| Some((path.clone(), line_of(&bytes, path.as_bytes())?));
        let listed: BTreeSet<&BytePath> = match &trees.base {
            LockedBase::Listed(files) => files.iter().map(|file| &file.path).collect(),
            LockedBase::Fulfils => BTreeSet::new(),
        };
        let lines = read.files.iter().map(|file| &file.path).filter(|path| !listed.contains(path)).filter_map(gone);
        let lines = lines.collect();
        Ok(ProposedLock::Read { path, lock: read, trees, lines })
    }

    fn ledger(&self, next: &Policy, fetch: Fetch<'_>) -> Result<ProposedLedger, PipelineError> {
        let now = BytePath::new(self.rules.policy.freeze.ledger.as_str());
        let path = BytePath::new(next.freeze.ledger.as_str());
        if !self.touches(&path) && !self.touches(&now) && path == now {
            return Ok(ProposedLedger::Untouched);
        }
        let before = match self.facts.ledger {
            LedgerFacts::Read { ledger, .. } => ledger.freezes.clone(),
            LedgerFacts::Absent | LedgerFacts::Unreadable { .. } => Vec::new(),
        };
        let bytes = match self.text(&path, LARGEST_LEDGER, fetch)? {
            Text::Absent => return Ok(ProposedLedger::Gone(before)),
            Text::Unreadable(why) => return Ok(ProposedLedger::Unreadable { path, why }),
            Text::Whole(bytes) => bytes,
        };
        let (after, faults) = match parse_entries(&bytes) {
            Ok(read) => read,
            Err(why) => return Ok(ProposedLedger::Unreadable { path, why }),
        };
        let bound = ledger::bound(self.git, self.question.base.id(), &after, fetch)?;
        let index = map::known(
            self.git,
            self.question,
            self.change.merge_base.id(),
            self.rules.policy.surface.max_map_age,
            fetch,
        )?;
        let judged: Vec<&Freeze> = entries_to_judge(&before, &after).collect();
        let price = self.price(index.as_deref(), &judged, &after, next);
        let unknown = price.as_ref().map(|price| price.unknown.clone());
        let mut tests = BTreeMap::new();
        for freeze in &judged {
            let found = self.entry_test(&freeze.nodeid, next, unknown.as_deref(), fetch)?;
            tests.insert(freeze.nodeid.clone(), found);
        }
        let lines = entry_lines(&bytes);
        Ok(ProposedLedger::Read { path, before, after, faults, lines, bound, tests, price: price.map(Box::new) })
    }

    /// What the added and changed entries cost on top of those that stay; `None` where no map can be read.
    fn price(&self, index: Option<&Index>, judged: &[&Freeze], after: &Ledger, next: &Policy) -> Option<Price> {
        let asked: Vec<String> = judged.iter().map(|freeze| freeze.nodeid.clone()).collect();
        let standing = after.live(self.facts.today).map(|freeze| freeze.nodeid.clone());
        let standing: Vec<String> = standing.filter(|id| !asked.contains(id)).collect();
        match maps::price(index?, &standing, &asked, next.freeze.reach) {
            Ok(price) => Some(price),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the coverage map cannot price freezes");
                None
            }
        }
    }

    /// Whether the base has the test that an entry names. `unknown`: what the coverage map does not know, where there is one.
    fn entry_test(
        &self,
        nodeid: &str,
        next: &Policy,
        unknown: Option<&[String]>,
        fetch: Fetch<'_>,
    ) -> Result<EntryTest, PipelineError> {
        if let Some(id) = nodeid.strip_prefix("property:") {
            let known = next.property.iter().any(|property| property.id.as_str() == id);
            return Ok(if known { EntryTest::Known } else { EntryTest::NoProperty });
        }
        if unknown.is_some_and(|unknown| !unknown.iter().any(|id| id == nodeid)) {
            return Ok(EntryTest::Known);
        }
        let mut parts = nodeid.split("::");
        let file = BytePath::new(parts.next().unwrap_or_default());
        let name = parts.last().map(|name| name.split(['[', '|', '(']).next().unwrap_or(name).trim());
        if nodeid == file.to_string() && !nodeid.contains('/') {
            return Ok(if unknown.is_some() { EntryTest::InNoMap } else { EntryTest::Untold });
        }
        let text = match read_file(self.git, self.question.base.id(), &file, LARGEST_TEST, fetch)? {
            Some((_, Blob::Whole(text))) => text,
            Some((_, Blob::TooLarge(_))) => {
                return Ok(if unknown.is_some() { EntryTest::InNoMap } else { EntryTest::Known });
            }
            Some((_, Blob::Missing)) | None => return Ok(EntryTest::NotOnBase),
        };
        let named = name.is_none_or(|name| line_of(&text, name.as_bytes()).is_some());
        Ok(match (named, unknown) {
            (false, _) => EntryTest::NotOnBase,
            (true, Some(_)) => EntryTest::InNoMap,
            (true, None) => EntryTest::Known,
        })
    }
}

/// The properties that the change touches, as the new policy has them: those whose entry in the policy is another one, those whose sample
/// or known-bad inputs change, and all of them where another oracle file or the root itself does.
pub(super) fn touched(facts: &Facts<'_>, next: &Policy) -> Vec<Property> {
    let now = facts.policy;
    let root: &RepoPath = &next.oracles.root;
    let below: Vec<String> = facts
        .rows
        .iter()
        .flat_map(|row| row.row.paths())
        .filter_map(|path| path.as_str()?.strip_prefix(root.as_str())?.strip_prefix('/').map(ToOwned::to_owned))
        .collect();
    let own = |name: &str| {
        let of = |folder: &str| name.strip_prefix(folder)?.strip_suffix(".json").map(ToOwned::to_owned);
        of("samples/").or_else(|| of("known_bad/"))
    };
    let all = now.oracles.root != next.oracles.root || below.iter().any(|name| own(name).is_none());
    let named: BTreeSet<String> = below.iter().filter_map(|name| own(name)).collect();
    let same = |property: &Property| now.property.iter().any(|before| before == property);
    next.property
        .iter()
        .filter(|property| all || !same(property) || named.contains(property.id.as_str()))
        .cloned()
        .collect()
}

/// The lane as the record has it.
pub(super) fn row(lane: &Lane, question: &Question) -> LaneRow {
    let by = match lane.proposal.as_ref().map(|proposal| &proposal.grant) {
        Some(Grant::Given(by)) => Some(by.join(", ")),
        Some(Grant::Stale(_) | Grant::Waits(_) | Grant::Unseen) | None => None,
    };
    let sha = by.as_ref().map(|_| question.head.to_string());
    let (freezes, surface) = lane.proposal.as_ref().map(|proposal| freezes(&proposal.ledger)).unwrap_or_default();
    LaneRow { label: lane.label.clone(), approved_by: by, sha, freezes, surface }
}

fn freezes(ledger: &ProposedLedger) -> (Vec<FreezeRow>, Option<LaneSurface>) {
    let (before, after, price) = match ledger {
        ProposedLedger::Untouched | ProposedLedger::Unreadable { .. } => return Default::default(),
        ProposedLedger::Gone(before) => (before.as_slice(), &[][..], None),
        ProposedLedger::Read { before, after, price, .. } => (before.as_slice(), &after.freezes[..], price.as_deref()),
    };
    let cost = |nodeid: &str| {
        let price = price?;
        let cost = price.each.iter().find(|cost| cost.nodeid == nodeid)?;
        let known = !price.unknown.iter().any(|id| id == nodeid);
        known.then(|| FreezePrice { tests: cost.tests, lines: cost.line_count(), files: cost.files.clone() })
    };
    let rows = crate::evidence::lane::changes(before, after).into_iter().map(|change| FreezeRow {
        change: change.changed.as_str().to_owned(),
        nodeid: change.freeze.nodeid.clone(),
        signature: change.freeze.failure.as_ref().map(|failure| failure.signature.to_string()),
        before: change.before.map(|day| day.to_string()),
        after: change.after.map(|day| day.to_string()),
        reason: change.freeze.reason.clone(),
        price: cost(&change.freeze.nodeid),
    });
    let surface = price.map(|price| LaneSurface { before: price.before, after: price.after });
    (rows.collect(), surface)
}
