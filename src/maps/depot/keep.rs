//! A map that just came, kept as pending.

use std::fs::{self, File};
use std::io;
use std::sync::PoisonError;

use tempfile::NamedTempFile;

use super::files::{Depot, HALF, place, write_json};
use super::receipt::{Fate, Receipt};
use crate::delivery::{Kept, NotKept, Upload};
use crate::maps::unpack::{classify, unpacked};
use crate::maps::{Limits, MapError};

/// The most maps of one commit: no suite is cut into more shards.
const SHARDS: usize = 256;

/// The most pending maps of one repository.
const PENDING: usize = 2_000;

/// How much may come in.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The most bytes of one map when it is unpacked.
    pub unpacked: u64,
    /// The most bytes that all pending maps may take.
    pub pending: u64,
}

impl From<io::Error> for NotKept {
    fn from(error: io::Error) -> Self {
        Self::Unavailable(error.into())
    }
}

impl Depot {
    /// An empty file on the disk that maps are kept on. It is gone when it is dropped.
    pub fn scratch(&self) -> io::Result<NamedTempFile> {
        fs::create_dir_all(self.uploads())?;
        tempfile::Builder::new().prefix(HALF).tempfile_in(self.uploads())
    }

    /// Keeps a map as pending. It is unpacked once, into nothing, so that one that is damaged or far too large is refused while its
    /// sender is still there to hear it; what it says is the worker's to read.
    pub fn keep(&self, upload: &Upload, packed: NamedTempFile, room: &Room) -> Result<Kept, NotKept> {
        check_size(&packed, room.unpacked)?;
        // Nothing is held in memory that a panic could leave half done.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let receipt = Receipt::of(upload);
        let pending = self.pending(&upload.repository)?;
        let earlier = self.of_commit(&upload.repository, &upload.commit)?.map(|of| of.receipts).unwrap_or_default();
        let of_commit = || pending.iter().filter(|one| one.commit == upload.commit).chain(&earlier);
        // One that was refused may come again: its commit may have reached the branch meanwhile.
        let counts = |one: &&Receipt| !matches!(one.fate, Fate::Refused(_));
        if of_commit().filter(counts).any(|one| one.digest == receipt.digest) {
            return Ok(Kept::Duplicate);
        }
        let same_token = |one: &&Receipt| one.by.token.is_some() && one.by.token == receipt.by.token;
        if of_commit().filter(same_token).any(|one| one.digest != receipt.digest) {
            return Err(NotKept::TokenUsed);
        }
        if of_commit().count() >= SHARDS {
            return Err(NotKept::Full(format!("this commit has {SHARDS} maps, which is the most")));
        }
        let waiting: u64 = self.waiting()?.iter().map(|one| one.bytes).sum();
        if pending.len() >= PENDING || waiting.saturating_add(upload.bytes) > room.pending {
            let why =
                "the maps that no worker has looked at yet take all the room that they may have; is a worker running?";
            return Err(NotKept::Full(why.to_owned()));
        }
        let (bytes, written) = self.pending_paths(&receipt);
        place(packed, &bytes)?;
        write_json(&written, &receipt)?;
        Ok(Kept::Pending)
    }
}

/// Unpacks the map into nothing.
fn check_size(packed: &NamedTempFile, most: u64) -> Result<(), NotKept> {
    let limits = Limits { unpacked: most, ..Limits::default() };
    let origin = "the map";
    let file = File::open(packed.path())?;
    let poured = unpacked(origin, file, &limits, |plain| {
        io::copy(plain, &mut io::sink()).map_err(|error| classify(origin, &limits, error))
    });
    match poured {
        Ok(_) => Ok(()),
        Err(error @ MapError::TooLarge { .. }) => Err(NotKept::TooLarge(error.to_string())),
        Err(error @ (MapError::Broken { .. } | MapError::TooCoarse { .. } | MapError::OtherCommit { .. })) => {
            Err(NotKept::Damaged(error.to_string()))
        }
        Err(error @ (MapError::Read { .. } | MapError::Write { .. })) => Err(NotKept::Unavailable(error.into())),
    }
}
