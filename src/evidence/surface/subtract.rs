//! What frozen tests alone observe, taken from what changed (DESIGN 4.5).

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Line, Part};
use super::diff::Hunk;
use super::files::{Compared, Content, FileLines};
use crate::change::BytePath;
use crate::evidence::Location;
use crate::maps::{FileSurface, Surface};

/// What the map says of a whole change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subtraction {
    /// The files of the product in which code changed, by path.
    pub files: Vec<FileSubtraction>,
}

/// What the map says of one file of the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSubtraction {
    /// Its path at head, or at the merge base where it is gone.
    pub path: BytePath,
    /// Whether the head has it.
    pub at_head: bool,
    /// Why no grammar helped, where none did.
    pub plain: Option<String>,
    /// Why its lines were not read, where they were not.
    pub unread: Option<&'static str>,
    /// The changed lines as the merge base counts them: those that are gone or replaced, and the neighbours of what was inserted.
    pub changed: BTreeSet<u32>,
    /// Lines that stand next to no line of the merge base, as the head counts them: those of a new file.
    pub new: BTreeSet<u32>,
    /// Changed lines that frozen tests run and no live test runs.
    pub overlap: Vec<OverlapLine>,
    /// Changed lines that run when the file is imported, where the file has lines that only frozen tests run.
    pub import: Vec<ChangedLine>,
    /// Changed lines that nobody runs.
    pub unobserved: Vec<ChangedLine>,
}

/// A changed line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedLine {
    /// Its number at the merge base; for an insertion, that of its neighbour; `None` where it has none.
    pub old_line: Option<u32>,
    /// Its number at head; `None` where it is gone.
    pub head_line: Option<u32>,
    /// The line to mark: at head, or at the merge base where the file is gone.
    pub mark: u32,
}

/// A changed line that only frozen tests run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OverlapLine {
    /// The line.
    pub line: ChangedLine,
    /// The tests.
    pub frozen_tests: Vec<String>,
}

impl Subtraction {
    /// How many lines changed, as the ratio counts them.
    pub fn changed(&self) -> usize {
        self.files.iter().map(|file| file.changed.len() + file.new.len()).sum()
    }

    /// How many of them only frozen tests run: lines of the merge base, each once.
    pub fn overlapping(&self) -> usize {
        self.files.iter().map(|file| file.overlap_lines().len()).sum()
    }

    /// Whether a line of the merge base changed that no live test runs.
    pub fn lacks_live_observer(&self) -> bool {
        let lacks = |file: &FileSubtraction| {
            let nobody = file.unobserved.iter().any(|line| line.old_line.is_some());
            nobody || !file.overlap.is_empty() || !file.import.is_empty() || file.unread.is_some()
        };
        self.files.iter().any(lacks)
    }
}

impl FileSubtraction {
    /// The lines of the merge base that changed and that only frozen tests run.
    pub fn overlap_lines(&self) -> BTreeSet<u32> {
        self.overlap.iter().filter_map(|overlap| overlap.line.old_line).collect()
    }

    /// Places to mark for some lines, in runs.
    pub(super) fn places<'l>(&self, lines: impl IntoIterator<Item = &'l ChangedLine>) -> Vec<Location> {
        let marks: BTreeSet<u32> = lines.into_iter().map(|line| line.mark).collect();
        let place = |(first, last)| {
            if first == last { Location::line(&self.path, first) } else { Location::lines(&self.path, first, last) }
        };
        runs(marks).into_iter().map(place).collect()
    }
}

/// Numbers that follow each other, as first and last.
pub(super) fn runs(numbers: impl IntoIterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

/// Takes what only frozen tests observe from what changed. `surface` counts lines as the merge base does.
pub fn subtract(files: &[FileLines], surface: &Surface) -> Subtraction {
    let empty = FileSurface::default();
    let one = |file: &FileLines| {
        let known = file.old_path.as_ref().and_then(|path| surface.files.get(path.as_str()?));
        subtract_file(file, known.unwrap_or(&empty))
    };
    Subtraction { files: files.iter().map(one).collect() }
}

fn subtract_file(file: &FileLines, known: &FileSurface) -> FileSubtraction {
    let mut out = FileSubtraction {
        path: file.path.clone(),
        at_head: file.at_head,
        plain: file.plain.clone(),
        unread: None,
        changed: BTreeSet::new(),
        new: BTreeSet::new(),
        overlap: Vec::new(),
        import: Vec::new(),
        unobserved: Vec::new(),
    };
    match &file.content {
        Content::Read(compared) => Judge { file, compared, observers: Observers::of(known) }.judge(&mut out),
        Content::Unread(why) => {
            // Nobody knows which lines changed, so all that only frozen tests run may have.
            out.unread = Some(why);
            for (line, frozen_tests) in unique(known) {
                out.changed.insert(line);
                let line = ChangedLine { old_line: Some(line), head_line: None, mark: 1 };
                out.overlap.push(OverlapLine { line, frozen_tests: frozen_tests.clone() });
            }
        }
    }
    for lines in [&mut out.import, &mut out.unobserved] {
        lines.sort();
        lines.dedup();
    }
    out.overlap.sort();
    out.overlap.dedup();
    out
}

/// Lines that frozen tests run and no live test does. A line that runs at import belongs to no test.
fn unique(known: &FileSurface) -> impl Iterator<Item = (u32, &Vec<String>)> {
    let alone = |line: &u32| !known.live.contains(*line) && !known.import.contains(*line);
    known.frozen.iter().filter(move |(line, _)| alone(line)).map(|(line, tests)| (*line, tests))
}

/// Who runs a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Live,
    /// It runs at import, in a file with lines that only frozen tests run.
    Import,
    Frozen(BTreeSet<String>),
    Nobody,
}

pub(super) struct Observers<'a> {
    known: &'a FileSurface,
    hole: bool,
}

impl<'a> Observers<'a> {
    pub(super) fn of(known: &'a FileSurface) -> Self {
        Self { known, hole: unique(known).next().is_some() }
    }

    /// What the map says of a line itself; `None` where it says nothing.
    fn own(&self, line: u32) -> Option<Seen> {
        let known = self.known;
        if known.import.contains(line) {
            return Some(if self.hole { Seen::Import } else { Seen::Live });
        }
        if known.live.contains(line) {
            return Some(Seen::Live);
        }
        if let Some(tests) = known.frozen.get(&line) {
            return Some(Seen::Frozen(tests.iter().cloned().collect()));
        }
        known.executable.as_ref().is_some_and(|lines| lines.contains(line)).then_some(Seen::Nobody)
    }

    /// Who runs a line of a statement: tools name a statement of several lines by one of them.
    pub(super) fn of_statement(&self, line: &Line) -> Seen {
        self.own(line.number).unwrap_or_else(|| worst(line.run.clone().filter_map(|line| self.own(line))))
    }
}

/// What must be believed of several lines that stand for one: frozen before import, import before live.
fn worst(seen: impl IntoIterator<Item = Seen>) -> Seen {
    let mut worst = Seen::Nobody;
    for seen in seen {
        worst = match (worst, seen) {
            (Seen::Frozen(mut all), Seen::Frozen(more)) => {
                all.extend(more);
                Seen::Frozen(all)
            }
            (Seen::Frozen(all), _) | (_, Seen::Frozen(all)) => Seen::Frozen(all),
            (Seen::Import, _) | (_, Seen::Import) => Seen::Import,
            (Seen::Live, _) | (_, Seen::Live) => Seen::Live,
            (Seen::Nobody, Seen::Nobody) => Seen::Nobody,
        };
    }
    worst
}

struct Judge<'a> {
    file: &'a FileLines,
    compared: &'a Compared,
    observers: Observers<'a>,
}

/// An old line next to an insertion, by its place in the list, and the inserted line beside it.
type Anchor = (usize, u32);

impl Judge<'_> {
    fn judge(&self, out: &mut FileSubtraction) {
        for hunk in &self.compared.hunks {
            let old = &self.compared.old.lines[hunk.old.clone()];
            for (at, line) in hunk.old.clone().zip(old) {
                self.replaced(hunk, at, line, out);
            }
            if hunk.old.is_empty() {
                self.inserted(hunk, out);
            } else if hunk.new.len() > hunk.old.len() {
                self.surplus(hunk, out);
            }
        }
    }

    /// A line that is gone or replaced is its old line.
    fn replaced(&self, hunk: &Hunk, at: usize, line: &Line, out: &mut FileSubtraction) {
        let new = &self.compared.new.lines[hunk.new.clone()];
        let head = new.get(at - hunk.old.start).or(new.last()).map(|line| line.number);
        let changed = |old: u32| ChangedLine { old_line: Some(old), head_line: head, mark: self.mark(hunk, head, old) };
        if line.part == Part::Statement || self.observers.own(line.number).is_some() {
            out.changed.insert(line.number);
            add(out, self.observers.of_statement(line), changed(line.number));
            return;
        }
        let beside: Vec<&Line> = self.beside(at).collect();
        let seen = self.each(&beside);
        let decisive = worst(seen.iter().map(|(_, seen)| seen.clone()));
        if decisive == Seen::Nobody {
            out.changed.insert(line.number);
            add(out, decisive, changed(line.number));
            return;
        }
        for (old, seen) in seen {
            out.changed.insert(old);
            if !matches!(seen, Seen::Nobody) {
                add(out, seen, changed(old));
            }
        }
    }

    /// Which line to mark: the head's, the one that now stands where a line is gone, or the merge base's where the file is gone.
    fn mark(&self, hunk: &Hunk, head: Option<u32>, old: u32) -> u32 {
        if !self.file.at_head {
            return old;
        }
        let new = &self.compared.new.lines;
        let seam = || new.get(hunk.new.start).or(new.last()).map_or(1, |line| line.number);
        head.unwrap_or_else(seam)
    }

    /// The statements next to a line that only shapes them, inside of what it shapes.
    fn beside(&self, at: usize) -> impl Iterator<Item = &Line> {
        let lines = &self.compared.old.lines;
        let owner = lines[at].owner.clone();
        let above = lines[..at].iter().rev().find(|line| self.tells(line));
        let below = lines[at + 1..].iter().find(|line| self.tells(line));
        [above, below].into_iter().flatten().filter(move |line| owner.contains(&line.number))
    }

    /// Whether a line can have an observer: it is of a statement, or the map speaks of it all the same.
    fn tells(&self, line: &Line) -> bool {
        line.part == Part::Statement || self.observers.own(line.number).is_some()
    }

    fn each(&self, lines: &[&Line]) -> Vec<(u32, Seen)> {
        lines.iter().map(|line| (line.number, self.observers.of_statement(line))).collect()
    }

    /// Lines that came in are judged by their neighbours.
    fn inserted(&self, hunk: &Hunk, out: &mut FileSubtraction) {
        let anchors = self.anchors(hunk);
        let lines = &self.compared.old.lines;
        let seen: Vec<(u32, u32, Seen)> = anchors
            .iter()
            .map(|(at, head)| (lines[*at].number, *head, self.observers.of_statement(&lines[*at])))
            .collect();
        if seen.iter().all(|(_, _, seen)| *seen == Seen::Nobody) {
            let anchor = seen.first().map(|(old, _, _)| *old);
            out.changed.extend(seen.iter().map(|(old, _, _)| *old));
            for line in &self.compared.new.lines[hunk.new.clone()] {
                if anchor.is_none() {
                    out.new.insert(line.number);
                }
                let head = Some(line.number);
                out.unobserved.push(ChangedLine { old_line: anchor, head_line: head, mark: line.number });
            }
            return;
        }
        for (old, head, seen) in seen {
            out.changed.insert(old);
            if seen != Seen::Nobody {
                add(out, seen, ChangedLine { old_line: Some(old), head_line: Some(head), mark: head });
            }
        }
    }

    /// More lines than were replaced: what came in on top stands next to the neighbours as an insertion does, and must not hide behind
    /// a line that was touched for the purpose.
    fn surplus(&self, hunk: &Hunk, out: &mut FileSubtraction) {
        for (at, head) in self.anchors(hunk) {
            let line = &self.compared.old.lines[at];
            if let seen @ Seen::Frozen(_) = self.observers.of_statement(line) {
                out.changed.insert(line.number);
                add(out, seen, ChangedLine { old_line: Some(line.number), head_line: Some(head), mark: head });
            }
        }
    }

    /// The neighbours of what came in, on the old side, inside the innermost block of the head that encloses it and holds an old line.
    fn anchors(&self, hunk: &Hunk) -> Vec<Anchor> {
        let Compared { old, new, .. } = self.compared;
        let inserted = &new.lines[hunk.new.clone()];
        let above = hunk.old.start.checked_sub(1).zip(hunk.new.start.checked_sub(1));
        let below = (hunk.old.end < old.lines.len()).then_some((hunk.old.end, hunk.new.end));
        let mut near: BTreeMap<usize, u32> = BTreeMap::new();
        for line in inserted {
            let within = |side: &Option<(usize, usize)>, block: &super::code::Span| {
                side.is_some_and(|(_, at)| block.contains(&new.lines[at].number))
            };
            let block = new.around(line.number).find(|block| within(&above, block) || within(&below, block));
            let close = |side: &Option<(usize, usize)>| block.is_none_or(|block| within(side, block));
            if let Some(at) = above.filter(|_| close(&above)).and_then(|(at, _)| self.telling(..=at)) {
                near.entry(at).or_insert(line.number);
            }
            if let Some(at) = below.filter(|_| close(&below)).and_then(|(at, _)| self.telling_after(at)) {
                near.insert(at, line.number);
            }
        }
        near.into_iter().collect()
    }

    fn telling(&self, range: std::ops::RangeToInclusive<usize>) -> Option<usize> {
        self.compared.old.lines[range].iter().rposition(|line| self.tells(line))
    }

    fn telling_after(&self, start: usize) -> Option<usize> {
        let found = self.compared.old.lines[start..].iter().position(|line| self.tells(line));
        found.map(|at| start + at)
    }
}

fn add(out: &mut FileSubtraction, seen: Seen, line: ChangedLine) {
    match seen {
        Seen::Live => {}
        Seen::Import => out.import.push(line),
        Seen::Frozen(tests) => {
            out.overlap.push(OverlapLine { line, frozen_tests: tests.into_iter().collect() });
        }
        Seen::Nobody => out.unobserved.push(line),
    }
}
