//! The part of an index that is read whole: what the map says of itself, and where its files and ids are.

use crate::change::Sha256;
use crate::maps::lines::{put, take, take_u32};
use crate::maps::{About, Grain};

/// The first and the last bytes of an index, with the number of its layout.
pub(super) const MAGIC: [u8; 8] = *b"eg-map\0\x02";

/// How many ids stand in a group.
pub(super) const GROUP: usize = 64;

/// What tells a stretch from one that was damaged on its disk: CRC-32. It is no proof against anybody who writes there.
pub(super) fn sum(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

/// A stretch of the index's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) at: u64,
    pub(super) length: u64,
    /// Of the bytes.
    pub(super) sum: u32,
}

/// Where a file's share is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePart {
    pub(super) path: String,
    /// How many tests run each line, import lines, executable lines.
    pub(super) counts: Part,
    /// Which test runs which set, where the sets end, and the sum of each.
    pub(super) tests: Part,
    /// The sets; each has a sum of its own beside its end.
    pub(super) sets: Part,
}

/// The head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) about: About,
    pub(super) grain: Grain,
    pub(super) digest: Sha256,
    pub(super) tests: u32,
    pub(super) jitter: Vec<u32>,
    /// The first id of each group, and the group's place.
    pub(super) groups: Vec<(String, Part)>,
    /// In order of their paths.
    pub(super) files: Vec<FilePart>,
}

const NO_TESTS: &str = "it names no test";
const NO_LINES: &str = "no test of it has a line";

impl Head {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let out = &mut bytes;
        for text in [&self.about.base_sha, &self.about.tool, &self.about.root] {
            put_text(out, text.as_deref().unwrap_or_default());
        }
        put(out, u64::from(self.about.partial));
        put(
            out,
            match self.grain {
                Grain::TestsAndLines => 0,
                Grain::TooCoarse(NO_TESTS) => 1,
                Grain::TooCoarse(_) => 2,
            },
        );
        out.extend(self.digest.0);
        put(out, u64::from(self.tests));
        put(out, self.jitter.len() as u64);
        self.jitter.iter().for_each(|test| put(out, u64::from(*test)));
        put(out, self.groups.len() as u64);
        for (first, part) in &self.groups {
            put_text(out, first);
            put_part(out, *part);
        }
        put(out, self.files.len() as u64);
        for file in &self.files {
            put_text(out, &file.path);
            for part in [file.counts, file.tests, file.sets] {
                put_part(out, part);
            }
        }
        bytes
    }

    /// `None` where the bytes are no head.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let from = &mut bytes;
        let about = About {
            base_sha: Some(take_text(from)?).filter(|text| !text.is_empty()),
            tool: Some(take_text(from)?).filter(|text| !text.is_empty()),
            root: Some(take_text(from)?).filter(|text| !text.is_empty()),
            partial: take(from)? == 1,
        };
        let grain = match take(from)? {
            0 => Grain::TestsAndLines,
            1 => Grain::TooCoarse(NO_TESTS),
            2 => Grain::TooCoarse(NO_LINES),
            _ => return None,
        };
        let digest = Sha256(*from.split_off(..32)?.first_chunk()?);
        let tests = take_u32(from)?;
        let jitter = (0..take(from)?).map(|_| take_u32(from)).collect::<Option<_>>()?;
        let groups = (0..take(from)?).map(|_| Some((take_text(from)?, take_part(from)?))).collect::<Option<_>>()?;
        let file = |from: &mut &[u8]| {
            let path = take_text(from)?;
            Some(FilePart { path, counts: take_part(from)?, tests: take_part(from)?, sets: take_part(from)? })
        };
        let files = (0..take(from)?).map(|_| file(from)).collect::<Option<_>>()?;
        from.is_empty().then_some(Self { about, grain, digest, tests, jitter, groups, files })
    }
}

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

pub(super) fn take_text(bytes: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(take(bytes)?).ok()?;
    let text = bytes.split_off(..length)?;
    String::from_utf8(text.to_vec()).ok()
}

fn put_part(bytes: &mut Vec<u8>, part: Part) {
    put(bytes, part.at);
    put(bytes, part.length);
    put(bytes, u64::from(part.sum));
}

fn take_part(bytes: &mut &[u8]) -> Option<Part> {
    Some(Part { at: take(bytes)?, length: take(bytes)?, sum: take_u32(bytes)? })
}
