//! Files that are written whole or not at all.

use std::io::{self, Write as _};
use std::path::Path;

/// Puts the parts, one after the other, in the place of what was there, and makes the folder where it is missing.
pub(super) fn write(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotADirectory)?;
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    for part in parts {
        file.write_all(part)?;
    }
    file.persist(path)?;
    Ok(())
}
