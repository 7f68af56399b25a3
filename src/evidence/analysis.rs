//! What the contents of the changed files say of tests, read once for all oracles.
//!
//! Each side of each file is parsed once. What comes out owns everything and is small; no syntax tree outlives this file.

use std::collections::BTreeMap;

use aho_corasick::AhoCorasick;

use super::grammar::{Language, Outcome, Unparsable, parse};
use super::markers::{self, Known, Marker, Role, Scanned};
use super::tests::{Inventory, Judgement, Pair, Scope, Side, compare};
use super::{Blobs, ClassedRow};
use crate::change::{Blob, BytePath, Side as RowSide};
use crate::policy::{Class, ExtraMarker, MarkerKind as ExtraKind, Pattern, Policy};
use crate::words::ObjectId;

/// What the changed files say of tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// Files whose tests were compared, those without a difference left out.
    pub files: Vec<FileTests>,
    /// Markers that the head has and the merge base has not, on balance over the whole change.
    pub markers: Vec<FreshMarker>,
    /// Files of which a side could not be read at all, and why.
    pub unread: Vec<(BytePath, String)>,
}

/// What happened to the tests of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileTests {
    /// The file.
    pub path: BytePath,
    /// What its path is.
    pub class: Class,
    /// Whether the head has it.
    pub at_head: bool,
    /// What happened.
    pub judgement: Judgement,
}

/// A marker that is new.
#[derive(Clone, Debug, PartialEq)]
pub struct FreshMarker {
    /// The file.
    pub path: BytePath,
    /// The marker.
    pub marker: Marker,
    /// Why the file was read as text and not by its grammar.
    pub as_text: Option<String>,
}

/// How the contents of a row are looked at; `None` when they are not.
fn role(row: &ClassedRow<'_>) -> Option<Role> {
    let path = row.row.path().to_string();
    match row.class {
        Class::Test | Class::TestConfig => Some(Role::Test),
        Class::Build | Class::Product | Class::Other | Class::Allowed => {
            let readable = Language::of_path(&path).is_some() || markers::config::is_config(&path) || is_prose(&path);
            (readable && (row.class != Class::Allowed || is_prose(&path))).then_some(Role::Product)
        }
        // Evidence is not to change at all, and what agents may write freely is never counted.
        Class::Policy
        | Class::FreezeLedger
        | Class::Oracle
        | Class::Snapshot
        | Class::Fixture
        | Class::Generated
        | Class::Intent => None,
    }
}

/// Text that may hold documentation examples.
fn is_prose(path: &str) -> bool {
    ["rst", "md", "txt"].iter().any(|e| path.rsplit_once('.').is_some_and(|(_, ending)| ending == *e))
}

fn differs(row: &ClassedRow<'_>) -> bool {
    match (&row.row.old, &row.row.new) {
        (Some(old), Some(new)) => old.blob != new.blob || old.mode != new.mode || old.path != new.path,
        _ => true,
    }
}

/// Whether [`analyse`] looks at the contents of a row.
pub fn wants(row: &ClassedRow<'_>) -> bool {
    differs(row) && role(row).is_some()
}

/// The blobs that [`analyse`] must find in [`Blobs`]: both sides of every row whose contents matter.
pub fn analysed_blobs<'a>(rows: &'a [ClassedRow<'a>]) -> impl Iterator<Item = &'a ObjectId> {
    let sides = rows.iter().filter(|row| wants(row)).flat_map(|row| [&row.row.old, &row.row.new]);
    sides.flatten().filter(|side| side.mode.is_file()).map(|side| &side.blob)
}

/// What there is of one side of a file.
#[derive(Clone, Copy)]
enum Content<'a> {
    /// It does not exist, or is no file.
    Absent,
    /// Its bytes.
    Bytes(&'a [u8]),
    /// It exists and was not read.
    Unread(&'static str),
}

impl<'a> Content<'a> {
    fn of(side: Option<&RowSide>, blobs: &'a Blobs) -> Self {
        let Some(side) = side.filter(|side| side.mode.is_file()) else { return Self::Absent };
        match blobs.get(&side.blob) {
            Some(Blob::Whole(bytes)) => Self::Bytes(bytes),
            Some(Blob::TooLarge(_)) => Self::Unread("it is larger than what is read"),
            Some(Blob::Missing) | None => Self::Unread("its content is missing"),
        }
    }

    fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Absent | Self::Unread(_) => None,
        }
    }
}

/// A file of the change on its way.
struct File<'a> {
    row: &'a ClassedRow<'a>,
    path: String,
    role: Role,
    old: Content<'a>,
    new: Content<'a>,
}

/// Reads the contents of the changed files. `rows` and `blobs` as the oracles get them; blobs of [`analysed_blobs`] that are not there
/// make their files unread, never unjudged.
pub fn analyse(policy: &Policy, rows: &[ClassedRow<'_>], blobs: &Blobs) -> Analysis {
    let mut files: Vec<File<'_>> = rows
        .iter()
        .filter(|row| differs(row))
        .filter_map(|row| {
            let role = role(row)?;
            let (old, new) = (Content::of(row.row.old.as_ref(), blobs), Content::of(row.row.new.as_ref(), blobs));
            Some(File { row, path: row.row.path().to_string(), role, old, new })
        })
        .collect();
    // The order of the rows says nothing.
    files.sort_by(|a, b| a.row.row.path().cmp(b.row.row.path()));
    let hints = AhoCorasick::new(HINTS).expect("the hints are few and fixed");
    let parsed: Vec<Parsed<'_>> = parse_all(&files, &hints);
    let scope = |file: &File<'_>| if file.role == Role::Test { Scope::Whole } else { Scope::Regions };
    let inventories: Vec<Both<'_>> = files
        .iter()
        .zip(&parsed)
        .map(|(file, (old, new))| {
            [old, new].map(|side| {
                side.as_ref().and_then(Outcome::syntax).map(|syntax| Inventory::of(syntax, &file.path, scope(file)))
            })
        })
        .collect();
    let (markers, mut unread) = fresh_markers(policy, &files, &parsed, &inventories);
    for (file, side) in files.iter().flat_map(|file| [(file, file.old), (file, file.new)]) {
        if let Content::Unread(why) = side {
            unread.push((file.row.row.path().clone(), why.to_owned()));
        }
    }
    Analysis { files: compared(&files, &inventories), markers, unread }
}

/// Words without which no product file holds a test or a marker.
const HINTS: &[&str] = &[
    "test",
    "Test",
    "skip",
    "Skip",
    "SKIP",
    "spec",
    "__eq__",
    "equal",
    "Equal",
    "eql?",
    "exit",
    "Exit",
    "halt",
    "PartialEq",
    "coverage",
    "Coverage",
    "pragma",
    "istanbul",
    "c8 ignore",
    "v8 ignore",
    "LCOV",
    "GCOV",
    "nocov",
    ">>>",
    "```",
    "jest",
    "mocha",
    "assume",
    "operator",
    "env",
    "ENV",
    "fixtures",
    "__snapshots__",
    "ledger",
    "fixtures.lock",
    "unit",
    "rspec",
    "Mockery",
    "Pest",
    "_exit",
    "nose",
    "hypothesis",
    "ORACLE_ROOT",
    "TRIAL_LOG",
    "PROPERTY_",
    "VITEST",
    "def ==",
    "GTEST",
    "catch2",
    "ava",
    "sinon",
    "chai",
    "kotest",
    "mockk",
    "collect_ignore",
    "tarpaulin",
    "NOSONAR",
    "expect",
    "Ignore",
];

/// Parses what may matter, on as many threads as pay off.
fn parse_all<'a>(files: &[File<'a>], hints: &AhoCorasick) -> Vec<Parsed<'a>> {
    let one = |file: &File<'a>| {
        let matters = file.role == Role::Test
            || [file.old, file.new].iter().filter_map(|c| c.bytes()).any(|bytes| hints.is_match(bytes));
        let side = |content: Content<'a>| content.bytes().filter(|_| matters).map(|bytes| parse(&file.path, bytes));
        (side(file.old), side(file.new))
    };
    let bytes: usize = files.iter().flat_map(|f| [f.old, f.new]).filter_map(Content::bytes).map(<[u8]>::len).sum();
    if bytes < MANY_BYTES || files.len() < 2 {
        return files.iter().map(one).collect();
    }
    let half = files.len().div_ceil(2);
    std::thread::scope(|scope| {
        let (front, back) = files.split_at(half);
        let other = scope.spawn(|| back.iter().map(one).collect::<Vec<_>>());
        let mut parsed: Vec<_> = front.iter().map(one).collect();
        parsed.extend(other.join().expect("parsing does not panic"));
        parsed
    })
}

/// From here on a second thread parses half of the files.
const MANY_BYTES: usize = 200_000;

type Parsed<'a> = (Option<Outcome<'a>>, Option<Outcome<'a>>);
type Both<'a> = [Option<Inventory<'a>>; 2];

fn compared(files: &[File<'_>], inventories: &[Both<'_>]) -> Vec<FileTests> {
    let judged: Vec<(&File<'_>, &Both<'_>)> =
        files.iter().zip(inventories).filter(|(file, both)| holds_tests(file, both)).collect();
    let pairs: Vec<Pair<'_>> = judged
        .iter()
        .map(|(file, [old, new])| Pair {
            path: &file.path,
            old: side(file.old, old.as_ref()),
            new: side(file.new, new.as_ref()),
        })
        .collect();
    let files = judged.iter().zip(compare(&pairs)).map(|((file, _), judgement)| FileTests {
        path: file.row.row.path().clone(),
        class: file.row.class,
        at_head: !matches!(file.new, Content::Absent),
        judgement,
    });
    files.filter(|file| !file.judgement.is_unchanged() || file.class == Class::Test).collect()
}

/// Whether a file's tests are compared: all of a test file, and those inside a product file.
fn holds_tests(file: &File<'_>, both: &Both<'_>) -> bool {
    match file.row.class {
        Class::Test => true,
        Class::TestConfig | Class::Allowed => false,
        _ => both.iter().flatten().any(|i| !i.items.is_empty() || !i.examples.is_empty()),
    }
}

fn side<'t>(content: Content<'_>, inventory: Option<&'t Inventory<'t>>) -> Side<'t> {
    match (content, inventory) {
        (Content::Absent, _) => Side::Absent,
        (_, Some(inventory)) => Side::Read(inventory),
        (_, None) => Side::Unparsed,
    }
}

/// What could not be read, and why.
type Unread = Vec<(BytePath, String)>;

fn fresh_markers(
    policy: &Policy,
    files: &[File<'_>],
    parsed: &[Parsed<'_>],
    inventories: &[Both<'_>],
) -> (Vec<FreshMarker>, Unread) {
    let mut unread = Unread::new();
    let mut known = Known::default();
    let mut base: Vec<(String, Vec<Marker>)> = Vec::new();
    let mut head: Vec<(String, Vec<Marker>)> = Vec::new();
    let mut notes: BTreeMap<String, String> = BTreeMap::new();
    for ((file, (old_outcome, new_outcome)), [old, new]) in files.iter().zip(parsed).zip(inventories) {
        if file.old.bytes().is_some() {
            known.files.insert(file.path.clone());
        }
        if let Some(old) = old {
            known.learn(&file.path, old);
        }
        let before = scanned(policy, file, file.old, old_outcome.as_ref(), old.as_ref());
        let after = scanned(policy, file, file.new, new_outcome.as_ref(), new.as_ref());
        if let Some(why) = after.as_text {
            notes.insert(file.path.clone(), why);
        }
        base.push((file.path.clone(), before.markers));
        head.push((file.path.clone(), after.markers));
        if let Some(configured) = markers::config::configured(&file.path, file.old.bytes(), file.new.bytes()) {
            if let Some(why) = configured.unreadable {
                unread.push((file.row.row.path().clone(), why));
            }
            base.push((file.path.clone(), configured.old));
            head.push((file.path.clone(), configured.new));
        }
    }
    let paths: BTreeMap<&str, &File<'_>> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let fresh = markers::balance(&base, &head, &known).into_iter().filter_map(|(path, marker)| {
        let file = paths.get(path)?;
        Some(FreshMarker {
            path: file.row.row.path().clone(),
            marker: marker.clone(),
            as_text: notes.get(path).cloned(),
        })
    });
    (fresh.collect(), unread)
}

fn scanned(
    policy: &Policy,
    file: &File<'_>,
    content: Content<'_>,
    outcome: Option<&Outcome<'_>>,
    inventory: Option<&Inventory<'_>>,
) -> Scanned {
    let Some(bytes) = content.bytes() else { return Scanned::default() };
    let extra: Vec<&ExtraMarker> = policy
        .markers
        .extra
        .iter()
        .filter(|m| m.paths.is_empty() || m.paths.iter().any(|p| matches_path(p, &file.path)))
        .collect();
    let own: Vec<(String, markers::MarkerKind)> = extra.iter().map(|m| (m.text.clone(), kind_of(m.kind))).collect();
    match (outcome, inventory) {
        (_, Some(inventory)) => markers::scan(inventory, &file.path, file.role, &own),
        (Some(Outcome::Unparsable(why)), None)
            if file.role == Role::Test || is_prose(&file.path) || *why != Unparsable::NoGrammar =>
        {
            Scanned::of_text(bytes, &file.path, why, &own)
        }
        _ => Scanned::default(),
    }
}

fn kind_of(kind: ExtraKind) -> markers::MarkerKind {
    match kind {
        ExtraKind::Skip => markers::MarkerKind::Skip,
        ExtraKind::Focus => markers::MarkerKind::Focus,
        ExtraKind::Retry => markers::MarkerKind::Retry,
        ExtraKind::Coverage => markers::MarkerKind::Coverage,
    }
}

fn matches_path(pattern: &Pattern, path: &str) -> bool {
    pattern
        .plain_globs()
        .iter()
        .filter_map(|glob| globset::Glob::new(glob).ok())
        .any(|glob| glob.compile_matcher().is_match(path))
}
