//! What a coverage map says of the files of one change, for one list of frozen tests.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

/// What one map says of the files that were asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// The files that the map knows, by their path on the map's side. A file that is absent was run by no test and at no import.
    pub files: BTreeMap<String, FileSurface>,
    /// Frozen node ids, as they were asked for, that were neither collected nor run when the map was made.
    pub unknown: Vec<String>,
    /// Tests about which the maps of one commit disagree.
    pub jitter: Vec<String>,
    /// Whether the tool says that its map is incomplete.
    pub partial: bool,
}

/// One file's lines, numbered from 1 on the map's side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileSurface {
    /// Lines that at least one live test runs; where maps of one commit disagree about a test, only what all of them say.
    pub live: RoaringBitmap,
    /// Lines that frozen tests run, each with their ids in order; where maps of one commit disagree, what any of them says.
    pub frozen: BTreeMap<u32, Vec<String>>,
    /// Lines that run when the file is imported. They belong to no test.
    pub import: RoaringBitmap,
    /// Lines that can run at all; `None` where the map does not say.
    pub executable: Option<RoaringBitmap>,
}
