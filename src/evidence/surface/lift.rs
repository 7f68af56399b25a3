//! Which freezes to lift so that the change has live observers again.

use std::collections::{BTreeMap, BTreeSet};

use super::subtract::Subtraction;
use crate::maps::takes_out;
use crate::policy::Reach;

/// The fewest entries, as far as a greedy choice finds them, without which every overlapping line has a live observer.
pub(super) fn to_lift<'e>(subtraction: &Subtraction, entries: &'e [String], reach: Reach) -> Vec<&'e str> {
    let lines = subtraction.files.iter().flat_map(|file| file.overlap.iter());
    let mut open: Vec<BTreeSet<&str>> = Vec::new();
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        let of_line = line.frozen_tests.iter().flat_map(|test| {
            known
                .entry(test.as_str())
                .or_insert_with(|| {
                    entries.iter().map(String::as_str).filter(|entry| takes_out(entry, test, reach)).collect()
                })
                .clone()
        });
        let of_line: BTreeSet<&str> = of_line.collect();
        if !of_line.is_empty() && !open.contains(&of_line) {
            open.push(of_line);
        }
    }
    let mut chosen = BTreeSet::new();
    while !open.is_empty() {
        let count = |entry: &&str| open.iter().filter(|line| line.contains(entry)).count();
        let best = open.iter().flatten().copied().max_by_key(|entry| (count(entry), std::cmp::Reverse(*entry)));
        let Some(best) = best else { break };
        open.retain(|line| !line.contains(best));
        chosen.insert(best);
    }
    entries.iter().map(String::as_str).filter(|entry| chosen.contains(entry)).collect()
}
