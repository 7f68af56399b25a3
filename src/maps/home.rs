//! Where the bytes of an index are: the one interface that a second home, such as an object store, has to fill.

use std::io;

/// Bytes that can be read in pieces. They do not change while they are read.
pub trait Home: Send + Sync {
    /// How many there are.
    fn length(&self) -> io::Result<u64>;

    /// The `length` bytes from `at` on; an error where the bytes end before.
    fn read(&self, at: u64, length: usize) -> io::Result<Vec<u8>>;
}

impl Home for std::fs::File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        if at.checked_add(length as u64).is_none_or(|end| self.length().is_ok_and(|all| end > all)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length];
        std::os::unix::fs::FileExt::read_exact_at(self, &mut bytes, at)?;
        Ok(bytes)
    }
}

impl Home for Vec<u8> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let start = usize::try_from(at).map_err(io::Error::other)?;
        let part = start.checked_add(length).and_then(|end| self.get(start..end));
        part.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
