//! A lock's bytes -> the files that it lists.

use super::line::read_line;
use crate::change::{BytePath, Sha256};
use crate::classes::bad_path;
use crate::evidence::json::{self, Json};

/// The largest lock that is read, in bytes: room for 300,000 files.
pub const LARGEST_LOCK: u64 = 64 << 20;

/// What a lock lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// How it is spelled.
    pub spelling: Spelling,
    /// Its files, sorted by path; no path stands twice.
    pub files: Vec<Locked>,
}

/// A file that a lock lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// From the root of the repository.
    pub path: BytePath,
    /// What its bytes must hash to; `None` in a list, which asks only that the file is there.
    pub digest: Option<Sha256>,
}

impl Lock {
    /// What it says of this path.
    pub fn at(&self, path: &BytePath) -> Option<&Locked> {
        self.files.binary_search_by(|locked| locked.path.cmp(path)).ok().map(|at| &self.files[at])
    }
}

/// How a lock is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The text of `sha256sum`.
    Sha256sum,
    /// A JSON object: path to digest.
    Object,
    /// A JSON list `{"paths": [...]}`: weaker, since it says nothing about bytes.
    List,
}

/// What is wrong with a lock: place and reason in one line, for whoever keeps it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// A line of `sha256sum` text.
    #[error("line {line} {why}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A path of a JSON spelling.
    #[error("the path `{path}` {why}")]
    Path {
        /// The path, at most 200 characters of it.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The document as a whole.
    #[error("{0}")]
    Document(String),
}

/// Reads a lock in any of its spellings. The first fault is the error: a lock is right as a whole, or not at all.
///
/// Comments (`#`) and empty lines of `sha256sum` text are passed over and lines may end with CR LF, as `sha256sum -c` reads them;
/// a `./` before a path says nothing and is dropped.
pub fn parse(bytes: &[u8]) -> Result<Lock, LockError> {
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{' | b'[') => json_lock(bytes),
        _ if bytes.starts_with(b"\xef\xbb\xbf") || bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") => {
            Err(LockError::Document("it begins with a byte order mark: save it without one".to_owned()))
        }
        _ => text_lock(bytes),
    }
}

fn text_lock(bytes: &[u8]) -> Result<Lock, LockError> {
    let mut files: Vec<(usize, Locked)> = Vec::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let fault = |why: String| LockError::Line { line: at + 1, why };
        let (name, digest) = read_line(line).map_err(|why| fault(why.to_owned()))?;
        let path = path(name).map_err(|(path, why)| fault(format!("names `{path}`, which {why}")))?;
        files.push((at + 1, Locked { path, digest: Some(digest) }));
    }
    // Stable, so that of two equal paths the later line comes second.
    files.sort_by(|(_, a), (_, b)| a.path.cmp(&b.path));
    if let Some(pair) = files.windows(2).find(|pair| pair[0].1.path == pair[1].1.path) {
        let why = format!("lists `{}` a second time, after line {}", shown(&pair[1].1.path), pair[0].0);
        return Err(LockError::Line { line: pair[1].0, why });
    }
    Ok(Lock { spelling: Spelling::Sha256sum, files: files.into_iter().map(|(_, locked)| locked).collect() })
}

fn json_lock(bytes: &[u8]) -> Result<Lock, LockError> {
    let Json::Object(entries) = json::read(bytes).map_err(LockError::Document)? else {
        let why = "a lock in JSON is an object of paths and digests, or {\"paths\": [...]}";
        return Err(LockError::Document(why.to_owned()));
    };
    match entries.as_slice() {
        [(key, Json::List(paths))] if key == "paths" => list_lock(paths),
        _ => object_lock(entries),
    }
}

fn object_lock(entries: Vec<(String, Json)>) -> Result<Lock, LockError> {
    let mut files = Vec::with_capacity(entries.len());
    for (name, value) in entries {
        let fault = |why: String| LockError::Path { path: cut(&name), why };
        let digest = match &value {
            Json::Text(text) => {
                text.parse().map_err(|_| fault("does not have a sha256 of 64 hexadecimal digits".to_owned()))?
            }
            other => return Err(fault(format!("has {} where its sha256 belongs", other.kind()))),
        };
        let path = path(name.clone().into_bytes()).map_err(|(_, why)| fault(why))?;
        files.push(Locked { path, digest: Some(digest) });
    }
    sorted(Spelling::Object, files)
}

fn list_lock(paths: &[Json]) -> Result<Lock, LockError> {
    let mut files = Vec::with_capacity(paths.len());
    for (at, value) in paths.iter().enumerate() {
        let Json::Text(name) = value else {
            let why = format!("item {} of `paths` is {}, and a path is wanted", at + 1, value.kind());
            return Err(LockError::Document(why));
        };
        let path = path(name.clone().into_bytes()).map_err(|(path, why)| LockError::Path { path, why })?;
        files.push(Locked { path, digest: None });
    }
    sorted(Spelling::List, files)
}

fn sorted(spelling: Spelling, mut files: Vec<Locked>) -> Result<Lock, LockError> {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    match files.windows(2).find(|pair| pair[0].path == pair[1].path) {
        Some(pair) => Err(LockError::Path { path: shown(&pair[0].path), why: "is listed twice".to_owned() }),
        None => Ok(Lock { spelling, files }),
    }
}

/// A path that stays inside the tree; else how to show it, and why not.
fn path(name: Vec<u8>) -> Result<BytePath, (String, String)> {
    let name = match name.strip_prefix(b"./") {
        Some(rest) => rest.to_vec(),
        None => name,
    };
    let path = BytePath::new(name);
    match bad_path(&path) {
        Some(why) => Err((shown(&path), format!("{why}: paths are counted from the root of the repository"))),
        None => Ok(path),
    }
}

fn shown(path: &BytePath) -> String {
    cut(&path.to_string())
}

fn cut(text: &str) -> String {
    text.chars().take(200).collect()
}
