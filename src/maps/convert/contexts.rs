//! Contexts of coverage.py (<https://coverage.readthedocs.io/en/latest/contexts.html>): which of them are tests.

use std::collections::{BTreeSet, HashMap};

use super::run::{Draft, wrong};
use crate::maps::MapError;
use crate::maps::nodeid::split_phase;

/// Lines by context, until all contexts are known: only then is it clear which prefix is a static context.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
    /// Context, path, lines.
    cells: Vec<(usize, String, Vec<u32>)>,
    origin: String,
}

impl Contexts {
    pub(super) fn add(&mut self, context: &str, origin: &str) -> usize {
        if let Some(&number) = self.numbers.get(context) {
            return number;
        }
        origin.clone_into(&mut self.origin);
        self.names.push(context.to_owned());
        self.numbers.insert(context.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    pub(super) fn ran(&mut self, context: usize, path: &str, lines: Vec<u32>) {
        self.cells.push((context, path.to_owned(), lines));
    }

    /// A context that stands alone, and stands before `|` in another one that is no phase of it, is a static context: what ran in it ran
    /// at import, and it is no part of a test's name.
    fn prefixes(&self) -> BTreeSet<&str> {
        let mut prefixes = BTreeSet::new();
        for name in &self.names {
            let (test, _) = split_phase(name);
            for (at, _) in test.match_indices('|') {
                let prefix = &test[..at];
                if self.numbers.contains_key(prefix) && !prefix.contains("::") {
                    prefixes.insert(prefix);
                    break;
                }
            }
        }
        prefixes
    }

    pub(super) fn settle(mut self, draft: &mut Draft<'_>) -> Result<(), MapError> {
        let cells = std::mem::take(&mut self.cells);
        let prefixes = self.prefixes();
        let names = self.names.iter().map(|name| {
            let parts = name.match_indices('|').map(|(at, _)| at);
            let mut cuts = parts.filter(|at| prefixes.contains(&name[..*at])).map(|at| &name[at + 1..]);
            let test = cuts.next().unwrap_or(if prefixes.contains(name.as_str()) { "" } else { name });
            split_phase(test).0
        });
        let tests: Vec<&str> = names.collect();
        for test in tests.iter().filter(|test| !test.is_empty()) {
            draft.map.test(test).map_err(wrong(&self.origin))?;
        }
        for (context, path, mut lines) in cells {
            let added = match tests[context] {
                "" => draft.import(&path, &lines),
                test => draft.ran(test, &path, &mut lines),
            };
            added.map_err(wrong(&self.origin))?;
        }
        Ok(())
    }
}
