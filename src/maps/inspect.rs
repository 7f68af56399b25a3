//! What is in a map, in numbers.

use roaring::RoaringBitmap;

use super::{Grain, Index, MapError};

/// The numbers of a map, or of one file of it. Lines that run at import are counted apart and are nobody's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Lines that a test runs.
    pub covered: u64,
    /// Lines that exactly one test runs.
    pub one_observer: u64,
    /// Lines that run at import.
    pub import: u64,
    /// Lines that can run, where the map says.
    pub executable: Option<u64>,
    /// Lines that can run, and that neither a test nor an import runs, where the map says.
    pub unobserved: Option<u64>,
}

/// What a map holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Tests, collected or run.
    pub tests: u32,
    /// Whether it tells tests and lines apart.
    pub grain: Grain,
    /// All files together.
    pub all: Numbers,
    /// Each file, in order.
    pub files: Vec<(String, Numbers)>,
    /// Tests about which united maps disagree.
    pub jitter: Vec<String>,
}

/// Counts what is in a map.
pub fn inspect(index: &Index) -> Result<Inspection, MapError> {
    let mut files = Vec::new();
    let mut all = Numbers::default();
    for entry in index.counts_of() {
        let (path, counts) = entry?;
        let (mut covered, mut one) = (RoaringBitmap::new(), RoaringBitmap::new());
        for (first, length, tests) in &counts.runs {
            covered.insert_range(*first..first + length);
            if *tests == 1 {
                one.insert_range(*first..first + length);
            }
        }
        let seen = &covered | &counts.import;
        let executable = counts.executable.as_ref();
        let numbers = Numbers {
            covered: covered.len(),
            one_observer: (one - &counts.import).len(),
            import: counts.import.len(),
            executable: executable.map(RoaringBitmap::len),
            unobserved: executable.map(|lines| (lines - &seen).len()),
        };
        all.covered += numbers.covered;
        all.one_observer += numbers.one_observer;
        all.import += numbers.import;
        all.executable = sum(all.executable, numbers.executable);
        all.unobserved = sum(all.unobserved, numbers.unobserved);
        files.push((path.to_owned(), numbers));
    }
    let jitter = index.look(std::iter::empty(), &[])?.jitter;
    Ok(Inspection { tests: index.tests(), grain: index.grain().clone(), all, files, jitter })
}

fn sum(so_far: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (so_far, more) {
        (Some(so_far), Some(more)) => Some(so_far + more),
        (one, other) => one.or(other),
    }
}
