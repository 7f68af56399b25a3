//! The changed files line by line beside what the map says of each line: for people, and nothing is judged by it.

use std::collections::BTreeSet;

use super::diff::{Hunk, hunks, lines};
use super::files::{Compared, Content, FileLines, files, text_of};
use super::subtract::{FileSubtraction, Observers, Seen, Subtraction, subtract};
use crate::change::BytePath;
use crate::evidence::{Blobs, ClassedRow};
use crate::maps::{FileSurface, Surface};

/// Every changed file of the product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// By path.
    pub files: Vec<FilePicture>,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePicture {
    /// Its path at head, or at the merge base where it is gone.
    pub path: BytePath,
    /// Why no grammar helped, where none did.
    pub plain: Option<String>,
    /// Both sides, next to each other.
    pub rows: Vec<PictureRow>,
}

/// One row of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PictureRow {
    /// A line of the merge base, of the head, or of both.
    Lines {
        /// The merge base's.
        old: Option<PictureLine>,
        /// The head's.
        new: Option<PictureLine>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureLine {
    /// From 1.
    pub number: u32,
    /// What it says; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Who runs it.
    pub observed: Observed,
    /// Whether it is code that changed.
    pub changed: bool,
}

/// Who runs a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Observed {
    /// A live test, or the import of a file in which no line is left to frozen tests.
    Live,
    /// It runs at import, beside lines that only frozen tests run.
    Import,
    /// Frozen tests and no live one.
    FrozenOnly,
    /// No test.
    Nobody,
    /// It is no code of the product: blank, a comment, documentation, or a test.
    NotCode,
}

/// How many lines are shown around a change.
const AROUND: usize = 4;

/// The picture of a change. `surface` counts lines as the merge base does.
pub fn picture(rows: &[ClassedRow<'_>], blobs: &Blobs, surface: &Surface) -> Picture {
    let files = files(rows, blobs);
    let Subtraction { files: judged } = subtract(&files, surface);
    let one = |(file, judged): (&FileLines, &FileSubtraction)| {
        let Content::Read(compared) = &file.content else { return None };
        let old = file.old_path.as_ref().and_then(|path| text_of(rows, blobs, path, false));
        let new = file.at_head.then(|| text_of(rows, blobs, &file.path, true)).flatten();
        let sides = [old, new].map(|bytes| lines(bytes.unwrap_or_default()));
        let known = file.old_path.as_ref().and_then(|path| surface.files.get(path.as_str()?));
        let rows = rows_of(compared, judged, known.unwrap_or(&FileSurface::default()), &sides);
        Some(FilePicture { path: file.path.clone(), plain: file.plain.clone(), rows: shortened(rows) })
    };
    Picture { files: files.iter().zip(&judged).filter_map(one).collect() }
}

fn rows_of(
    compared: &Compared,
    judged: &FileSubtraction,
    known: &FileSurface,
    [old, new]: &[Vec<&[u8]>; 2],
) -> Vec<PictureRow> {
    let observers = Observers::of(known);
    let mut of_old = vec![Observed::NotCode; old.len()];
    for line in &compared.old.lines {
        of_old[line.number as usize - 1] = match observers.of_statement(line) {
            Seen::Live => Observed::Live,
            Seen::Import => Observed::Import,
            Seen::Frozen(_) => Observed::FrozenOnly,
            Seen::Nobody => Observed::Nobody,
        };
    }
    let heads = |lines: &mut dyn Iterator<Item = Option<u32>>| lines.flatten().collect::<BTreeSet<u32>>();
    let overlap = heads(&mut judged.overlap.iter().map(|overlap| overlap.line.head_line));
    let import = heads(&mut judged.import.iter().map(|line| line.head_line));
    let nobody = heads(&mut judged.unobserved.iter().map(|line| line.head_line));
    let mut of_new = vec![Observed::NotCode; new.len()];
    for line in &compared.new.lines {
        of_new[line.number as usize - 1] = match line.number {
            line if overlap.contains(&line) => Observed::FrozenOnly,
            line if import.contains(&line) => Observed::Import,
            line if nobody.contains(&line) => Observed::Nobody,
            _ => Observed::Live,
        };
    }
    let changed = |code: &super::code::Code, of: &dyn Fn(&Hunk) -> std::ops::Range<usize>| {
        let lines = compared.hunks.iter().flat_map(|hunk| code.lines[of(hunk)].iter().map(|line| line.number));
        lines.collect::<BTreeSet<u32>>()
    };
    let changed_old = changed(&compared.old, &|hunk| hunk.old.clone());
    let changed_new = changed(&compared.new, &|hunk| hunk.new.clone());
    let cell = |texts: &[&[u8]], at: usize, observed: Observed, changed: &BTreeSet<u32>| {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let text = String::from_utf8_lossy(texts[at]).into_owned();
        PictureLine { number, text, observed, changed: changed.contains(&number) }
    };
    let old_cell = |at: usize| cell(old, at, of_old[at], &changed_old);
    let mut rows = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    let end = Hunk { old: old.len()..old.len(), new: new.len()..new.len() };
    for hunk in hunks(old, new).into_iter().chain([end]) {
        for (old_at, new_at) in (old_at..hunk.old.start).zip(new_at..hunk.new.start) {
            let left = old_cell(old_at);
            let right = PictureLine { observed: left.observed, ..cell(new, new_at, left.observed, &changed_new) };
            rows.push(PictureRow::Lines { old: Some(left), new: Some(right) });
        }
        for step in 0..hunk.old.len().max(hunk.new.len()) {
            let left = (step < hunk.old.len()).then(|| old_cell(hunk.old.start + step));
            let right = (step < hunk.new.len()).then(|| {
                let at = hunk.new.start + step;
                cell(new, at, of_new[at], &changed_new)
            });
            rows.push(PictureRow::Lines { old: left, new: right });
        }
        (old_at, new_at) = (hunk.old.end, hunk.new.end);
    }
    rows
}

/// Leaves out what is the same on both sides and far from a change.
fn shortened(rows: Vec<PictureRow>) -> Vec<PictureRow> {
    let differs = |row: &PictureRow| match row {
        PictureRow::Lines { old: Some(old), new: Some(new) } => old.text != new.text || old.changed || new.changed,
        PictureRow::Lines { .. } | PictureRow::LeftOut { .. } => true,
    };
    let mut near = vec![false; rows.len()];
    for at in (0..rows.len()).filter(|at| differs(&rows[*at])) {
        near[at.saturating_sub(AROUND)..(at + AROUND + 1).min(rows.len())].fill(true);
    }
    let mut out: Vec<PictureRow> = Vec::new();
    for (row, near) in rows.into_iter().zip(near) {
        if near {
            out.push(row);
            continue;
        }
        let frozen = matches!(&row, PictureRow::Lines { old: Some(old), .. } if old.observed == Observed::FrozenOnly);
        match out.last_mut() {
            Some(PictureRow::LeftOut { lines, frozen_only }) => {
                *lines += 1;
                *frozen_only += usize::from(frozen);
            }
            _ => out.push(PictureRow::LeftOut { lines: 1, frozen_only: usize::from(frozen) }),
        }
    }
    out
}
