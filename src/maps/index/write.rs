//! Making an index of a map.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::head::{FilePart, GROUP, Head, MAGIC, Part, put_text, sum};
use crate::change::Sha256;
use crate::maps::lines;
use crate::maps::map::{File, Map, TestNo};

/// Writes bytes and knows where it is.
struct Placed<W> {
    out: W,
    at: u64,
}

impl<W: Write> Placed<W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<Part> {
        self.out.write_all(bytes)?;
        let part = Part { at: self.at, length: bytes.len() as u64, sum: sum(bytes) };
        self.at += part.length;
        Ok(part)
    }
}

/// Writes the index of a map. The map is used up.
pub(super) fn write(mut map: Map, out: impl Write) -> io::Result<()> {
    let grain = map.grain();
    let mut order: Vec<TestNo> = (0..).zip(&map.tests).map(|(number, _)| number).collect();
    order.sort_unstable_by(|a, b| map.tests[*a as usize].cmp(&map.tests[*b as usize]));
    let mut rank = vec![0; order.len()];
    for (place, test) in (0..).zip(&order) {
        rank[*test as usize] = place;
    }
    let mut out = Placed { out, at: 0 };
    out.put(&MAGIC)?;
    let mut files = Vec::new();
    let mut all = std::mem::take(&mut map.files);
    all.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    for file in all {
        files.push(put_file(file, &rank, &mut out)?);
    }
    let mut groups = Vec::new();
    for group in order.chunks(GROUP) {
        let mut bytes = Vec::new();
        for test in group {
            put_text(&mut bytes, &map.tests[*test as usize]);
        }
        groups.push((map.tests[group[0] as usize].clone(), out.put(&bytes)?));
    }
    let mut jitter: Vec<TestNo> = map.jitter.iter().map(|test| rank[*test as usize]).collect();
    jitter.sort_unstable();
    let tests = u32::try_from(order.len()).map_err(io::Error::other)?;
    let digest = map.digest.unwrap_or_else(|| Sha256::of(&[]));
    let head = out.put(&Head { about: map.about, grain, digest, tests, jitter, groups, files }.to_bytes())?;
    out.put(&head.at.to_le_bytes())?;
    out.put(&head.sum.to_le_bytes())?;
    out.put(&MAGIC)?;
    out.out.flush()
}

fn put_file<W: Write>(mut file: File, rank: &[TestNo], out: &mut Placed<W>) -> io::Result<FilePart> {
    let cells = file.by_rank(rank);
    let agreed: BTreeMap<TestNo, u32> =
        file.agreed.iter().map(|(test, pattern)| (rank[*test as usize], *pattern)).collect();
    let counts = out.put(&counts(&file, &cells, &agreed))?;

    // Sets are numbered anew: merging phases leaves some unused.
    let mut used = Used::default();
    let mut runs: Vec<[u32; 3]> = Vec::new();
    for (test, pattern) in &cells {
        let set = used.number(&file, *pattern)?;
        match runs.last_mut() {
            Some([first, length, last]) if *last == set && *first + *length == *test => *length += 1,
            _ => runs.push([*test, 1, set]),
        }
    }
    let mut rows: Vec<[u32; 2]> = Vec::new();
    for (test, pattern) in agreed {
        rows.push([test, used.number(&file, pattern)?]);
    }
    let mut table = Vec::new();
    for length in [runs.len(), rows.len(), used.ends.len()] {
        table.extend(word(length)?.to_le_bytes());
    }
    let words = runs.iter().flatten().chain(rows.iter().flatten()).chain(&used.ends).chain(&used.sums);
    for number in words {
        table.extend(number.to_le_bytes());
    }
    Ok(FilePart { tests: out.put(&table)?, sets: out.put(&used.sets)?, counts, path: file.path })
}

/// The sets that are in use, one behind the other, where each ends, and the sum of each.
#[derive(Default)]
struct Used {
    numbers: BTreeMap<u32, u32>,
    sets: Vec<u8>,
    ends: Vec<u32>,
    sums: Vec<u32>,
}

impl Used {
    /// The new number of a set.
    fn number(&mut self, file: &File, pattern: u32) -> io::Result<u32> {
        if let Some(known) = self.numbers.get(&pattern) {
            return Ok(*known);
        }
        let number = word(self.ends.len())?;
        self.sets.extend(file.pattern(pattern));
        self.ends.push(word(self.sets.len())?);
        self.sums.push(sum(file.pattern(pattern)));
        self.numbers.insert(pattern, number);
        Ok(number)
    }
}

fn word(number: usize) -> io::Result<u32> {
    u32::try_from(number).map_err(|_| io::Error::other("the sets of lines of one file take more than 4 GiB"))
}

/// How many tests run each line, as runs of equal counts; then the import lines, and the executable ones where they are known.
fn counts(file: &File, cells: &[(TestNo, u32)], agreed: &BTreeMap<TestNo, u32>) -> Vec<u8> {
    let mut uses: BTreeMap<u32, i64> = BTreeMap::new();
    for (test, pattern) in cells {
        *uses.entry(*agreed.get(test).unwrap_or(pattern)).or_default() += 1;
    }
    let mut steps: BTreeMap<u32, i64> = BTreeMap::new();
    for (pattern, tests) in uses {
        for run in lines::decode(file.pattern(pattern)) {
            let (first, last) = run.expect("patterns were encoded here");
            *steps.entry(first).or_default() += tests;
            *steps.entry(last + 1).or_default() -= tests;
        }
    }
    let mut runs: Vec<(u32, u32, u64)> = Vec::new();
    let (mut from, mut count) = (0, 0_i64);
    for (line, step) in steps {
        if count > 0 && step != 0 {
            runs.push((from, line - from, count.unsigned_abs()));
        }
        if step != 0 {
            (from, count) = (line, count + step);
        }
    }
    let mut bytes = Vec::new();
    lines::put(&mut bytes, runs.len() as u64);
    let mut end = 0;
    for (first, length, count) in runs {
        for number in [u64::from(first - end), u64::from(length), count] {
            lines::put(&mut bytes, number);
        }
        end = first + length;
    }
    for set in [Some(&file.import), file.executable.as_ref()] {
        let mut encoded = Vec::new();
        lines::encode(set.into_iter().flatten(), &mut encoded);
        lines::put(&mut bytes, u64::from(set.is_some()));
        lines::put(&mut bytes, encoded.len() as u64);
        bytes.extend(encoded);
    }
    bytes
}
