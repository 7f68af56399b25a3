//! Bodies and records are kept compressed: a webhook of 24 kB takes 2 kB.

use std::cell::RefCell;
use std::io;

use zstd::bulk::Compressor;

/// Fast, and no larger than the next levels on JSON that repeats its own keys.
const LEVEL: i32 = 1;

thread_local! {
    /// Making a compressor costs more than compressing a webhook.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses; the length stands in the frame's header.
pub(super) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let mut compressor = match kept.take() {
            Some(compressor) => compressor,
            None => Compressor::new(LEVEL)?,
        };
        let packed = compressor.compress(bytes)?;
        *kept = Some(compressor);
        Ok(packed)
    })
}

/// Undoes [`pack`].
pub(super) fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    zstd::stream::decode_all(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        for bytes in [vec![], b"{}".to_vec(), vec![7; 100_000]] {
            assert_eq!(unpack(&pack(&bytes).expect("packs")).expect("unpacks"), bytes);
        }
    }

    #[test]
    fn a_damaged_body_is_an_error() {
        let mut packed = pack(b"{\"action\":\"opened\"}").expect("packs");
        packed.truncate(packed.len() - 1);
        unpack(&packed).expect_err("the end is missing");
    }
}
