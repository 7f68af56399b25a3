//! A report as a list of names with outcomes.

use std::collections::BTreeMap;

use crate::evidence::junit::{self, Case, TestFailure};
use crate::sandbox::{Ended, Outcome as Run};

/// What the rules about live tests may know.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeFacts {
    /// The run on the merged tree.
    pub merged: TreeRun,
    /// The run on the base.
    pub base: TreeRun,
    /// Tests that had another outcome in an earlier run with the same inputs.
    pub flaky: Vec<String>,
}

/// What came of one run.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeRun {
    /// A report came.
    Reported(Inventory),
    /// None came that can be used: why.
    Missing(String),
}

/// Every test of a report, by the id that its runner prints.
pub type Inventory = BTreeMap<String, Tested>;

/// What a report says of one test.
#[derive(Clone, Debug, PartialEq)]
pub struct Tested {
    /// The test, by all its names.
    pub case: Case,
    /// Whether it ran, once at least.
    pub ran: bool,
}

impl Tested {
    /// The first failure; `None` when it passed or did not run. A test that was run again until it passed has failed.
    pub fn failure(&self) -> Option<&TestFailure> {
        self.case.failures.first()
    }

    /// Higher is worse: passed, not run, failed.
    fn severity(&self) -> u8 {
        match (self.failure(), self.ran) {
            (Some(_), _) => 2,
            (None, false) => 1,
            (None, true) => 0,
        }
    }
}

/// What a run says: its report, unless it was stopped before it had ended by itself.
pub fn read(run: &Run, report: Result<&[u8], String>) -> TreeRun {
    let stopped = match run.ended {
        Ended::Exited(_) | Ended::Signalled(_) => None,
        Ended::TimedOut => Some("the time ran out"),
        Ended::OutOfMemory => Some("it used more memory than it may"),
        Ended::OutputLimit => Some("it wrote more than it may"),
    };
    if let Some(why) = stopped {
        return TreeRun::Missing(format!("the run was stopped: {why}"));
    }
    match report.and_then(|bytes| junit::read(bytes).map_err(|error| format!("the report cannot be read: {error}"))) {
        Ok(cases) => TreeRun::Reported(inventory(cases)),
        Err(why) => TreeRun::Missing(why),
    }
}

/// A test that is reported twice has failed where one of them failed.
fn inventory(cases: Vec<Case>) -> Inventory {
    let mut inventory = Inventory::new();
    for case in cases {
        let ran = !case.skipped || !case.failures.is_empty();
        match inventory.entry(case.id()) {
            std::collections::btree_map::Entry::Vacant(entry) => drop(entry.insert(Tested { case, ran })),
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.ran |= ran;
                known.case.failures.extend(case.failures);
            }
        }
    }
    inventory
}

/// Of two runs with the same inputs the worse one, test by test, and the tests whose outcomes differ.
pub fn worse(now: TreeRun, earlier: TreeRun) -> (TreeRun, Vec<String>) {
    let (now, earlier) = match (now, earlier) {
        (TreeRun::Reported(now), TreeRun::Reported(earlier)) => (now, earlier),
        (TreeRun::Missing(now), TreeRun::Missing(_)) => return (TreeRun::Missing(now), Vec::new()),
        (TreeRun::Missing(why), _) | (_, TreeRun::Missing(why)) => {
            return (TreeRun::Missing(why), vec!["the whole report".to_owned()]);
        }
    };
    let (mut stands, mut flaky) = (Inventory::new(), Vec::new());
    let ids: std::collections::BTreeSet<&String> = now.keys().chain(earlier.keys()).collect();
    for id in ids {
        match (now.get(id), earlier.get(id)) {
            (Some(a), Some(b)) => {
                if a.severity() != b.severity() {
                    flaky.push(id.clone());
                }
                stands.insert(id.clone(), if a.severity() >= b.severity() { a.clone() } else { b.clone() });
            }
            (Some(one), None) | (None, Some(one)) => {
                flaky.push(id.clone());
                // Not to be there is worse than to pass.
                if one.failure().is_some() {
                    stands.insert(id.clone(), one.clone());
                }
            }
            (None, None) => {}
        }
    }
    (TreeRun::Reported(stands), flaky)
}
