//! From files and folders to one map.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::coarse::Coarse;
use super::contexts::Contexts;
use super::per_test::IMPORT;
use super::sniff::{Format, sniff};
use super::{coverage_json, coverage_sqlite, go, istanbul, lcov, per_test, phpunit, stryker, tarpaulin, testwise};
use crate::maps::unpack::{classify, unpacked};
use crate::maps::{About, Grain, Limits, Map, MapError, json, paths};

/// What to convert, and how its names become those of the tree.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Files and folders; several are taken as one run's output.
    pub inputs: Vec<PathBuf>,
    /// What the tool's paths begin with: the folder in which the tree lay, or the module of Go. The first that fits.
    pub roots: Vec<String>,
    /// Folders of sources that paths of packages lie in, such as `src/main/java`; the first in which a file exists.
    pub sources: Vec<String>,
    /// The working copy that the map is held against: its files must be there and be long enough.
    pub tree: Option<PathBuf>,
    /// The commit on which the tests ran.
    pub base_sha: Option<String>,
    /// How large it may be.
    pub limits: Limits,
}

/// A map, and what was left out of it.
#[derive(Debug)]
pub struct Converted {
    /// The map.
    pub map: Map,
    /// Paths outside the tree, such as those of libraries, in order.
    pub outside: Vec<String>,
    /// Paths of the map that the working copy does not have, in order.
    pub absent: Vec<String>,
}

/// What converters put their findings in.
pub(super) struct Draft<'a> {
    pub(super) map: Map,
    pub(super) asked: &'a Asked,
    outside: BTreeSet<String>,
}

impl Draft<'_> {
    /// The place of a tool's path; `None` for one outside the tree.
    pub(super) fn file(&mut self, path: &str) -> Result<Option<usize>, String> {
        let plain = paths::below(None, path);
        let mut cut = self.asked.roots.iter().map(|root| paths::below(Some(root), path));
        let below = cut.find(|below| *below != plain && paths::in_tree(below).is_ok()).unwrap_or(plain);
        if paths::in_tree(&below).is_err() {
            self.outside.insert(path.to_owned());
            return Ok(None);
        }
        self.map.file(&below).map(Some)
    }

    /// The place of a path that begins at a folder of sources.
    pub(super) fn source(&mut self, path: &str) -> Result<Option<usize>, String> {
        let joined = |folder: &String| format!("{}/{path}", folder.trim_end_matches('/'));
        let found = match self.asked.sources.as_slice() {
            [] => path.to_owned(),
            [only] => joined(only),
            several => {
                let there = several
                    .iter()
                    .map(joined)
                    .find(|path| self.asked.tree.as_deref().unwrap_or(Path::new(".")).join(path).exists());
                let Some(there) = there else {
                    self.outside.insert(path.to_owned());
                    return Ok(None);
                };
                there
            }
        };
        self.file(&found)
    }

    /// Lines that a test ran; what is outside the tree is left out.
    pub(super) fn ran(&mut self, test: &str, path: &str, lines: &mut Vec<u32>) -> Result<(), String> {
        let test = self.map.test(test)?;
        if let Some(file) = self.file(path)? {
            self.map.ran(test, file, lines);
        }
        Ok(())
    }

    /// Lines that ran at import.
    pub(super) fn import(&mut self, path: &str, lines: &[u32]) -> Result<(), String> {
        if let Some(file) = self.file(path)? {
            self.map.files[file].import.extend(lines);
        }
        Ok(())
    }

    /// Lines that ran while the file of one test was written; the file named [`IMPORT`] holds what ran before the first test.
    pub(super) fn ran_in_file_of(&mut self, test: &str, path: &str, lines: &mut Vec<u32>) -> Result<(), String> {
        if test == IMPORT { self.import(path, lines) } else { self.ran(test, path, lines) }
    }

    /// Lines that can run.
    pub(super) fn executable(&mut self, path: &str, lines: &[u32]) -> Result<(), String> {
        if let Some(file) = self.file(path)? {
            self.map.files[file].executable.get_or_insert_default().extend(lines);
        }
        Ok(())
    }

    /// A line number within its bounds.
    pub(super) fn line(&self, line: u64) -> Result<u32, String> {
        crate::maps::lines::checked(line, self.asked.limits.line)
    }

    pub(super) fn tool(&mut self, tool: impl Into<String>) {
        self.map.about.tool = Some(tool.into());
    }
}

/// A converter's complaint, as an error that names the file.
pub(super) fn wrong(origin: &str) -> impl Fn(String) -> MapError {
    move |why| MapError::broken(origin, why, "make it anew with the commands in docs/coverage.md")
}

/// Makes one map of what tools wrote.
pub fn convert(asked: &Asked) -> Result<Converted, MapError> {
    let about = About { base_sha: asked.base_sha.clone(), ..About::default() };
    let mut draft = Draft { map: Map::new(about, asked.limits), asked, outside: BTreeSet::new() };
    let mut contexts = Contexts::default();
    for input in &asked.inputs {
        one(&mut draft, &mut contexts, input)?;
    }
    contexts.settle(&mut draft)?;
    let origin = asked.inputs.first().map_or_else(String::new, |path| path.display().to_string());
    let outside: Vec<String> = draft.outside.into_iter().collect();
    if let (true, Some(first)) = (draft.map.files.is_empty(), outside.first()) {
        let why = format!("all of its files are outside the tree, \"{first}\" for one");
        return Err(MapError::broken(&origin, why, "name with --root the folder in which the tree lay"));
    }
    if let Grain::TooCoarse(why) = draft.map.grain() {
        let next = "run the tests with per-test recording as in docs/coverage.md";
        return Err(MapError::broken(&origin, why, next));
    }
    let absent = match &asked.tree {
        Some(tree) => against_tree(&draft.map, tree, &origin)?,
        None => Vec::new(),
    };
    Ok(Converted { map: draft.map, outside, absent })
}

/// Holds a map against the tree that it should be of; returns the paths that are not there. A map of which no file is there has paths
/// that begin elsewhere, and one with lines behind a file's end is of another commit: both would hide what frozen tests watch.
fn against_tree(map: &Map, tree: &Path, origin: &str) -> Result<Vec<String>, MapError> {
    let mut absent = Vec::new();
    for file in &map.files {
        let Ok(bytes) = std::fs::read(tree.join(&file.path)) else {
            absent.push(file.path.clone());
            continue;
        };
        let ended = bytes.is_empty() || bytes.ends_with(b"\n");
        let parts = bytes.split(|byte| *byte == b'\n').count() as u64;
        // Interpreters report line 1 of an empty module.
        let lines = (parts - u64::from(ended)).max(1);
        let last = file.last_line();
        if u64::from(last) > lines {
            let why = format!("line {last} of \"{}\" is beyond its end, it has {lines}", file.path);
            return Err(MapError::broken(origin, why, "convert in the working copy on which the tests ran"));
        }
    }
    absent.sort();
    match absent.first() {
        Some(first) if absent.len() == map.files.len() => {
            let why = format!("none of its files is in {}, \"{first}\" for one", tree.display());
            let next = "name with --root what its paths begin with, with --source the folder of sources, or with --tree the working copy";
            Err(MapError::broken(origin, why, next))
        }
        _ => Ok(absent),
    }
}

fn one(draft: &mut Draft<'_>, contexts: &mut Contexts, input: &Path) -> Result<(), MapError> {
    let origin = input.display().to_string();
    if input.is_dir() {
        if input.join("index.xml").is_file() {
            return phpunit::convert(draft, input);
        }
        for (id, path) in per_test::files(input)? {
            file(draft, contexts, &path, &path.display().to_string(), Some(&id))?;
        }
        return Ok(());
    }
    file(draft, contexts, input, &origin, None)
}

/// One file; `test` is the test that a folder's file belongs to.
fn file(
    draft: &mut Draft<'_>,
    contexts: &mut Contexts,
    path: &Path,
    origin: &str,
    test: Option<&str>,
) -> Result<(), MapError> {
    let limits = draft.asked.limits;
    let sniffed = |plain: &mut dyn BufRead| sniff(plain).map_err(|source| classify(origin, &limits, source));
    let (format, _) = unpacked(origin, open(origin, path)?, &limits, sniffed)?;
    let of_test = || test.map_or_else(|| per_test::id_of_file(path), str::to_owned);
    let read = |read: &mut dyn FnMut(&mut dyn BufRead) -> Result<(), MapError>| {
        unpacked(origin, open(origin, path)?, &limits, |plain| read(plain)).map(drop)
    };
    match format {
        Format::Map => read(&mut |plain| {
            let map = json::parse(origin, plain, limits)?;
            take_over(draft, &map, origin)
        }),
        Format::CoverageSqlite => coverage_sqlite::convert(draft, contexts, path, origin),
        Format::CoverageJson => read(&mut |plain| coverage_json::convert(draft, contexts, plain, origin)),
        Format::Lcov => read(&mut |plain| lcov::convert(draft, plain, origin)),
        Format::Testwise => read(&mut |plain| testwise::convert(draft, plain, origin)),
        Format::Tarpaulin => read(&mut |plain| tarpaulin::convert(draft, plain, origin, &of_test())),
        Format::Go => read(&mut |plain| go::convert(draft, plain, origin, &of_test())),
        Format::Stryker => read(&mut |plain| stryker::convert(draft, plain, origin)),
        Format::Istanbul => read(&mut |plain| istanbul::convert(draft, plain, origin, &of_test())),
        Format::Coarse(coarse) => Err(coarse.error(origin)),
        Format::Unknown => Err(MapError::broken(
            origin,
            "no known tool writes this",
            "docs/coverage.md lists what can be converted; a map of `{id: {file: [lines]}}` can be written by hand",
        )),
    }
}

fn open(origin: &str, path: &Path) -> Result<File, MapError> {
    File::open(path).map_err(|source| MapError::Read { origin: origin.to_owned(), source })
}

/// Lays a map into the draft.
fn take_over(draft: &mut Draft<'_>, map: &Map, origin: &str) -> Result<(), MapError> {
    let about = &mut draft.map.about;
    about.partial |= map.about.partial;
    about.tool = about.tool.take().or_else(|| map.about.tool.clone());
    if let (Some(found), Some(wanted)) = (&map.about.base_sha, &about.base_sha)
        && found != wanted
    {
        return Err(MapError::OtherCommit { origin: origin.to_owned(), found: found.clone(), wanted: wanted.clone() });
    }
    about.base_sha = about.base_sha.take().or_else(|| map.about.base_sha.clone());
    for id in &map.tests {
        draft.map.test(id).map_err(wrong(origin))?;
    }
    for file in &map.files {
        let Some(at) = draft.file(&file.path).map_err(wrong(origin))? else { continue };
        for (test, pattern) in &file.cells {
            let test = draft.map.test(&map.tests[*test as usize]).map_err(wrong(origin))?;
            let lines = crate::maps::lines::bitmap(file.pattern(*pattern)).expect("patterns were encoded here");
            draft.map.ran(test, at, &mut lines.iter().collect());
        }
        draft.map.files[at].import |= &file.import;
        if let Some(executable) = &file.executable {
            *draft.map.files[at].executable.get_or_insert_default() |= executable;
        }
    }
    Ok(())
}

impl Coarse {
    pub(super) fn refused<T>(self, origin: &str) -> Result<T, MapError> {
        Err(self.error(origin))
    }
}
