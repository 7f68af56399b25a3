//! What a page shows of an evaluation besides its record, as the worker keeps it in the store.

use serde::{Deserialize, Serialize};

use crate::evidence::Facts;
use crate::evidence::ledger::{Freeze, LedgerFacts};
use crate::evidence::surface::{FilePicture, MapFacts, Observed, Picture, PictureLine, PictureRow, ReadMap, picture};
use crate::maps::{Reach, takes_out};
use crate::score::elided;

/// The shape that this version writes and reads.
const SHAPE: u32 = 1;

/// The most lines of all files together. What is left out is counted.
const MOST_LINES: usize = 4_000;

/// The most characters of a line that are kept.
const MOST_CHARACTERS: usize = 600;

/// Source lines beside their observers, and the freezes that stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exhibit {
    v: u32,
    /// Changed files of the product, by path. Empty where no coverage map was read.
    pub files: Vec<FileView>,
    /// Files that were left out because there was too much.
    pub files_left_out: usize,
    /// The freeze ledger; `None` where there is none.
    pub freezes: Option<FreezesView>,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileView {
    /// Its path; bytes that are no UTF-8 as `\xNN`.
    pub path: String,
    /// Why no grammar helped, where none did.
    pub plain: Option<String>,
    /// Both sides, line by line.
    pub rows: Vec<RowView>,
}

/// A row of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RowView {
    /// A line of the merge base, of the head, or of both.
    Lines {
        /// The merge base's.
        old: Option<LineView>,
        /// The head's.
        new: Option<LineView>,
    },
    /// Lines that are the same on both sides and far from any change.
    LeftOut {
        /// How many.
        lines: usize,
        /// How many of them only frozen tests run.
        frozen_only: usize,
    },
}

/// A line on one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineView {
    /// From 1.
    pub number: u32,
    /// What it says, cut where it is very long.
    pub text: String,
    /// Who runs it.
    pub seen: SeenView,
    /// Whether it is code that changed.
    pub changed: bool,
}

/// Who runs a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeenView {
    /// A live test.
    Live,
    /// It runs at import, beside lines that only frozen tests run.
    Import,
    /// Frozen tests and no live one.
    FrozenOnly,
    /// No test.
    Nobody,
    /// It is no code.
    NotCode,
}

/// The freezes of the base at the time, and their bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreezesView {
    /// Where the ledger is.
    pub origin: String,
    /// Why it cannot be read, where it cannot.
    pub unreadable: Option<String>,
    /// The most entries that the policy allows.
    pub max_entries: Option<u32>,
    /// The most lines that frozen tests alone may run, by the policy.
    pub max_lines: Option<u32>,
    /// How many lines frozen tests alone run; known where the policy bounds them and there is a map.
    pub frozen_lines: Option<u64>,
    /// The entries in the order of the file.
    pub entries: Vec<FreezeView>,
}

/// One freeze.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreezeView {
    /// The test, or `property:ID`.
    pub nodeid: String,
    /// Why, as a person wrote it.
    pub reason: Option<String>,
    /// The first day of the failure, `YYYY-MM-DD`.
    pub first_seen: Option<String>,
    /// The last day of the freeze, `YYYY-MM-DD`.
    pub expires_on: Option<String>,
    /// How many lines lost their only observer to it, alone or together with others; known as `frozen_lines` is.
    pub lines: Option<u64>,
}

/// What was kept cannot be shown.
#[derive(Debug, thiserror::Error)]
#[error("what was kept for the page cannot be read: {0}")]
pub struct UnreadableExhibit(String);

impl Default for Exhibit {
    /// Nothing: for a change that could not be judged.
    fn default() -> Self {
        Self { v: SHAPE, files: Vec::new(), files_left_out: 0, freezes: None }
    }
}

impl Exhibit {
    /// What is to be shown of a change, from what the oracles knew.
    pub fn of(facts: &Facts<'_>) -> Self {
        let map = match &facts.surface.map {
            MapFacts::Read(map) => Some(map.as_ref()),
            MapFacts::NotNeeded | MapFacts::Absent { .. } | MapFacts::Unusable { .. } | MapFacts::TooCoarse { .. } => {
                None
            }
        };
        let picture = map.map_or_else(Picture::default, |map| picture(facts.rows, facts.blobs, &map.surface));
        let mut lines = 0;
        let fits = |file: &&FilePicture| {
            lines += file.rows.len();
            lines <= MOST_LINES
        };
        let files: Vec<FileView> = picture.files.iter().take_while(fits).map(file_view).collect();
        let files_left_out = picture.files.len() - files.len();
        Self { v: SHAPE, files, files_left_out, freezes: freezes_view(facts, map) }
    }

    /// As it is kept.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an exhibit holds only strings, numbers and lists of them")
    }

    /// Reads what was kept.
    pub fn read(bytes: &[u8]) -> Result<Self, UnreadableExhibit> {
        let exhibit: Self = serde_json::from_slice(bytes).map_err(|error| UnreadableExhibit(error.to_string()))?;
        if exhibit.v == SHAPE { Ok(exhibit) } else { Err(UnreadableExhibit(format!("it has shape {}", exhibit.v))) }
    }
}

fn file_view(file: &FilePicture) -> FileView {
    let rows = file.rows.iter().map(|row| match row {
        PictureRow::Lines { old, new } => {
            RowView::Lines { old: old.as_ref().map(line_view), new: new.as_ref().map(line_view) }
        }
        PictureRow::LeftOut { lines, frozen_only } => RowView::LeftOut { lines: *lines, frozen_only: *frozen_only },
    });
    FileView { path: file.path.to_string(), plain: file.plain.clone(), rows: rows.collect() }
}

fn line_view(line: &PictureLine) -> LineView {
    let seen = match line.observed {
        Observed::Live => SeenView::Live,
        Observed::Import => SeenView::Import,
        Observed::FrozenOnly => SeenView::FrozenOnly,
        Observed::Nobody => SeenView::Nobody,
        Observed::NotCode => SeenView::NotCode,
    };
    let text = line.text.trim_end_matches(['\n', '\r']);
    LineView { number: line.number, text: elided(text, MOST_CHARACTERS), seen, changed: line.changed }
}

fn freezes_view(facts: &Facts<'_>, map: Option<&ReadMap>) -> Option<FreezesView> {
    let bounds = &facts.policy.freeze;
    // Without a bound on lines nobody has counted them.
    let counted = map.filter(|_| bounds.max_lines.is_some());
    let (origin, unreadable, freezes) = match facts.ledger {
        LedgerFacts::Absent => return None,
        LedgerFacts::Unreadable { origin, why } => (origin, Some(why.clone()), [].as_slice()),
        LedgerFacts::Read { origin, ledger, .. } => (origin, None, ledger.freezes.as_slice()),
    };
    Some(FreezesView {
        origin: origin.clone(),
        unreadable,
        max_entries: bounds.max_entries,
        max_lines: bounds.max_lines,
        frozen_lines: counted.map(ReadMap::frozen_lines),
        entries: freezes.iter().map(|freeze| freeze_view(freeze, counted, bounds.reach)).collect(),
    })
}

fn freeze_view(freeze: &Freeze, counted: Option<&ReadMap>, reach: Reach) -> FreezeView {
    let lines = counted.map(|map| {
        let taken = |tests: &[String]| tests.iter().any(|test| takes_out(&freeze.nodeid, test, reach));
        map.frozen_alone.iter().filter(|(tests, _)| taken(tests)).map(|(_, lines)| lines).sum()
    });
    FreezeView {
        nodeid: freeze.nodeid.clone(),
        reason: freeze.reason.clone(),
        first_seen: freeze.first_seen.map(|day| day.to_string()),
        expires_on: freeze.expires_on.map(|day| day.to_string()),
        lines,
    }
}
