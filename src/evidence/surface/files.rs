//! Rows of the product -> what each file's lines of code did.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{self, Code};
use super::diff::{Hunk, hunks, lines};
use crate::change::{Blob, BytePath, Side};
use crate::evidence::{Blobs, ClassedRow};
use crate::policy::Class;
use crate::words::ObjectId;

/// A file of the product in which code changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLines {
    /// Its path at head, or at the merge base where it is gone.
    pub path: BytePath,
    /// Its path at the merge base; `None` where it is new.
    pub old_path: Option<BytePath>,
    /// Whether the head has it.
    pub at_head: bool,
    /// Why no grammar helped, where none did.
    pub plain: Option<String>,
    /// What was found of its lines.
    pub(super) content: Content,
}

/// What was found of a file's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Both sides were read.
    Read(Box<Compared>),
    /// A side was not read: why.
    Unread(&'static str),
}

/// The lines of code of both sides and where they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) old: Code,
    pub(super) new: Code,
    pub(super) hunks: Vec<Hunk>,
}

impl FileLines {
    /// How many lines of code the head adds here; a line that is replaced counts.
    pub fn added(&self) -> usize {
        self.count(|hunk| hunk.new.len())
    }

    /// How many lines of code of the merge base are gone here; a line that is replaced counts.
    pub fn removed(&self) -> usize {
        self.count(|hunk| hunk.old.len())
    }

    fn count(&self, of: impl Fn(&Hunk) -> usize) -> usize {
        match &self.content {
            Content::Read(compared) => compared.hunks.iter().map(of).sum(),
            Content::Unread(_) => 0,
        }
    }

    /// Whether a side was not read, so that nothing is known of its lines.
    pub fn is_unread(&self) -> bool {
        matches!(self.content, Content::Unread(_))
    }
}

/// Whether a row is judged line by line: a file of the product on some side, with other bytes or another name.
fn is_judged(row: &ClassedRow<'_>) -> bool {
    let file = |side: &Option<Side>| side.as_ref().is_some_and(|side| side.mode.is_file());
    let differs = match (&row.row.old, &row.row.new) {
        (Some(old), Some(new)) => old.blob != new.blob || old.mode.is_file() != new.mode.is_file(),
        _ => true,
    };
    row.class == Class::Product && differs && (file(&row.row.old) || file(&row.row.new))
}

/// Whether any row is judged line by line.
pub fn any_judged(rows: &[ClassedRow<'_>]) -> bool {
    rows.iter().any(is_judged)
}

/// The blobs that [`files`] must find: both sides of every file of the product.
pub fn surface_blobs<'a>(rows: &'a [ClassedRow<'a>]) -> impl Iterator<Item = &'a ObjectId> {
    let sides = rows.iter().filter(|row| is_judged(row)).flat_map(|row| [&row.row.old, &row.row.new]);
    sides.flatten().filter(|side| side.mode.is_file()).map(|side| &side.blob)
}

/// Paths at the merge base of the files of the product that changed: what a coverage map is asked for.
pub fn old_paths<'a>(rows: &'a [ClassedRow<'a>]) -> BTreeSet<&'a BytePath> {
    let sides = rows.iter().filter(|row| is_judged(row)).filter_map(|row| row.row.old.as_ref());
    sides.filter(|side| side.mode.is_file()).map(|side| &side.path).collect()
}

/// The files of the product in which code changed, by path. A file that moved keeps its old path: one with the same bytes, or else the one
/// whose lines it mostly has.
pub fn files(rows: &[ClassedRow<'_>], blobs: &Blobs) -> Vec<FileLines> {
    let mut pairs = pairs(rows, blobs);
    pairs.sort_by_key(|(old, new)| new.or(*old).map(|side| &side.path));
    pairs.into_iter().filter_map(|(old, new)| file(old, new, blobs)).collect()
}

/// What [`files`] would count as added, until the first file that adds a line of code.
pub(super) fn adds_code(rows: &[ClassedRow<'_>], blobs: &Blobs) -> bool {
    pairs(rows, blobs).into_iter().filter_map(|(old, new)| file(old, new, blobs)).any(|file| file.added() > 0)
}

type Pair<'a> = (Option<&'a Side>, Option<&'a Side>);

fn pairs<'a>(rows: &'a [ClassedRow<'a>], blobs: &Blobs) -> Vec<Pair<'a>> {
    let side = |side: &'a Option<Side>| side.as_ref().filter(|side| side.mode.is_file());
    let mut pairs = Vec::new();
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(|row| is_judged(row)) {
        match (side(&row.row.old), side(&row.row.new)) {
            (Some(old), None) => gone.push(old),
            (None, Some(new)) => come.push(new),
            pair => pairs.push(pair),
        }
    }
    gone.sort_by_key(|side| &side.path);
    come.sort_by_key(|side| &side.path);
    for (from, to) in moved(&gone, &come, blobs) {
        pairs.push((Some(from), Some(to)));
        gone.retain(|side| side.path != from.path);
        come.retain(|side| side.path != to.path);
    }
    pairs.extend(gone.into_iter().map(|old| (Some(old), None)));
    pairs.extend(come.into_iter().map(|new| (None, Some(new))));
    pairs
}

/// More files than this on a side are compared by their bytes alone.
const MOST_COMPARED: usize = 64;

/// Files that are gone and files that came which hold the same, best first, each once.
fn moved<'a>(gone: &[&'a Side], come: &[&'a Side], blobs: &Blobs) -> Vec<(&'a Side, &'a Side)> {
    let few = gone.len() <= MOST_COMPARED && come.len() <= MOST_COMPARED;
    let counted = |side: &&'a Side| match blobs.get(&side.blob) {
        Some(Blob::Whole(bytes)) if few && !is_binary(bytes) => counted(bytes),
        _ => BTreeMap::new(),
    };
    let (from_lines, to_lines): (Vec<_>, Vec<_>) =
        (gone.iter().map(counted).collect(), come.iter().map(counted).collect());
    let mut candidates = Vec::new();
    for (from, lines) in gone.iter().zip(&from_lines) {
        for (to, others) in come.iter().zip(&to_lines) {
            let alike = if from.blob == to.blob { 1_000 } else { alike(lines, others) };
            if alike >= LEAST_ALIKE {
                let renamed = file_name(&from.path) != file_name(&to.path);
                candidates.push((std::cmp::Reverse(alike), renamed, *from, *to));
            }
        }
    }
    candidates.sort_by_key(|(alike, renamed, from, to)| (*alike, *renamed, &from.path, &to.path));
    let (mut taken_from, mut taken_to) = (BTreeSet::new(), BTreeSet::new());
    let mut pairs = Vec::new();
    for (_, _, from, to) in candidates {
        if !taken_from.contains(&from.path) && !taken_to.contains(&to.path) {
            taken_from.insert(&from.path);
            taken_to.insert(&to.path);
            pairs.push((from, to));
        }
    }
    pairs
}

/// How much two files must share to count as one that moved, in thousandths of the larger one's lines.
const LEAST_ALIKE: usize = 600;

fn counted(bytes: &[u8]) -> BTreeMap<&[u8], usize> {
    let mut counts = BTreeMap::new();
    for line in lines(bytes).into_iter().map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

fn alike(one: &BTreeMap<&[u8], usize>, other: &BTreeMap<&[u8], usize>) -> usize {
    let size = |counts: &BTreeMap<&[u8], usize>| counts.values().sum::<usize>();
    let shared: usize = one.iter().map(|(line, n)| other.get(line).map_or(0, |m| *n.min(m))).sum();
    (shared * 1_000).checked_div(size(one).max(size(other))).unwrap_or(0)
}

fn file_name(path: &BytePath) -> &[u8] {
    path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// What one side holds.
enum Bytes<'a> {
    /// Text, or nothing because the side does not exist.
    Text(Option<&'a [u8]>),
    /// No lines.
    Binary,
    Unread(&'static str),
}

fn bytes<'a>(side: Option<&Side>, blobs: &'a Blobs) -> Bytes<'a> {
    let Some(side) = side else { return Bytes::Text(None) };
    match blobs.get(&side.blob) {
        Some(Blob::Whole(bytes)) if is_binary(bytes) => Bytes::Binary,
        Some(Blob::Whole(bytes)) => Bytes::Text(Some(bytes)),
        Some(Blob::TooLarge(_)) => Bytes::Unread("it is larger than what is read"),
        Some(Blob::Missing) | None => Bytes::Unread("its content is missing"),
    }
}

/// The text of a path of the product on one side; `None` where there is none.
pub(super) fn text_of<'a>(
    rows: &[ClassedRow<'_>],
    blobs: &'a Blobs,
    path: &BytePath,
    at_head: bool,
) -> Option<&'a [u8]> {
    let sides = rows.iter().filter(|row| is_judged(row));
    let sides = sides.filter_map(|row| if at_head { row.row.new.as_ref() } else { row.row.old.as_ref() });
    let side = sides.into_iter().find(|side| side.path == *path && side.mode.is_file())?;
    match bytes(Some(side), blobs) {
        Bytes::Text(text) => text,
        Bytes::Binary | Bytes::Unread(_) => None,
    }
}

/// As git tells them: a zero byte near the beginning.
fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8_000)].contains(&0)
}

/// `None` where no line of code changed.
fn file(old: Option<&Side>, new: Option<&Side>, blobs: &Blobs) -> Option<FileLines> {
    let path = &new.or(old)?.path;
    let made = |plain, content| FileLines {
        path: path.clone(),
        old_path: old.map(|side| side.path.clone()),
        at_head: new.is_some(),
        plain,
        content,
    };
    let texts = match (bytes(old, blobs), bytes(new, blobs)) {
        (Bytes::Unread(why), _) | (_, Bytes::Unread(why)) => return Some(made(None, Content::Unread(why))),
        (Bytes::Text(old), Bytes::Text(new)) => [old, new],
        // A text that becomes binary loses its lines; one that was binary has none to lose.
        (Bytes::Text(old), Bytes::Binary) => [old, None],
        (Bytes::Binary, Bytes::Text(new)) => [None, new],
        (Bytes::Binary, Bytes::Binary) => [None, None],
    };
    let names = [old, new].map(|side| side.map(|side| side.path.to_string()).unwrap_or_default());
    let [old, new] = [0, 1].map(|side| texts[side].map(|bytes| (names[side].as_str(), bytes)));
    let sides = code::read(old, new);
    let hunks = hunks(&sides.old.texts(), &sides.new.texts());
    let compared = Compared { old: sides.old, new: sides.new, hunks };
    (!compared.hunks.is_empty()).then(|| made(sides.plain, Content::Read(Box::new(compared))))
}
