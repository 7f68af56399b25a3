//! What a freeze costs: the lines and files that lose their only observer.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::{Index, MapError, Reach};

/// What freezes would take out of the surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Price {
    /// Each freeze by itself, in the order asked.
    pub each: Vec<Cost>,
    /// All of them together: lines that two of them watch are lost only here.
    pub together: Cost,
    /// Lines that a live test runs before them.
    pub before: u64,
    /// Lines that a live test runs after them.
    pub after: u64,
    /// Ids that no test of the map has: what they cost is not known.
    pub unknown: Vec<String>,
}

/// What one freeze, or several, would take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// The node id as it was asked; empty for several together.
    pub nodeid: String,
    /// How many tests of the map it freezes.
    pub tests: u64,
    /// Lines that lose their only observer, by file.
    pub lines: BTreeMap<String, RoaringBitmap>,
    /// Files that no live test runs any more.
    pub files: Vec<String>,
}

impl Cost {
    /// How many lines lose their only observer.
    pub fn line_count(&self) -> u64 {
        self.lines.values().map(RoaringBitmap::len).sum()
    }
}

impl Price {
    /// Which part of the covered lines stays observed, from 0 to 1; 1 where nothing was covered.
    #[expect(clippy::cast_precision_loss, reason = "no tree has more lines than a float can count")]
    pub fn share_left(&self) -> f64 {
        if self.before == 0 { 1.0 } else { self.after as f64 / self.before as f64 }
    }
}

/// Prices freezes on top of those that stand already. Lines that run at import belong to no test and are lost by none.
pub fn price(index: &Index, standing: &[String], asked: &[String], reach: Reach) -> Result<Price, MapError> {
    let (standing, _) = index.frozen(standing, reach)?;
    let mut price = Price::default();
    let mut groups = Vec::new();
    let mut all = RoaringBitmap::new();
    for nodeid in asked {
        let (tests, unknown) = index.frozen(std::slice::from_ref(nodeid), reach)?;
        price.unknown.extend(unknown);
        all |= &tests;
        price.each.push(Cost { nodeid: nodeid.clone(), tests: tests.len(), ..Cost::default() });
        groups.push(tests);
    }
    price.together.tests = all.len();
    let either = &standing | &all;
    for entry in index.counts_of() {
        let (path, counts) = entry?;
        let mut live: BTreeMap<u32, u64> = BTreeMap::new();
        for (first, length, tests) in &counts.runs {
            live.extend(
                (*first..first + length).filter(|line| !counts.import.contains(*line)).map(|line| (line, *tests)),
            );
        }
        let frozen = index.frozen_at(path, &either)?;
        for (_, _, lines) in frozen.tests.iter().filter(|(test, ..)| standing.contains(*test)) {
            take(&mut live, lines);
        }
        live.retain(|_, tests| *tests > 0);
        price.before += live.len() as u64;
        let lose = |cost: &mut Cost, tests: &RoaringBitmap| {
            let mut taken: BTreeMap<u32, u64> = BTreeMap::new();
            for (_, _, lines) in
                frozen.tests.iter().filter(|(test, ..)| tests.contains(*test) && !standing.contains(*test))
            {
                lines.iter().for_each(|line| *taken.entry(line).or_default() += 1);
            }
            let lost: RoaringBitmap =
                taken.iter().filter(|(line, tests)| live.get(line) == Some(tests)).map(|(line, _)| *line).collect();
            let lines = lost.len();
            if lines > 0 {
                if lines == live.len() as u64 {
                    cost.files.push(path.to_owned());
                }
                cost.lines.insert(path.to_owned(), lost);
            }
            live.len() as u64 - lines
        };
        price.after += lose(&mut price.together, &all);
        for (cost, tests) in price.each.iter_mut().zip(&groups) {
            lose(cost, tests);
        }
    }
    Ok(price)
}

fn take(live: &mut BTreeMap<u32, u64>, lines: &RoaringBitmap) {
    for line in lines {
        if let Some(tests) = live.get_mut(&line) {
            *tests = tests.saturating_sub(1);
        }
    }
}
