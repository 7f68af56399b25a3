//! Names that no path of a repository may have (R56).

use std::fmt;

use crate::change::BytePath;

/// Why a path is refused whatever its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BadPath {
    /// No name at all.
    Empty,
    /// Starts with `/`.
    Absolute,
    /// Has an empty part: `a//b`, or a slash at the end.
    EmptyPart,
    /// Has a part `.` or `..`.
    Dots,
    /// Has a NUL.
    Nul,
    /// Has a part that some file system takes for `.git`.
    GitFolder,
}

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "has no name",
            Self::Absolute => "starts with a slash",
            Self::EmptyPart => "has an empty part",
            Self::Dots => "has a part `.` or `..`",
            Self::Nul => "has a NUL",
            Self::GitFolder => "has a part that some machines take for `.git`",
        })
    }
}

/// Whether a path is one that git itself would not check out, or not to where it says.
///
/// `.git` is meant as file systems read it: in any case, with dots and spaces behind it or a stream name (Windows), by its short
/// name, and with letters in between that show nothing (macOS).
pub fn bad_path(path: &BytePath) -> Option<BadPath> {
    let bytes = path.as_bytes();
    if bytes.is_empty() {
        return Some(BadPath::Empty);
    }
    if bytes.starts_with(b"/") {
        return Some(BadPath::Absolute);
    }
    if bytes.contains(&0) {
        return Some(BadPath::Nul);
    }
    path.components().find_map(|part| match part {
        b"" => Some(BadPath::EmptyPart),
        b"." | b".." => Some(BadPath::Dots),
        // A backslash parts names on Windows only, where what stands behind it is a part like any other.
        part if part.split(|byte| *byte == b'\\').any(is_git_folder) => Some(BadPath::GitFolder),
        _ => None,
    })
}

fn is_git_folder(part: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(part) else {
        return is_git_on_windows(part);
    };
    let shown: String = text.chars().filter(|sign| !shows_nothing(*sign)).collect();
    is_git_on_windows(shown.as_bytes())
}

fn is_git_on_windows(part: &[u8]) -> bool {
    let name = part.split(|byte| *byte == b':').next().unwrap_or_default();
    let kept = name.iter().rposition(|byte| !matches!(byte, b' ' | b'.')).map_or(0, |last| last + 1);
    let name = &name[..kept];
    name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1")
}

/// The letters that HFS+ leaves out when it compares names.
fn shows_nothing(sign: char) -> bool {
    matches!(sign, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_name_is_told_from_its_innocent_neighbour() {
        for (path, wanted) in [
            (&b""[..], Some(BadPath::Empty)),
            (b"/etc/passwd", Some(BadPath::Absolute)),
            (b"./a", Some(BadPath::Dots)),
            (b"a/../b", Some(BadPath::Dots)),
            (b"a//b", Some(BadPath::EmptyPart)),
            (b"a/", Some(BadPath::EmptyPart)),
            (b"a\0b", Some(BadPath::Nul)),
            (b".git/config", Some(BadPath::GitFolder)),
            (b"a/.GiT", Some(BadPath::GitFolder)),
            (b"a/.git. /x", Some(BadPath::GitFolder)),
            (b"a/.git::$INDEX_ALLOCATION/x", Some(BadPath::GitFolder)),
            (b"GIT~1/config", Some(BadPath::GitFolder)),
            ("a/.g\u{200c}it/config".as_bytes(), Some(BadPath::GitFolder)),
            (b"a\\.git\\config", Some(BadPath::GitFolder)),
            (b".gitignore", None),
            (b".github/x", None),
            (b"a/...", None),
            (b"git/x", None),
            (b"a b/\xff", None),
        ] {
            assert_eq!(bad_path(&BytePath::new(path)), wanted, "{:?}", BytePath::new(path));
        }
    }
}
