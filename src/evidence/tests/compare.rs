//! What a change did to the tests of its files.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::inventory::{Inventory, Item, Kind, Scope};
use super::{lang, weaken};

/// More missing or new tests than this are matched by equal bodies only, not by likeness.
const MAX_ALIKE: usize = 200;
/// Two bodies that share this much of their tokens are one test, rewritten. In percent.
const ALIKE_PERCENT: usize = 55;

/// One side of a file.
#[derive(Clone, Copy)]
pub enum Side<'t> {
    /// It does not exist.
    Absent,
    /// It exists and has no syntax.
    Unparsed,
    /// Its pieces.
    Read(&'t Inventory<'t>),
}

/// Both sides of a file that the change touches.
#[derive(Clone, Copy)]
pub struct Pair<'t> {
    /// The head's path, or the old one where the file is gone.
    pub path: &'t str,
    /// The merge base's side.
    pub old: Side<'t>,
    /// The head's side.
    pub new: Side<'t>,
}

/// A remark with the lines that it is about: those of the head, or of the merge base where [`Note::gone`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// For people, one clause.
    pub text: String,
    /// First and last line.
    pub lines: Option<(u32, u32)>,
    /// Whether the lines are those of the merge base.
    pub gone: bool,
}

/// What happened to the tests of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Tests that are nowhere in the head.
    pub removed: Vec<Note>,
    /// What existed and is not the same any more, and what comes in that reaches beyond itself.
    pub rewritten: Vec<Note>,
    /// New tests and helpers under new names.
    pub added: Vec<Note>,
    /// In an added file: what acts on the product or the runner when it is imported.
    pub acts: Vec<Note>,
    /// What became weaker in a rewritten test.
    pub weakened: Vec<Note>,
}

impl Judgement {
    /// Whether nothing happened but layout.
    pub fn is_unchanged(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the file only gained.
    pub fn is_extended(&self) -> bool {
        self.removed.is_empty() && self.rewritten.is_empty() && !self.added.is_empty()
    }
}

fn note(text: impl Into<String>, item: &Item<'_>) -> Note {
    Note { text: text.into(), lines: Some((item.line(), item.end_line())), gone: false }
}

fn gone(text: impl Into<String>, item: &Item<'_>) -> Note {
    Note { gone: true, ..note(text, item) }
}

/// A test without its partner on the other side, and the file it stands in.
#[derive(Clone, Copy)]
struct Single<'t> {
    file: usize,
    item: &'t Item<'t>,
}

/// Judges every file of a change together, so that a test that moved from one to another is not taken for removed. One judgement a
/// file, in the order of `pairs`.
pub fn compare(pairs: &[Pair<'_>]) -> Vec<Judgement> {
    let mut judgements = vec![Judgement::default(); pairs.len()];
    let mut missing: Vec<Single<'_>> = Vec::new();
    let mut fresh: Vec<Single<'_>> = Vec::new();
    for (file, (pair, judgement)) in pairs.iter().zip(&mut judgements).enumerate() {
        match (pair.old, pair.new) {
            (Side::Read(old), Side::Read(new)) => {
                let used = (OnceCell::new(), OnceCell::new());
                let mut matching =
                    Matching { file, old, new, judgement, missing: &mut missing, fresh: &mut fresh, used: &used };
                matching.whole_file();
            }
            (Side::Absent, Side::Read(new)) => {
                judgement.acts.extend(new.items.iter().filter(|i| is_strong(i)).map(|i| note(describe(i), i)));
                fresh.extend(new.tests().map(|item| Single { file, item }));
            }
            (Side::Read(old), Side::Absent) => {
                missing.extend(old.tests().map(|item| Single { file, item }));
            }
            (Side::Unparsed, Side::Absent) => {
                judgement.removed.push(whole_file("the whole file, which could not be parsed", true));
            }
            (Side::Absent, Side::Unparsed) => {
                judgement.added.push(whole_file("a file that could not be parsed", false));
            }
            (Side::Unparsed, _) | (_, Side::Unparsed) => {
                judgement.rewritten.push(whole_file("the file could not be parsed, so it counts as rewritten", false));
            }
            (Side::Absent, Side::Absent) => {}
        }
    }
    reunite(missing, fresh, pairs, &mut judgements);
    for judgement in &mut judgements {
        for list in [&mut judgement.removed, &mut judgement.rewritten, &mut judgement.added, &mut judgement.acts] {
            list.sort_by(|a, b| (a.lines, &a.text).cmp(&(b.lines, &b.text)));
            list.dedup();
        }
    }
    judgements
}

fn whole_file(text: &str, gone: bool) -> Note {
    Note { text: text.to_owned(), lines: None, gone }
}

/// Finds what became of tests that are no more where they were.
fn reunite(missing: Vec<Single<'_>>, fresh: Vec<Single<'_>>, pairs: &[Pair<'_>], judgements: &mut [Judgement]) {
    let mut free: Vec<Option<Single<'_>>> = fresh.into_iter().map(Some).collect();
    let mut lost: Vec<Single<'_>> = Vec::new();
    for old in missing {
        let same = |new: &Single<'_>| {
            new.item.body_tokens() == old.item.body_tokens() && still_found(pairs[old.file].path, pairs[new.file].path)
        };
        let found = free
            .iter()
            .position(|new| new.as_ref().is_some_and(|new| same(new) && new.item.name == old.item.name))
            .or_else(|| free.iter().position(|new| new.as_ref().is_some_and(same)));
        let Some(new) = found.and_then(|at| free[at].take()) else {
            lost.push(old);
            continue;
        };
        let place = if new.file == old.file { String::new() } else { format!(" in {}", pairs[new.file].path) };
        let verb = if new.item.name == old.item.name { "moved" } else { "renamed" };
        let text = format!("test `{}` is {verb}, with the same body: now `{}`{place}", old.item.path, new.item.path);
        judgements[new.file].rewritten.push(note(text, new.item));
        if new.file != old.file {
            judgements[old.file]
                .rewritten
                .push(gone(format!("test `{}` moved to {}", old.item.path, pairs[new.file].path), old.item));
        }
    }
    let few = lost.len() <= MAX_ALIKE && free.iter().flatten().count() <= MAX_ALIKE;
    for old in lost {
        let likeness = |new: &Single<'_>| {
            if !still_found(pairs[old.file].path, pairs[new.file].path) {
                return 0;
            }
            let bonus = if new.item.name == old.item.name { 30 } else { 0 };
            alike(old.item.body_tokens(), new.item.body_tokens()) + bonus
        };
        let best = free
            .iter()
            .enumerate()
            .filter(|_| few)
            .filter_map(|(at, new)| new.as_ref().map(|new| (likeness(new), at)))
            .max_by_key(|(score, at)| (*score, usize::MAX - at))
            .filter(|(score, _)| *score >= ALIKE_PERCENT);
        if let Some(new) = best.and_then(|(_, at)| free[at].take()) {
            let text = format!("test `{}` is rewritten as `{}`", old.item.path, new.item.path);
            judgements[new.file].rewritten.push(note(text, new.item));
            judgements[new.file].weakened.extend(weaken::compare(old.item, new.item));
            if new.file != old.file {
                judgements[old.file]
                    .rewritten
                    .push(gone(format!("test `{}` moved to {}", old.item.path, pairs[new.file].path), old.item));
            }
        } else {
            judgements[old.file].removed.push(gone(format!("test `{}`", old.item.path), old.item));
        }
    }
    for new in free.into_iter().flatten() {
        judgements[new.file].added.push(note(format!("test `{}`", new.item.path), new.item));
    }
}

/// Whether a runner that found tests in one file finds them in another: same ending, and a name that still says test if it did.
fn still_found(from: &str, to: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let says = |path: &str| name(path).contains("test") || name(path).contains("spec");
    let ending = |path: &str| name(path).rsplit_once('.').map(|(_, e)| e.to_owned());
    from == to || (ending(from) == ending(to) && (!says(from) || says(to)))
}

/// How much two bodies share, in percent of both.
fn alike(old: &[u8], new: &[u8]) -> usize {
    fn count(tokens: &[u8]) -> BTreeMap<&[u8], usize> {
        let mut counts = BTreeMap::new();
        for token in tokens.split(|b| matches!(b, 0x1f | 2 | 3)).filter(|t| t.len() > 1) {
            *counts.entry(token).or_default() += 1;
        }
        counts
    }
    let (old, new) = (count(old), count(new));
    let both: usize = old.iter().map(|(token, n)| (*n).min(new.get(token).copied().unwrap_or(0))).sum();
    let all = old.values().sum::<usize>() + new.values().sum::<usize>();
    (200 * both).checked_div(all).unwrap_or(0)
}

/// What a piece is called in a message.
fn describe(item: &Item<'_>) -> String {
    let kind = match item.kind {
        Kind::Test => "test",
        Kind::Suite => "suite",
        Kind::Helper => "helper",
        Kind::Import => "import",
        Kind::Constant => "value",
        Kind::Hook => "hook",
        Kind::Acts => "statement",
    };
    let name = if item.path.is_empty() { &item.name } else { &item.path };
    let name: String = name.chars().take(120).collect();
    if item.why.is_empty() { format!("{kind} `{name}`") } else { format!("{kind} `{name}` ({})", item.why) }
}

/// Whether an added piece acts on the product or the runner, and not only on its own file.
fn is_strong(item: &Item<'_>) -> bool {
    const ALWAYS: &[&str] = &[
        "sets a part of something else at import",
        "deletes a name",
        "gives a type of the product new behaviour",
        "registers itself to run at exit",
        "runs before any test",
        "takes the place of the test runner",
        "brings a metaclass",
        "sets something when the file is loaded",
        "may reopen a class of the product",
        "an attribute makes it run by itself",
        "says what equals what",
        "an attribute of the whole assembly",
    ];
    const CALLS: &[&str] = &[
        "jest.mock",
        "jest.doMock",
        "vi.mock",
        "vi.doMock",
        "mock.module",
        "process.",
        "Object.defineProperty",
        "setattr",
        "exec(",
        "eval(",
        "importlib.reload",
        "patch(",
        "patch.",
        "mock.patch",
        "sinon.stub",
        "jest.spyOn",
        "vi.spyOn",
        "os.environ",
        "sys.exit",
        "os._exit",
        "Module.",
    ];
    match item.kind {
        Kind::Hook => {
            item.name.starts_with("pytest_")
                || ALWAYS.contains(&item.why)
                || matches!(item.name.as_str(), "load_tests" | "collect_ignore")
        }
        Kind::Acts => ALWAYS.contains(&item.why) || CALLS.iter().any(|call| item.name.contains(call)),
        _ => false,
    }
}

struct Matching<'m, 't> {
    file: usize,
    old: &'t Inventory<'t>,
    new: &'t Inventory<'t>,
    judgement: &'m mut Judgement,
    missing: &'m mut Vec<Single<'t>>,
    fresh: &'m mut Vec<Single<'t>>,
    /// Names that the old side uses: plain ones, and those with members.
    used: &'m (OnceCell<BTreeSet<&'t str>>, OnceCell<BTreeSet<&'t str>>),
}

impl<'t> Matching<'_, 't> {
    fn whole_file(&mut self) {
        self.examples();
        let (old_root, new_root) = (self.old.syntax.root(), self.new.syntax.root());
        if old_root.tokens() == new_root.tokens() && self.old.syntax.language() == self.new.syntax.language() {
            return;
        }
        if let Some((first, last)) = self.new.syntax.broken_lines().first().copied()
            && !self.new.items.is_empty()
        {
            let text = "the file does not parse here, so it counts as rewritten".to_owned();
            self.judgement.rewritten.push(Note { text, lines: Some((first, last)), gone: false });
        }
        let before = (self.missing.len(), self.fresh.len());
        self.container(None, None);
        let told = !self.judgement.is_unchanged() || before != (self.missing.len(), self.fresh.len());
        if !told && self.new.scope == Scope::Whole {
            self.judgement.rewritten.push(whole_file("the file changed outside its tests", false));
        }
    }

    fn examples(&mut self) {
        let (old, new) = (&self.old.examples, &self.new.examples);
        let old_codes: BTreeSet<&str> = old.iter().map(|e| e.code.as_str()).collect();
        let new_codes: BTreeSet<&str> = new.iter().map(|e| e.code.as_str()).collect();
        let mut fresh: Vec<_> = new.iter().filter(|e| !old_codes.contains(e.code.as_str())).collect();
        for example in old.iter().filter(|e| !new_codes.contains(e.code.as_str())) {
            let like =
                fresh.iter().position(|new| new.name == example.name).or_else(|| (!fresh.is_empty()).then_some(0));
            if let Some(at) = like {
                let new = fresh.remove(at);
                let text = format!("{} changed", new.name);
                self.judgement.rewritten.push(Note { text, lines: Some((new.line, new.line)), gone: false });
            } else {
                let text = example.name.clone();
                self.judgement.removed.push(Note { text, lines: Some((example.line, example.line)), gone: true });
            }
        }
        for new in fresh {
            self.judgement.added.push(Note { text: new.name.clone(), lines: Some((new.line, new.line)), gone: false });
        }
    }

    fn container(&mut self, old_at: Option<usize>, new_at: Option<usize>) {
        let old: Vec<(usize, &'t Item<'t>)> = children(self.old, old_at);
        let new: Vec<(usize, &'t Item<'t>)> = children(self.new, new_at);
        self.imports(&old, &new);
        let mut by_key: BTreeMap<(Kind, &str, usize), usize> = BTreeMap::new();
        let mut seen: BTreeMap<(Kind, &str), usize> = BTreeMap::new();
        for (place, (_, item)) in new.iter().enumerate().filter(|(_, (_, i))| i.kind != Kind::Import) {
            let nth = seen.entry((item.kind, &item.name)).or_default();
            by_key.insert((item.kind, &item.name, *nth), place);
            *nth += 1;
        }
        seen.clear();
        let mut taken = BTreeSet::new();
        let mut last = 0;
        for (at, item) in old.iter().filter(|(_, i)| i.kind != Kind::Import) {
            let nth = seen.entry((item.kind, &item.name)).or_default();
            let place = by_key.get(&(item.kind, item.name.as_str(), *nth)).copied();
            *nth += 1;
            let Some(place) = place else {
                self.lost(*at, item);
                continue;
            };
            taken.insert(place);
            self.both(*at, item, new[place].0, new[place].1);
            if matches!(item.kind, Kind::Acts | Kind::Hook | Kind::Constant) {
                if place < last {
                    self.judgement
                        .rewritten
                        .push(note(format!("{} stands in another place", describe(item)), new[place].1));
                }
                last = place;
            }
        }
        for (place, (at, item)) in new.iter().enumerate() {
            if item.kind != Kind::Import && !taken.contains(&place) {
                self.gained(*at, item, old_at, new_at);
            }
        }
    }

    fn both(&mut self, old_at: usize, old: &'t Item<'t>, new_at: usize, new: &'t Item<'t>) {
        if old.tokens() != new.tokens() {
            self.judgement.rewritten.push(note(format!("{} changed", describe(new)), new));
            if new.kind == Kind::Test || new.kind == Kind::Helper {
                self.judgement.weakened.extend(weaken::compare(old, new));
            }
        }
        if old.kind == Kind::Suite {
            self.container(Some(old_at), Some(new_at));
        }
    }

    /// A piece of the old side that the new one does not have under its name.
    fn lost(&mut self, at: usize, item: &'t Item<'t>) {
        let tests: Vec<_> = self.old.tests_of(at).collect();
        if tests.is_empty() || item.kind != Kind::Test {
            self.judgement.rewritten.push(gone(format!("{} is gone", describe(item)), item));
        }
        let file = self.file;
        self.missing.extend(tests.into_iter().map(|item| Single { file, item }));
    }

    /// A piece of the new side that the old one did not have under its name.
    fn gained(&mut self, at: usize, item: &'t Item<'t>, old_at: Option<usize>, new_at: Option<usize>) {
        let in_class = new_at.is_some_and(|at| self.new.items[at].node.kind().contains("class"));
        let (old, cached) = (self.old, if in_class { &self.used.1 } else { &self.used.0 });
        let used = cached.get_or_init(|| old.used(in_class));
        let bound: BTreeSet<&str> =
            children(self.old, old_at).iter().flat_map(|(_, i)| i.binds.iter().map(String::as_str)).collect();
        let clash = item.binds.iter().find(|name| used.contains(name.as_str()) || bound.contains(name.as_str()));
        let reach = match item.kind {
            Kind::Acts | Kind::Hook => Some(item.why),
            _ => None,
        };
        let inner_acts = self.new.items.iter().skip(at + 1).find(|i| item.holds(i.node) && i.kind == Kind::Acts);
        let own_helper = at_import(item).into_iter().find(|name| {
            self.new.items.iter().any(|i| i.kind == Kind::Helper && i.binds.contains(name))
                && !used.contains(name.as_str())
        });
        if let Some(name) = clash {
            let verb = if bound.contains(name.as_str()) { "binds again" } else { "shadows" };
            self.judgement
                .rewritten
                .push(note(format!("new {} {verb} the name `{name}`, which old code uses", describe(item)), item));
        } else if reach.is_some() {
            self.judgement.rewritten.push(note(format!("a new {} comes in", describe(item)), item));
        } else if let Some(inner) = inner_acts {
            self.judgement.rewritten.push(note(format!("a new {} comes in", describe(inner)), inner));
        } else if let Some(name) = own_helper {
            self.judgement
                .rewritten
                .push(note(format!("new {} runs the new helper `{name}` at import", describe(item)), item));
        } else if !matches!(item.kind, Kind::Test | Kind::Suite) {
            self.judgement.added.push(note(describe(item), item));
        }
        let file = self.file;
        self.fresh.extend(self.new.tests_of(at).map(|item| Single { file, item }));
    }

    fn imports(&mut self, old: &[(usize, &'t Item<'t>)], new: &[(usize, &'t Item<'t>)]) {
        let is_import = |i: &&(usize, &'t Item<'t>)| i.1.kind == Kind::Import;
        let brings = |list: &[(usize, &'t Item<'t>)]| -> BTreeMap<(String, String), &'t Item<'t>> {
            list.iter().filter(is_import).flat_map(|(_, i)| lang::brings(i).into_iter().map(move |b| (b, *i))).collect()
        };
        let (old_brings, new_brings) = (brings(old), brings(new));
        for ((local, means), item) in &old_brings {
            if new_brings.contains_key(&(local.clone(), means.clone())) {
                continue;
            }
            let name = if local.is_empty() { means } else { local };
            match new_brings.iter().find(|((l, _), _)| l == local && !l.is_empty()) {
                Some(((_, now), item)) => {
                    self.judgement.rewritten.push(note(format!("`{local}` is imported from elsewhere: `{now}`"), item));
                }
                None => self.judgement.rewritten.push(gone(format!("the import of `{name}` is gone"), item)),
            }
        }
        let used = self.old.used(false);
        let old_locals: BTreeSet<&str> = old_brings.keys().map(|(l, _)| l.as_str()).collect();
        for ((local, means), item) in &new_brings {
            if old_brings.contains_key(&(local.clone(), means.clone())) || local.is_empty() {
                continue;
            }
            let other_part = means.starts_with(':') && old_brings.keys().any(|(l, m)| l == local && m.starts_with(':'));
            if (used.contains(local.as_str()) || old_locals.contains(local.as_str())) && !other_part {
                self.judgement
                    .rewritten
                    .push(note(format!("a new import shadows the name `{local}`, which old code uses"), item));
            }
        }
        if new_brings.keys().any(|b| !old_brings.contains_key(b)) {
            let first = new_brings.iter().find(|(b, _)| !old_brings.contains_key(*b));
            if let Some((_, item)) = first {
                self.judgement.added.push(note(describe(item), item));
            }
        }
    }
}

fn children<'t>(inventory: &'t Inventory<'t>, parent: Option<usize>) -> Vec<(usize, &'t Item<'t>)> {
    inventory.items.iter().enumerate().filter(|(_, item)| item.parent == parent).collect()
}

/// Names of functions that a definition calls when it is imported: its decorators.
fn at_import(item: &Item<'_>) -> Vec<String> {
    let decorators = item.node.children().filter(|n| n.kind() == "decorator");
    let roots = decorators.filter_map(|d| d.descendants().find(|n| n.kind() == "identifier"));
    roots.map(|n| n.text().to_owned()).collect()
}
