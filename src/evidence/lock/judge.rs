//! The lock against the trees.

use std::collections::{BTreeMap, BTreeSet};

use super::{Lock, LockFacts, Locked, LockedBase, LockedTrees};
use crate::change::{BytePath, Mode, PathChange, Side, TreeFile};
use crate::evidence::{Facts, Finding, Location, Oracle, Rule, wording};
use crate::policy::Class;
use crate::words::{ObjectId, Verdict};

pub(in crate::evidence) struct LockOracle;

static FIXTURE_MISMATCH: Rule = Rule {
    id: "fixture-mismatch",
    verdict: Verdict::Reject,
    when: "In the merged tree a file that the base's fixture lock lists is missing, is no file, or has other bytes.",
    innocent: "The input really has to change: then file and lock change together, through the evidence lane.",
    next: "Restore these files; recorded inputs change in a pull request of their own, together with the lock (`evidence-gate lock write`).",
};

static FIXTURE_NOT_LOCKED: Rule = Rule {
    id: "fixture-not-locked",
    verdict: Verdict::Reject,
    when: "The change adds a file to a folder of locked files that the lock does not list; `fixtures.added = \"hold\"` softens it.",
    innocent: "A new input for a new test: then it comes with its line in the lock, through the evidence lane.",
    next: "Take these files out of this pull request, or add them and their lines of the lock through the evidence lane first.",
};

static LOCK_STALE_ON_BASE: Rule = Rule {
    id: "lock-stale-on-base",
    verdict: Verdict::Unscored,
    when: "The tip of the base branch does not fulfil the fixture lock itself.",
    innocent: "Somebody changed a fixture and forgot the lock.",
    next: "A maintainer compares these files with what they should be, runs `evidence-gate lock write` on the base branch and commits the lock.",
};

static FIXTURE_LOCK_MISSING: Rule = Rule {
    id: "fixture-lock-missing",
    verdict: Verdict::Unscored,
    when: "The policy requires a fixture lock, and neither the base's tip nor the operator has one.",
    innocent: "The policy was written before the lock.",
    next: "A maintainer runs `evidence-gate lock write` on the base branch and commits what it wrote.",
};

static LOCK_UNREADABLE: Rule = Rule {
    id: "lock-unreadable",
    verdict: Verdict::Unscored,
    when: "The fixture lock has a fault: a bad digest, a path twice, a path outside the repository, or another shape than a lock.",
    innocent: "Never: what is not understood locks nothing.",
    next: "A maintainer repairs the lock on the base branch; `evidence-gate lock verify` names the place.",
};

static HUMAN_FIXTURE_CHANGED: Rule = Rule {
    id: "human-fixture-changed",
    verdict: Verdict::Hold,
    when: "A path below `fixtures.human_prefixes` changes.",
    innocent: "A picture or a document that a person made anew.",
    next: "A person looks at these files, and approves this head.",
};

impl Oracle for LockOracle {
    fn rules(&self) -> &'static [&'static Rule] {
        const {
            &[
                &FIXTURE_MISMATCH,
                &FIXTURE_NOT_LOCKED,
                &LOCK_STALE_ON_BASE,
                &FIXTURE_LOCK_MISSING,
                &LOCK_UNREADABLE,
                &HUMAN_FIXTURE_CHANGED,
            ]
        }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let mut findings = match facts.lock {
            LockFacts::Absent if facts.policy.require.fixture_lock => {
                let message = format!(
                    "the policy requires a fixture lock, and there is no {} at the tip of the base branch",
                    facts.policy.fixtures.lock
                );
                vec![Finding::new(&FIXTURE_LOCK_MISSING, message)]
            }
            LockFacts::Absent => Vec::new(),
            LockFacts::Unreadable { origin, why } => {
                vec![Finding::new(&LOCK_UNREADABLE, format!("the fixture lock {origin} cannot be used: {why}"))]
            }
            LockFacts::Read { origin, lock, trees } => held_against(facts, origin, lock, trees),
        };
        findings.extend(human(facts));
        findings
    }
}

fn human(facts: &Facts<'_>) -> Option<Finding> {
    let prefixes = &facts.policy.fixtures.human_prefixes;
    wording::over(
        &HUMAN_FIXTURE_CHANGED,
        facts.rows,
        |row| row.row.paths().any(|path| prefixes.iter().any(|prefix| prefix.holds(path))),
        |number, names| {
            format!("{} that only people judge: {names}", wording::count(number, "file changes", "files change"))
        },
    )
}

/// What stands at a locked path.
#[derive(Clone, Copy, PartialEq, Eq)]
struct There<'a> {
    mode: Mode,
    id: &'a ObjectId,
}

/// How a tree fails a line of the lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::evidence) enum Unfulfilled {
    OtherBytes,
    Missing,
    NoFile,
}

impl Unfulfilled {
    fn word(self) -> &'static str {
        match self {
            Self::OtherBytes => "with other bytes",
            Self::Missing => "missing",
            Self::NoFile => "no ordinary file",
        }
    }
}

fn held_against(facts: &Facts<'_>, origin: &str, lock: &Lock, trees: &LockedTrees) -> Vec<Finding> {
    let named = |rule, faults: &[(&BytePath, Unfulfilled)], where_: &str| {
        (!faults.is_empty()).then(|| Finding::new(rule, sentence(faults, origin, where_)).at(places(faults)))
    };
    [
        named(&FIXTURE_MISMATCH, &trees.broken(lock), "in the merged tree"),
        named(&LOCK_STALE_ON_BASE, &trees.stale(lock), "at the tip of the base branch"),
        not_locked(facts, lock, trees),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl LockedTrees {
    /// What the base's tip itself does not fulfil.
    pub(super) fn stale<'a>(&self, lock: &'a Lock) -> Vec<(&'a BytePath, Unfulfilled)> {
        let LockedBase::Listed(files) = &self.base else { return Vec::new() };
        let mut files = files.iter().peekable();
        let mut stale = Vec::new();
        for locked in &lock.files {
            while files.next_if(|file| file.path < locked.path).is_some() {}
            let there = files.peek().filter(|file| file.path == locked.path).map(|file| there(file));
            stale.extend(fault(locked, there, self).map(|fault| (&locked.path, fault)));
        }
        stale
    }

    /// What the merged tree does not fulfil. Where it has what the base has, there is no row, and the base alone is to blame.
    fn broken<'a>(&self, lock: &'a Lock) -> Vec<(&'a BytePath, Unfulfilled)> {
        let mut rows: BTreeMap<&BytePath, Option<There<'_>>> = BTreeMap::new();
        for row in self.merged.iter().flatten() {
            if let Some(old) = &row.old {
                rows.entry(&old.path).or_insert(None);
            }
            if let Some(Side { path, mode, blob }) = &row.new {
                rows.insert(path, Some(There { mode: *mode, id: blob }));
            }
        }
        let broken = rows.into_iter().filter_map(|(path, there)| {
            let locked = lock.at(path)?;
            Some((&locked.path, fault(locked, there, self)?))
        });
        broken.collect()
    }
}

fn there(file: &TreeFile) -> There<'_> {
    There { mode: file.mode, id: &file.id }
}

/// A symbolic link is not followed: what stands there must be a file, and must have the bytes. Bytes that nobody read are other bytes.
fn fault(locked: &Locked, there: Option<There<'_>>, trees: &LockedTrees) -> Option<Unfulfilled> {
    let Some(there) = there else { return Some(Unfulfilled::Missing) };
    if !there.mode.is_file() {
        return Some(Unfulfilled::NoFile);
    }
    let wanted = locked.digest?;
    (trees.digests.get(there.id) != Some(&wanted)).then_some(Unfulfilled::OtherBytes)
}

/// What the base's side of these trees does not fulfil. The lane puts the merged tree there.
pub(in crate::evidence) fn unfulfilled<'a>(lock: &'a Lock, trees: &LockedTrees) -> Vec<(&'a BytePath, Unfulfilled)> {
    trees.stale(lock)
}

fn sentence(faults: &[(&BytePath, Unfulfilled)], origin: &str, where_: &str) -> String {
    let kinds: BTreeSet<Unfulfilled> = faults.iter().map(|(_, fault)| *fault).collect();
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|kind| {
            let of_kind: Vec<_> = faults.iter().filter(|(_, fault)| *fault == kind).collect();
            let names = of_kind.iter().map(|(path, _)| wording::name(path)).collect();
            format!("{} ({})", wording::count(of_kind.len(), kind.word(), kind.word()), wording::list(names))
        })
        .collect();
    let files = wording::count(faults.len(), "file is", "files are");
    format!("{files} not {where_} as the fixture lock {origin} says: {}", kinds.join(", "))
}

fn places<'a>(faults: &'a [(&'a BytePath, Unfulfilled)]) -> impl Iterator<Item = Location> + 'a {
    faults.iter().map(|(path, _)| Location::file(path))
}

/// Files that the merged tree has and the base has not, below the folder of a locked file. The root is the folder of everything and
/// counts for nothing; tests, their configuration, build files and the product have judges of their own.
pub(in crate::evidence) fn added_beside<'a>(
    facts: &Facts<'_>,
    lock: &Lock,
    trees: &'a LockedTrees,
) -> Vec<&'a BytePath> {
    let mut added: Vec<&BytePath> = trees
        .merged
        .iter()
        .flatten()
        .filter(|row| row.old.is_none())
        .map(PathChange::path)
        .filter(|path| !has_a_judge(facts.classifier.class(path)))
        .filter(|path| lock.at(path).is_none())
        .collect();
    if added.is_empty() {
        return added;
    }
    let folders: BTreeSet<&[u8]> = lock.files.iter().filter_map(|locked| folder(locked.path.as_bytes())).collect();
    added.retain(|path| {
        std::iter::successors(folder(path.as_bytes()), |inner| folder(inner)).any(|outer| folders.contains(outer))
    });
    added.sort();
    added
}

fn not_locked(facts: &Facts<'_>, lock: &Lock, trees: &LockedTrees) -> Option<Finding> {
    let added = added_beside(facts, lock, trees);
    if added.is_empty() {
        return None;
    }
    let number = wording::count(added.len(), "added file lies", "added files lie");
    let names = wording::list(added.iter().map(|path| wording::name(path)).collect());
    let message = format!("{number} in a folder of locked files, and the lock does not list it: {names}");
    let finding = Finding::new(&FIXTURE_NOT_LOCKED, message).with_verdict(facts.policy.fixtures.added.verdict());
    Some(finding.at(added.into_iter().map(Location::file)))
}

fn has_a_judge(class: Class) -> bool {
    matches!(class, Class::Test | Class::TestConfig | Class::Build | Class::Product)
}

fn folder(path: &[u8]) -> Option<&[u8]> {
    path.iter().rposition(|byte| *byte == b'/').map(|slash| &path[..slash])
}
