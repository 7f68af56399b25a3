//! Folders with one file per test: the file's place in the folder is the test's id.

use std::path::{Path, PathBuf};

use crate::maps::MapError;

/// The name of the file that holds what ran before the first test.
pub(super) const IMPORT: &str = "_import";

/// Every file below a folder with the id that its place says, in order: the path without its ending, `%XX` read as a byte.
pub(super) fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, MapError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let read = |source| MapError::Read { origin: next.display().to_string(), source };
        for entry in std::fs::read_dir(&next).map_err(read)? {
            let entry = entry.map_err(read)?;
            let path = entry.path();
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let kind = entry.file_type().map_err(read)?;
            if kind.is_dir() && !hidden {
                folders.push(path);
            } else if kind.is_file() && !hidden {
                let within = path.strip_prefix(folder).unwrap_or(&path);
                found.push((id(within), path));
            }
        }
    }
    if found.is_empty() {
        let origin = folder.display().to_string();
        return Err(MapError::broken(&origin, "the folder holds no file", "write one file per test into it"));
    }
    found.sort();
    Ok(found)
}

/// The id of a file that stands alone.
pub(super) fn id_of_file(path: &Path) -> String {
    id(Path::new(path.file_name().unwrap_or(path.as_os_str())))
}

fn id(path: &Path) -> String {
    let text = path.to_string_lossy();
    let endings = [".gz", ".zst", ".json", ".out", ".cov", ".coverprofile", ".txt"];
    let mut stem: &str = &text;
    while let Some(shorter) = endings.iter().find_map(|ending| stem.strip_suffix(ending)) {
        stem = shorter;
    }
    decoded(stem)
}

/// `%2F` as `/`; a `%` that no two hexadecimal digits follow stands for itself.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.as_bytes();
    while let Some((first, rest)) = left.split_first() {
        let byte = rest.get(..2).filter(|_| *first == b'%').and_then(|two| hex::decode(two).ok());
        if let Some(byte) = byte {
            bytes.extend(byte);
            left = &rest[2..];
        } else {
            bytes.push(*first);
            left = rest;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_file_is_its_tests_id() {
        for (path, wanted) in [
            ("csvx.TestRead/Simple.out", "csvx.TestRead/Simple"),
            ("strsim::tests::jaro.json.gz", "strsim::tests::jaro"),
            ("test%2Fparse.js::a 100% b.json", "test/parse.js::a 100% b"),
            ("TestRead/v1.2", "TestRead/v1.2"),
        ] {
            assert_eq!(id(Path::new(path)), wanted);
        }
    }
}
