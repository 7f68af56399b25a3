//! What an index says of some files, for one list of frozen tests.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::head::{FilePart, GROUP};
use super::open::{Index, damaged};
use crate::maps::nodeid::{beginnings, split_phase};
use crate::maps::{FileSurface, MapError, Reach, Surface, lines};

/// How many tests run each line of a file, its import lines and its executable ones.
pub(in crate::maps) struct Counts {
    /// First line, number of lines, number of tests.
    pub(in crate::maps) runs: Vec<(u32, u32, u64)>,
    pub(in crate::maps) import: RoaringBitmap,
    pub(in crate::maps) executable: Option<RoaringBitmap>,
}

/// Which test of a file runs which set.
struct Table {
    words: Vec<u8>,
    runs: usize,
    agreed: usize,
    sets: usize,
}

/// What frozen tests run in a file.
#[derive(Default)]
pub(in crate::maps) struct Frozen {
    /// For each frozen test what any map says, and what all of them say.
    pub(in crate::maps) tests: Vec<(u32, RoaringBitmap, RoaringBitmap)>,
}

impl Index {
    /// What the map says of these files when these tests are frozen. A frozen id reaches a test, or a function with all its parameters.
    pub fn look<'p>(&self, paths: impl Iterator<Item = &'p str>, frozen: &[String]) -> Result<Surface, MapError> {
        self.look_as_far_as(paths, frozen, Reach::Function)
    }

    /// As [`Self::look`], where the policy lets a freeze name more than a function.
    pub fn look_as_far_as<'p>(
        &self,
        paths: impl Iterator<Item = &'p str>,
        frozen: &[String],
        reach: Reach,
    ) -> Result<Surface, MapError> {
        let (numbers, unknown) = self.frozen(frozen, reach)?;
        let mut ids: BTreeMap<u32, String> = BTreeMap::new();
        let mut files = BTreeMap::new();
        for path in paths {
            if files.contains_key(path) {
                continue;
            }
            let Some(part) = self.file(path) else { continue };
            let counts = self.counts(part)?;
            let frozen = self.frozen_in(part, &numbers)?;
            self.name(frozen.tests.iter().map(|(test, ..)| *test), &mut ids)?;
            files.insert(path.to_owned(), surface(&counts, &frozen, &ids));
        }
        let mut jitter = BTreeMap::new();
        self.name(self.head.jitter.iter().copied(), &mut jitter)?;
        Ok(Surface { files, unknown, jitter: jitter.into_values().collect(), partial: self.partial() })
    }

    /// The places of the tests that are frozen, and the ids that name none.
    pub(in crate::maps) fn frozen(
        &self,
        frozen: &[String],
        reach: Reach,
    ) -> Result<(RoaringBitmap, Vec<String>), MapError> {
        let mut numbers = RoaringBitmap::new();
        let mut unknown = Vec::new();
        for asked in frozen {
            let (id, _) = split_phase(asked);
            let before = numbers.len();
            let at = self.first_from(id)?;
            let mut known = false;
            if self.id(at)?.as_deref() == Some(id) {
                numbers.insert(at);
                known = true;
            }
            for start in beginnings(id, reach) {
                let first = self.first_from(&start)?;
                let end = self.first_behind(&start)?;
                known |= first < end;
                numbers.insert_range(first..end);
            }
            if !known && numbers.len() == before && !unknown.contains(asked) {
                unknown.push(asked.clone());
            }
        }
        Ok((numbers, unknown))
    }

    /// The place of the first id that is not before `wanted`.
    fn first_from(&self, wanted: &str) -> Result<u32, MapError> {
        self.partition(|id| id < wanted)
    }

    /// The place of the first id behind all that begin with `start`.
    fn first_behind(&self, start: &str) -> Result<u32, MapError> {
        self.partition(|id| id < start || id.starts_with(start))
    }

    fn partition(&self, before: impl Fn(&str) -> bool) -> Result<u32, MapError> {
        let groups = self.head.groups.partition_point(|(first, _)| before(first));
        let Some(last) = groups.checked_sub(1) else { return Ok(0) };
        let within = self.group(last)?.partition_point(|id| before(id));
        u32::try_from(last * GROUP + within).map_err(|_| damaged(&self.origin))
    }

    /// The id at a place; `None` behind the last.
    fn id(&self, number: u32) -> Result<Option<String>, MapError> {
        if number >= self.head.tests {
            return Ok(None);
        }
        let mut group = self.group(number as usize / GROUP)?;
        let within = number as usize % GROUP;
        if within < group.len() { Ok(Some(group.swap_remove(within))) } else { Err(damaged(&self.origin)) }
    }

    /// Adds the ids at some places, reading each group once where places ascend.
    pub(in crate::maps) fn name(
        &self,
        numbers: impl Iterator<Item = u32>,
        ids: &mut BTreeMap<u32, String>,
    ) -> Result<(), MapError> {
        let mut open: Option<(usize, Vec<String>)> = None;
        for number in numbers {
            if ids.contains_key(&number) {
                continue;
            }
            let at = number as usize / GROUP;
            if open.as_ref().is_none_or(|(number, _)| *number != at) {
                open = Some((at, self.group(at)?));
            }
            let id = open.as_ref().and_then(|(_, group)| group.get(number as usize % GROUP));
            ids.insert(number, id.ok_or_else(|| damaged(&self.origin))?.clone());
        }
        Ok(())
    }

    fn counts(&self, part: &FilePart) -> Result<Counts, MapError> {
        let bytes = self.part(part.counts)?;
        read_counts(&bytes).ok_or_else(|| damaged(&self.origin))
    }

    pub(in crate::maps) fn counts_of(&self) -> impl Iterator<Item = Result<(&str, Counts), MapError>> {
        self.head.files.iter().map(|part| Ok((part.path.as_str(), self.counts(part)?)))
    }

    pub(in crate::maps) fn frozen_at(&self, path: &str, numbers: &RoaringBitmap) -> Result<Frozen, MapError> {
        self.file(path).map_or_else(|| Ok(Frozen::default()), |part| self.frozen_in(part, numbers))
    }

    fn frozen_in(&self, part: &FilePart, numbers: &RoaringBitmap) -> Result<Frozen, MapError> {
        if numbers.is_empty() {
            return Ok(Frozen::default());
        }
        let damage = || damaged(&self.origin);
        let table = Table::of(self.part(part.tests)?).ok_or_else(damage)?;
        let mut known: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
        let mut set = |number: u32| -> Result<RoaringBitmap, MapError> {
            if let Some(set) = known.get(&number) {
                return Ok(set.clone());
            }
            let (start, end, sum) = table.set(number).ok_or_else(damage)?;
            let length = u64::from(end.checked_sub(start).ok_or_else(damage)?);
            let at = part.sets.at + u64::from(start);
            let bytes = self.part(super::head::Part { at, length, sum })?;
            let lines = lines::bitmap(&bytes).ok_or_else(damage)?;
            known.insert(number, lines.clone());
            Ok(lines)
        };
        let mut frozen = Frozen::default();
        for test in numbers {
            if let Some(any) = table.of_test(test) {
                let any = set(any)?;
                let all = table.agreed_of(test).map_or_else(|| Ok(any.clone()), &mut set)?;
                frozen.tests.push((test, any, all));
            }
        }
        Ok(frozen)
    }
}

/// The lines that live tests still run, and those that frozen ones do.
fn surface(counts: &Counts, frozen: &Frozen, ids: &BTreeMap<u32, String>) -> FileSurface {
    let mut left: BTreeMap<u32, u64> = BTreeMap::new();
    let mut by_line: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (test, any, all) in &frozen.tests {
        for line in any {
            by_line.entry(line).or_default().push(ids[test].clone());
        }
        all.iter().for_each(|line| *left.entry(line).or_default() += 1);
    }
    let mut live = RoaringBitmap::new();
    for (first, length, tests) in &counts.runs {
        live.insert_range(*first..first + length);
        for (line, frozen) in left.range(*first..first + length) {
            if frozen >= tests {
                live.remove(*line);
            }
        }
    }
    FileSurface { live, frozen: by_line, import: counts.import.clone(), executable: counts.executable.clone() }
}

fn read_counts(mut bytes: &[u8]) -> Option<Counts> {
    let from = &mut bytes;
    let mut runs = Vec::new();
    let mut end = 0_u32;
    for _ in 0..lines::take(from)? {
        let first = end.checked_add(lines::take_u32(from)?)?;
        let length = lines::take_u32(from)?;
        end = first.checked_add(length)?;
        runs.push((first, length, lines::take(from)?));
    }
    let set = |from: &mut &[u8]| {
        let there = lines::take(from)? == 1;
        let length = usize::try_from(lines::take(from)?).ok()?;
        let set = lines::bitmap(from.split_off(..length)?)?;
        Some(there.then_some(set))
    };
    let (import, executable) = (set(from)?.unwrap_or_default(), set(from)?);
    from.is_empty().then_some(Counts { runs, import, executable })
}

impl Table {
    fn of(words: Vec<u8>) -> Option<Self> {
        let length = |at: usize| Some(u32::from_le_bytes(*words.get(at * 4..)?.first_chunk()?) as usize);
        let (runs, agreed, sets) = (length(0)?, length(1)?, length(2)?);
        let wanted = runs
            .checked_mul(3)?
            .checked_add(agreed.checked_mul(2)?)?
            .checked_add(sets.checked_mul(2)?)?
            .checked_add(3)?;
        (words.len() == wanted.checked_mul(4)?).then_some(Self { words, runs, agreed, sets })
    }

    /// The word at a place within the tables' bounds.
    fn word(&self, at: usize) -> u32 {
        let bytes = &self.words[(at + 3) * 4..(at + 4) * 4];
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    }

    /// The last of `rows` rows of `width` words from `start` on whose first word is not above `wanted`.
    fn row(&self, start: usize, rows: usize, width: usize, wanted: u32) -> Option<usize> {
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.word(start + middle * width) <= wanted { low = middle + 1 } else { high = middle }
        }
        Some(start + low.checked_sub(1)? * width)
    }

    fn of_test(&self, test: u32) -> Option<u32> {
        let row = self.row(0, self.runs, 3, test)?;
        (test - self.word(row) < self.word(row + 1)).then(|| self.word(row + 2))
    }

    fn agreed_of(&self, test: u32) -> Option<u32> {
        let row = self.row(self.runs * 3, self.agreed, 2, test)?;
        (self.word(row) == test).then(|| self.word(row + 1))
    }

    /// Where a set begins and ends, and its sum.
    fn set(&self, number: u32) -> Option<(u32, u32, u32)> {
        let (at, ends) = (number as usize, self.runs * 3 + self.agreed * 2);
        if at >= self.sets {
            return None;
        }
        let start = at.checked_sub(1).map_or(0, |before| self.word(ends + before));
        Some((start, self.word(ends + at), self.word(ends + self.sets + at)))
    }
}
