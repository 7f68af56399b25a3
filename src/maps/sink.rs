//! What a map is read into.

use super::map::TestNo;
use super::nodeid::split_phase;
use super::{About, Limits, Map};

/// Takes what a map lists, in the order of the document. Errors are sentences without a place; the reader adds it.
pub(super) trait Sink {
    fn limits(&self) -> &Limits;

    fn about(&mut self) -> &mut About;

    /// A test that was collected.
    fn collected(&mut self, id: &str) -> Result<(), String>;

    /// A test whose lines follow; one that stands twice is an error, but for its phases.
    fn begin(&mut self, id: &str) -> Result<TestNo, String>;

    /// The place of a file.
    fn file(&mut self, path: &str) -> Result<usize, String>;

    /// Lines that a test ran; a file that stands twice for one test is an error.
    fn listed(&mut self, test: TestNo, file: usize, lines: &mut Vec<u32>) -> Result<(), String>;

    /// Lines that ran at import.
    fn import(&mut self, file: usize, lines: &[u32]);

    /// Lines that can run.
    fn executable(&mut self, file: usize, lines: &[u32]);
}

impl Sink for Map {
    fn limits(&self) -> &Limits {
        Self::limits(self)
    }

    fn about(&mut self) -> &mut About {
        &mut self.about
    }

    fn collected(&mut self, id: &str) -> Result<(), String> {
        self.test(split_phase(id).0).map(drop)
    }

    fn begin(&mut self, id: &str) -> Result<TestNo, String> {
        Self::begin(self, id)
    }

    fn file(&mut self, path: &str) -> Result<usize, String> {
        Self::file(self, path)
    }

    fn listed(&mut self, test: TestNo, file: usize, lines: &mut Vec<u32>) -> Result<(), String> {
        Self::listed(self, test, file, lines)
    }

    fn import(&mut self, file: usize, lines: &[u32]) {
        self.files[file].import.extend(lines);
    }

    fn executable(&mut self, file: usize, lines: &[u32]) {
        self.files[file].executable.get_or_insert_default().extend(lines);
    }
}
