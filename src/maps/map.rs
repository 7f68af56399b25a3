//! A map in memory, as it is read, converted and united; compact, since suites have tens of millions of (test, line) pairs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use roaring::RoaringBitmap;

use super::nodeid::split_phase;
use super::{Limits, MapError, lines, paths};
use crate::change::Sha256;

/// What a map says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The commit on which the tests ran; `None` where the map does not say.
    pub base_sha: Option<String>,
    /// The tool that measured.
    pub tool: Option<String>,
    /// Where the tree lay on the machine that measured.
    pub root: Option<String>,
    /// Whether the tool says that it does not see every line that a test runs.
    pub partial: bool,
}

/// How finely a map tells lines and tests apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grain {
    /// Which test ran which line.
    TestsAndLines,
    /// Not that; rule `coverage-map-too-coarse`, for this reason.
    TooCoarse(&'static str),
}

/// A place of a test among the tests of one map.
pub(super) type TestNo = u32;

/// Which test of a commit ran which line. Ids are without phases.
#[derive(Debug, Default)]
pub struct Map {
    /// What the map says of itself.
    pub about: About,
    /// sha256 of the map's bytes as they came; of all maps' digests where several were united.
    pub(super) digest: Option<Sha256>,
    pub(super) tests: Vec<String>,
    numbers: HashMap<String, TestNo>,
    /// For each test the phases under which it stood in the map, as bits.
    stood: Vec<u8>,
    pub(super) files: Vec<File>,
    places: HashMap<String, usize>,
    /// Tests about which united maps disagree.
    pub(super) jitter: BTreeSet<TestNo>,
    serial: u64,
    limits: Limits,
}

/// A file's share of a map.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) path: String,
    patterns: Patterns,
    /// Which test ran which pattern; a test that ran in several phases stands several times.
    pub(super) cells: Vec<(TestNo, u32)>,
    /// What all united maps say of a test about which they disagree.
    pub(super) agreed: BTreeMap<TestNo, u32>,
    pub(super) import: RoaringBitmap,
    pub(super) executable: Option<RoaringBitmap>,
    serial: u64,
}

/// Sets of lines, each kept once: tests with other parameters mostly run the same lines.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    known: HashMap<u64, u32>,
}

impl Patterns {
    pub(super) fn add(&mut self, lines: impl IntoIterator<Item = u32>) -> u32 {
        let start = self.bytes.len();
        lines::encode(lines, &mut self.bytes);
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&self.bytes[start..]);
        if let Some(&known) = self.known.get(&hash)
            && self.get(known) == &self.bytes[start..]
        {
            self.bytes.truncate(start);
            return known;
        }
        let number = u32::try_from(self.ends.len()).expect("fewer sets than pairs of tests and files");
        self.ends.push(self.bytes.len());
        self.known.insert(hash, number);
        number
    }

    pub(super) fn get(&self, number: u32) -> &[u8] {
        let at = number as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }

    pub(super) fn bitmap(&self, number: u32) -> RoaringBitmap {
        lines::bitmap(self.get(number)).expect("patterns were encoded here")
    }
}

impl Map {
    /// A map without a test.
    pub fn new(about: About, limits: Limits) -> Self {
        Self { about, limits, ..Self::default() }
    }

    /// How fine it is.
    pub fn grain(&self) -> Grain {
        if self.tests.is_empty() {
            Grain::TooCoarse("it names no test")
        } else if self.files.iter().all(|file| file.cells.is_empty()) {
            Grain::TooCoarse("no test of it has a line")
        } else {
            Grain::TestsAndLines
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A test, whether it runs a line or not.
    pub(super) fn test(&mut self, id: &str) -> Result<TestNo, String> {
        if id.is_empty() {
            return Err("a test has no name".to_owned());
        }
        if id.len() > self.limits.name {
            return Err(format!("a node id has {} bytes, and the most is {}", id.len(), self.limits.name));
        }
        if let Some(&number) = self.numbers.get(id) {
            return Ok(number);
        }
        if self.tests.len() >= self.limits.tests {
            return Err(format!("it has more than {} tests", self.limits.tests));
        }
        let number = u32::try_from(self.tests.len()).map_err(|_| "it has too many tests".to_owned())?;
        self.tests.push(id.to_owned());
        self.stood.push(0);
        self.numbers.insert(id.to_owned(), number);
        Ok(number)
    }

    /// A test that the map lists with what it ran; one that is listed twice is an error, but for its phases.
    pub(super) fn begin(&mut self, id: &str) -> Result<TestNo, String> {
        let (plain, phase) = split_phase(id);
        let number = self.test(plain)?;
        let stood = &mut self.stood[number as usize];
        if *stood & (1 << phase) != 0 {
            return Err(format!("the test \"{}\" stands twice", short(id)));
        }
        *stood |= 1 << phase;
        self.serial += 1;
        Ok(number)
    }

    /// The place of a file, by a path of the tree. Absolute paths wait for [`Self::settle`].
    pub(super) fn file(&mut self, path: &str) -> Result<usize, String> {
        if let Some(&at) = self.places.get(path) {
            return Ok(at);
        }
        if !paths::is_absolute(path) {
            paths::in_tree(path)?;
        }
        if path.len() > self.limits.name {
            return Err(format!("a path has {} bytes, and the most is {}", path.len(), self.limits.name));
        }
        if self.files.len() >= self.limits.files {
            return Err(format!("it has more than {} files", self.limits.files));
        }
        self.files.push(File { path: path.to_owned(), ..File::default() });
        self.places.insert(path.to_owned(), self.files.len() - 1);
        Ok(self.files.len() - 1)
    }

    /// Lines that a test ran, as the map lists them: a file that stands twice for one test is an error.
    pub(super) fn listed(&mut self, test: TestNo, file: usize, lines: &mut Vec<u32>) -> Result<(), String> {
        let serial = self.serial;
        if self.files[file].serial == serial {
            return Err(format!("the file \"{}\" stands twice in one test", short(&self.files[file].path)));
        }
        self.files[file].serial = serial;
        self.ran(test, file, lines);
        Ok(())
    }

    /// Lines that a test ran, in any order.
    pub(super) fn ran(&mut self, test: TestNo, file: usize, lines: &mut Vec<u32>) {
        lines::tidy(lines);
        if !lines.is_empty() {
            let file = &mut self.files[file];
            let pattern = file.patterns.add(lines.iter().copied());
            file.cells.push((test, pattern));
        }
    }

    /// Checks the paths that came as absolute ones against the root, once that is known.
    pub(super) fn settle(&mut self, origin: &str) -> Result<(), MapError> {
        let root = self.about.root.clone();
        for at in 0..self.files.len() {
            if !paths::is_absolute(&self.files[at].path) {
                continue;
            }
            let path = paths::below(root.as_deref(), &self.files[at].path);
            paths::in_tree(&path).map_err(|why| {
                let next = "write paths as they stand in the tree, or name the folder they lie in as `root`";
                MapError::broken(origin, why, next)
            })?;
            if self.places.insert(path.clone(), at).is_some_and(|other| other != at) {
                let why = format!("the file \"{}\" stands under two paths", short(&path));
                return Err(MapError::broken(origin, why, "write each path once"));
            }
            self.files[at].path = path;
        }
        Ok(())
    }

    /// How many tests were collected or run.
    pub fn test_count(&self) -> usize {
        self.tests.len()
    }

    /// Every test with the lines that it ran: `(test, file, line)` in order, each once. For tests and small maps.
    pub fn triples(&self) -> BTreeSet<(&str, &str, u32)> {
        let mut triples = BTreeSet::new();
        for file in &self.files {
            for (test, pattern) in &file.cells {
                let lines = file.patterns.bitmap(*pattern);
                triples.extend(lines.iter().map(|line| (&*self.tests[*test as usize], &*file.path, line)));
            }
        }
        triples
    }

    /// Unites maps of one commit: the shards of a suite, or the same suite run twice. A test of which two of them list other lines is
    /// jitter: the union counts where it is frozen, the intersection where it is live.
    pub fn united(maps: Vec<(String, Self)>) -> Result<Self, MapError> {
        let mut maps = maps.into_iter();
        let Some((_, first)) = maps.next() else {
            return Ok(Self::default());
        };
        let mut rest = maps.peekable();
        if rest.peek().is_none() {
            return Ok(first);
        }
        let mut whole = Uniting::of(&first);
        let mut digests: BTreeSet<Option<Sha256>> = [first.digest].into();
        whole.add(&first)?;
        for (origin, map) in rest {
            let (found, wanted) = (&map.about.base_sha, &first.about.base_sha);
            if found != wanted {
                let named = |sha: &Option<String>| sha.clone().unwrap_or_else(|| "no named commit".to_owned());
                return Err(MapError::OtherCommit { origin, found: named(found), wanted: named(wanted) });
            }
            digests.insert(map.digest);
            whole.add(&map)?;
        }
        let mut united = whole.finish();
        let all: Vec<String> = digests.into_iter().flatten().map(|digest| digest.to_string()).collect();
        united.digest = Some(Sha256::of(all.join("\n").as_bytes()));
        Ok(united)
    }
}

/// For each test of a file: what any map says, and what all of them say.
type Said = BTreeMap<TestNo, (RoaringBitmap, RoaringBitmap)>;

struct Uniting {
    whole: Map,
    said: Vec<Said>,
    /// The tests that ran a line in a map so far.
    ran: BTreeSet<TestNo>,
}

impl Uniting {
    fn of(first: &Map) -> Self {
        Self { whole: Map::new(first.about.clone(), first.limits), said: Vec::new(), ran: BTreeSet::new() }
    }

    fn add(&mut self, map: &Map) -> Result<(), MapError> {
        let whole = &mut self.whole;
        let wrong = |why: String| MapError::broken("the united map", why, "unite fewer maps");
        whole.about.partial |= map.about.partial;
        if whole.about.tool != map.about.tool {
            whole.about.tool = whole.about.tool.take().or_else(|| map.about.tool.clone());
        }
        let numbers: Vec<TestNo> =
            map.tests.iter().map(|id| whole.test(id)).collect::<Result<_, _>>().map_err(wrong)?;
        let mut new: BTreeSet<TestNo> = BTreeSet::new();
        let mut here: BTreeMap<usize, BTreeMap<TestNo, RoaringBitmap>> = BTreeMap::new();
        for file in &map.files {
            let at = whole.file(&file.path).map_err(wrong)?;
            self.said.resize_with(whole.files.len(), Said::new);
            whole.files[at].import |= &file.import;
            if let Some(executable) = &file.executable {
                *whole.files[at].executable.get_or_insert_default() |= executable;
            }
            let here = here.entry(at).or_default();
            for (test, pattern) in &file.cells {
                let test = numbers[*test as usize];
                new.insert(test);
                *here.entry(test).or_default() |= file.patterns.bitmap(*pattern);
            }
        }
        let again: BTreeSet<TestNo> = new.intersection(&self.ran).copied().collect();
        for (at, said) in self.said.iter_mut().enumerate() {
            let mut here = here.remove(&at).unwrap_or_default();
            for test in &again {
                let lines = here.remove(test).unwrap_or_default();
                let Some((any, all)) = said.get_mut(test) else {
                    if !lines.is_empty() {
                        said.insert(*test, (lines, RoaringBitmap::new()));
                        whole.jitter.insert(*test);
                    }
                    continue;
                };
                if *any != lines || *all != lines {
                    whole.jitter.insert(*test);
                    *any |= &lines;
                    *all &= &lines;
                }
            }
            said.extend(here.into_iter().map(|(test, lines)| (test, (lines.clone(), lines))));
        }
        whole.jitter.extend(map.jitter.iter().map(|test| numbers[*test as usize]));
        self.ran.extend(new);
        Ok(())
    }

    fn finish(mut self) -> Map {
        for (file, said) in self.whole.files.iter_mut().zip(self.said) {
            for (test, (any, all)) in said {
                let pattern = file.patterns.add(&any);
                file.cells.push((test, pattern));
                if any != all {
                    let pattern = file.patterns.add(&all);
                    file.agreed.insert(test, pattern);
                }
            }
        }
        self.whole
    }
}

impl File {
    /// The last line that ran, for a test or at import; 0 for none.
    pub(super) fn last_line(&self) -> u32 {
        let of_tests = self.cells.iter().filter_map(|(_, set)| lines::decode(self.pattern(*set)).last().flatten());
        of_tests.map(|(_, last)| last).chain(self.import.max()).max().unwrap_or_default()
    }

    pub(super) fn lines_of(&self, number: u32) -> RoaringBitmap {
        self.patterns.bitmap(number)
    }

    pub(super) fn pattern(&self, number: u32) -> &[u8] {
        self.patterns.get(number)
    }

    /// Every test once, in the order that `rank` gives, with all that it ran.
    pub(super) fn by_rank(&mut self, rank: &[TestNo]) -> Vec<(TestNo, u32)> {
        let mut cells: Vec<(TestNo, u32)> =
            self.cells.iter().map(|(test, pattern)| (rank[*test as usize], *pattern)).collect();
        cells.sort_unstable();
        cells.dedup();
        let mut merged: Vec<(TestNo, u32)> = Vec::with_capacity(cells.len());
        for (test, pattern) in cells {
            match merged.last_mut() {
                Some((last, together)) if *last == test => {
                    let lines = self.patterns.bitmap(*together) | self.patterns.bitmap(pattern);
                    *together = self.patterns.add(&lines);
                }
                _ => merged.push((test, pattern)),
            }
        }
        merged
    }
}

/// A name as an error shows it.
pub(super) fn short(name: &str) -> String {
    let mut text: String = name.chars().take(120).collect();
    if text.len() < name.len() {
        text.push('…');
    }
    text
}
