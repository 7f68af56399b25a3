//! A map's bytes as they came, and as they are read: gzip, zstd or plain, told apart by their first bytes.

use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use sha2::{Digest as _, Sha256 as Hasher};

use super::{Limits, MapError};
use crate::change::Sha256;

const CHUNK: usize = 256 * 1024;

/// A stream that hashes what passes through it.
struct Hashed<R> {
    inner: R,
    hasher: Hasher,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.hasher.update(&into[..read]);
        Ok(read)
    }
}

/// A stream that fails where it grows too long.
struct Capped<R> {
    inner: R,
    left: u64,
}

/// The mark of a stream that is too long; only [`classify`] looks for it.
#[derive(Debug, thiserror::Error)]
#[error("it is too large")]
struct Overflow;

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| io::Error::other(Overflow))?;
        Ok(read)
    }
}

/// Hands the unpacked bytes to `read` and returns its answer with the sha256 of the bytes as they came. Bytes that `read` leaves
/// over are hashed too.
pub(super) fn unpacked<T>(
    origin: &str,
    packed: impl Read,
    limits: &Limits,
    read: impl FnOnce(&mut dyn BufRead) -> Result<T, MapError>,
) -> Result<(T, Sha256), MapError> {
    let hashed = Hashed { inner: packed, hasher: Hasher::new() };
    let mut packed = BufReader::with_capacity(CHUNK, hashed);
    let start = packed.fill_buf().map_err(|source| MapError::Read { origin: origin.to_owned(), source })?;
    let capped = |inner| BufReader::with_capacity(CHUNK, Capped { inner, left: limits.unpacked });
    let answer = match start {
        [0x1f, 0x8b, ..] => {
            let plain: Box<dyn Read + '_> = Box::new(MultiGzDecoder::new(&mut packed));
            read(&mut capped(plain))?
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let mut decoder = zstd::Decoder::with_buffer(&mut packed)
                .map_err(|source| MapError::Read { origin: origin.to_owned(), source })?;
            // A window of 128 MiB is what the program's own `--long` asks for; more is refused by the decoder.
            decoder.window_log_max(27).map_err(|source| MapError::Read { origin: origin.to_owned(), source })?;
            read(&mut capped(Box::new(decoder) as Box<dyn Read + '_>))?
        }
        _ => read(&mut capped(Box::new(&mut packed) as Box<dyn Read + '_>))?,
    };
    io::copy(&mut packed, &mut io::sink()).map_err(|source| MapError::Read { origin: origin.to_owned(), source })?;
    let digest = packed.into_inner().hasher.finalize();
    Ok((answer, Sha256(digest.into())))
}

/// What a failed read of unpacked bytes means.
pub(super) fn classify(origin: &str, limits: &Limits, source: io::Error) -> MapError {
    if source.get_ref().and_then(|inner| inner.downcast_ref::<Overflow>()).is_some() {
        return MapError::TooLarge {
            origin: origin.to_owned(),
            what: "too many bytes when unpacked",
            most: format!("{} MiB", limits.unpacked >> 20),
            next: "measure the product's own files only, or write the lines as ranges with `coverage convert`",
        };
    }
    match source.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::InvalidData
        | io::ErrorKind::Other => MapError::broken(
            origin,
            format!("it cannot be unpacked: {source}"),
            "the file is cut off or damaged: make it anew and upload it again",
        ),
        _ => MapError::Read { origin: origin.to_owned(), source },
    }
}
