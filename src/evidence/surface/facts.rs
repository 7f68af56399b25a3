//! What the oracle of the surface may know.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::files::{FileLines, adds_code, any_judged, files};
use super::subtract::{Subtraction, subtract};
use crate::evidence::ledger::{Ledger, LedgerFacts};
use crate::evidence::{Blobs, ClassedRow};
use crate::maps::Surface;
use crate::words::ObjectId;

/// What changed in the product, and what the coverage map says of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceFacts {
    /// The map.
    pub map: MapFacts,
    /// What the change does to the product's lines of code.
    pub code: CodeChange,
    /// What the map says of the changed lines; empty where no map was read.
    pub subtraction: Subtraction,
}

/// The coverage map that the change is held against.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum MapFacts {
    /// Nothing asks for one.
    #[default]
    NotNeeded,
    /// There is none: which commits were tried, for people.
    Absent {
        /// Where it was looked for.
        tried: String,
    },
    /// There is one, and it cannot be used: where, and why in one line.
    Unusable {
        /// Where it is.
        origin: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is one without lines, or without tests.
    TooCoarse {
        /// Where it is.
        origin: String,
        /// What it lacks.
        why: String,
    },
    /// It was read.
    Read(Box<ReadMap>),
}

/// A coverage map that was read, in the numbers of the merge base.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadMap {
    /// Where it is.
    pub origin: String,
    /// The commit that it was made on; `None` where it does not say.
    pub commit: Option<ObjectId>,
    /// How many first-parent commits that is before the merge base.
    pub age: u32,
    /// What it says of the changed files.
    pub surface: Surface,
    /// How many lines of all files only frozen tests run, by the tests that run them; empty where the policy does not bound them.
    pub frozen_alone: BTreeMap<Vec<String>, u64>,
}

impl ReadMap {
    /// How many lines of all files only frozen tests run.
    pub fn frozen_lines(&self) -> u64 {
        self.frozen_alone.values().sum()
    }
}

/// What a change does to the product's lines of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeChange {
    /// Nothing.
    #[default]
    None,
    /// It adds some.
    Adds,
    /// It takes some away and adds none.
    OnlyRemoves,
}

impl SurfaceFacts {
    /// What is known of a change for which no map was read.
    pub fn without_map(map: MapFacts, rows: &[ClassedRow<'_>], blobs: &Blobs) -> Self {
        let code = if !any_judged(rows) {
            CodeChange::None
        } else if adds_code(rows, blobs) {
            CodeChange::Adds
        } else {
            code_change(&files(rows, blobs))
        };
        Self { map, code, subtraction: Subtraction::default() }
    }

    /// Takes what only frozen tests observe from what changed.
    pub fn with_map(map: ReadMap, rows: &[ClassedRow<'_>], blobs: &Blobs) -> Self {
        let files = files(rows, blobs);
        let subtraction = subtract(&files, &map.surface);
        Self { code: code_change(&files), subtraction, map: MapFacts::Read(Box::new(map)) }
    }
}

fn code_change(files: &[FileLines]) -> CodeChange {
    if files.iter().any(|file| file.added() > 0 || (file.is_unread() && file.at_head)) {
        CodeChange::Adds
    } else if files.is_empty() {
        CodeChange::None
    } else {
        CodeChange::OnlyRemoves
    }
}

/// The node ids that live freezes take out of the surface: tests only, since a map knows no properties. Sorted, each once.
pub fn frozen_tests(ledger: &LedgerFacts, today: Date) -> Vec<String> {
    let LedgerFacts::Read { ledger, .. } = ledger else { return Vec::new() };
    let ids: BTreeSet<&str> = frozen(ledger, today).collect();
    ids.into_iter().map(str::to_owned).collect()
}

fn frozen(ledger: &Ledger, today: Date) -> impl Iterator<Item = &str> {
    ledger.live(today).map(|freeze| freeze.nodeid.as_str()).filter(|id| !id.starts_with("property:"))
}
