//! One look at a map that nobody keeps: what only frozen tests run, in one pass and without an index.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use roaring::RoaringBitmap;

use super::json::read_into;
use super::map::{TestNo, short};
use super::nodeid::{beginnings, split_phase};
use super::sink::Sink;
use super::unpack::unpacked;
use super::{About, Limits, MapError, Reach, paths};

/// The lines that frozen tests run and no live one, by file; files without such a line are left out. Memory is a bit for each line of
/// each file, twice, and the names: it does not grow with the number of (test, line) pairs.
pub fn frozen_only(
    origin: &str,
    packed: impl Read,
    frozen: &[String],
    reach: Reach,
    limits: Limits,
) -> Result<BTreeMap<String, RoaringBitmap>, MapError> {
    let mut pass = Pass {
        about: About::default(),
        limits,
        exact: frozen.iter().map(|id| split_phase(id).0.to_owned()).collect(),
        starts: frozen.iter().flat_map(|id| beginnings(split_phase(id).0, reach)).collect(),
        stood: HashMap::new(),
        files: Vec::new(),
        places: HashMap::new(),
        serial: 0,
    };
    unpacked(origin, packed, &limits, |plain| read_into(origin, plain, &limits, &mut pass))?;
    let mut found: BTreeMap<String, RoaringBitmap> = BTreeMap::new();
    for file in pass.files {
        let path = paths::below(pass.about.root.as_deref().filter(|_| paths::is_absolute(&file.path)), &file.path);
        paths::in_tree(&path).map_err(|why| {
            MapError::broken(
                origin,
                why,
                "write paths as they stand in the tree, or name the folder they lie in as `root`",
            )
        })?;
        let lines = only(&file.frozen, &file.live);
        if !lines.is_empty() {
            *found.entry(path).or_default() |= lines;
        }
    }
    Ok(found)
}

/// What stands in the first set and not in the second.
fn only(first: &[u64], second: &[u64]) -> RoaringBitmap {
    let mut lines = RoaringBitmap::new();
    for (start, (at, word)) in (0_u32..).step_by(64).zip(first.iter().enumerate()) {
        let mut left = word & !second.get(at).copied().unwrap_or_default();
        while left != 0 {
            lines.insert(start + left.trailing_zeros());
            left &= left - 1;
        }
    }
    lines
}

struct Pass {
    about: About,
    limits: Limits,
    exact: Vec<String>,
    starts: Vec<String>,
    /// Each test with the phases under which it stood, as bits.
    stood: HashMap<String, u8>,
    files: Vec<File>,
    places: HashMap<String, usize>,
    serial: u64,
}

struct File {
    path: String,
    live: Vec<u64>,
    frozen: Vec<u64>,
    serial: u64,
}

/// What `begin` answers in place of a number: live or frozen is all that is asked.
const LIVE: TestNo = 0;
const FROZEN: TestNo = 1;

impl Sink for Pass {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn about(&mut self) -> &mut About {
        &mut self.about
    }

    fn collected(&mut self, _id: &str) -> Result<(), String> {
        Ok(())
    }

    fn begin(&mut self, id: &str) -> Result<TestNo, String> {
        let (test, phase) = split_phase(id);
        if test.is_empty() || test.len() > self.limits.name || self.stood.len() >= self.limits.tests {
            return Err(format!("the test \"{}\" has no name, or too long a one, or is one too many", short(id)));
        }
        let bit = 1 << phase;
        match self.stood.get_mut(test) {
            Some(stood) if *stood & bit != 0 => return Err(format!("the test \"{}\" stands twice", short(id))),
            Some(stood) => *stood |= bit,
            None => drop(self.stood.insert(test.to_owned(), bit)),
        }
        self.serial += 1;
        let frozen = self.exact.iter().any(|exact| exact == test)
            || self.starts.iter().any(|start| test.starts_with(start.as_str()));
        Ok(if frozen { FROZEN } else { LIVE })
    }

    fn file(&mut self, path: &str) -> Result<usize, String> {
        if let Some(&at) = self.places.get(path) {
            return Ok(at);
        }
        if !paths::is_absolute(path) {
            paths::in_tree(path)?;
        }
        if path.len() > self.limits.name || self.files.len() >= self.limits.files {
            return Err(format!("the file \"{}\" has too long a name, or is one too many", short(path)));
        }
        self.files.push(File { path: path.to_owned(), live: Vec::new(), frozen: Vec::new(), serial: 0 });
        self.places.insert(path.to_owned(), self.files.len() - 1);
        Ok(self.files.len() - 1)
    }

    fn listed(&mut self, test: TestNo, file: usize, lines: &mut Vec<u32>) -> Result<(), String> {
        let file = &mut self.files[file];
        if file.serial == self.serial {
            return Err(format!("the file \"{}\" stands twice in one test", short(&file.path)));
        }
        file.serial = self.serial;
        let set = if test == FROZEN { &mut file.frozen } else { &mut file.live };
        let words = lines.iter().max().map_or(0, |last| *last as usize / 64 + 1);
        if set.len() < words {
            set.resize(words, 0);
        }
        for line in lines {
            set[*line as usize / 64] |= 1 << (*line % 64);
        }
        Ok(())
    }

    fn import(&mut self, _file: usize, _lines: &[u32]) {}

    fn executable(&mut self, _file: usize, _lines: &[u32]) {}
}
