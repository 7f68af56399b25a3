//! Many patterns at once: which of them is the first that matches a path.
//!
//! Nearly all patterns have one of few shapes (a name, an ending, a folder anywhere, a leading folder), and a table answers each
//! shape for all its patterns in one look. The rest is matched part by part. A general set of regular expressions gives the same
//! answers and takes a thousand times longer to build; it stays in use for patterns with `[`, `\` or braces in braces, which only
//! policies have.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::change::BytePath;

/// Globs, as `policy/` spells them out from patterns, each with the number of its pattern.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// `a/b`
    whole: Table,
    /// `**/name`
    names: Table,
    /// `**/folder/**`
    folders: Table,
    /// `a/b/**`, by their first part.
    below: HashMap<Vec<u8>, Vec<(Vec<u8>, usize)>>,
    /// `**/*end`, by their last byte.
    endings: HashMap<u8, Vec<(Vec<u8>, usize)>>,
    /// `**/start*`, by their first byte.
    beginnings: HashMap<u8, Vec<(Vec<u8>, usize)>>,
    /// `**/name` with more wildcards than that.
    wild_names: WildNames,
    /// Anything else that has a folder without a wildcard, by the longest such.
    through: HashMap<Vec<u8>, Vec<(Vec<Part>, usize)>>,
    /// Anything else.
    rest: Vec<(Vec<Part>, usize)>,
    /// What only regular expressions can say.
    others: Vec<(GlobSet, Vec<usize>)>,
}

/// The least number of each text.
type Table = HashMap<Vec<u8>, usize>;

/// One part of a pattern, between slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// `**`: any number of parts. At the end at least one.
    Any,
    /// No wildcard.
    Literal(Vec<u8>),
    /// With `*` or `?`.
    Wild(Vec<u8>),
}

impl Matcher {
    /// Takes globs that compile.
    pub(super) fn new(globs: impl IntoIterator<Item = (String, usize)>) -> Self {
        let mut matcher = Self::default();
        let mut others = Vec::new();
        let mut wild_names = Vec::new();
        for (glob, number) in globs {
            match plain(&glob) {
                Some(plain) => plain.iter().for_each(|glob| matcher.add(glob.as_bytes(), number, &mut wild_names)),
                None => others.push((glob, number)),
            }
        }
        matcher.wild_names = WildNames::new(wild_names);
        if !others.is_empty() {
            compile(&others, &mut matcher.others);
        }
        matcher
    }

    fn add(&mut self, glob: &[u8], number: usize, wild_names: &mut Vec<(Vec<u8>, usize)>) {
        let parts: Vec<Part> = glob.split(|byte| *byte == b'/').map(Part::of).collect();
        match parts.as_slice() {
            [Part::Any, Part::Literal(name)] => least(&mut self.names, name, number),
            [Part::Any, Part::Literal(folder), Part::Any] => least(&mut self.folders, folder, number),
            [Part::Any, Part::Wild(wild)] if is_ending(wild) => {
                self.endings.entry(wild[wild.len() - 1]).or_default().push((wild[1..].to_vec(), number));
            }
            [Part::Any, Part::Wild(wild)] if is_beginning(wild) => {
                self.beginnings.entry(wild[0]).or_default().push((wild[..wild.len() - 1].to_vec(), number));
            }
            [Part::Any, Part::Wild(wild)] => wild_names.push((wild.clone(), number)),
            [Part::Literal(first), .., Part::Any] if parts[..parts.len() - 1].iter().all(Part::is_literal) => {
                self.below.entry(first.clone()).or_default().push((glob[..glob.len() - 2].to_vec(), number));
            }
            _ if parts.iter().all(Part::is_literal) => least(&mut self.whole, glob, number),
            _ => match parts[..parts.len() - 1].iter().filter_map(Part::literal).max_by_key(|folder| folder.len()) {
                Some(folder) => self.through.entry(folder.to_vec()).or_default().push((parts, number)),
                None => self.rest.push((parts, number)),
            },
        }
    }

    /// The least number whose glob matches the path.
    pub(super) fn first(&self, path: &BytePath) -> Option<usize> {
        let bytes = path.as_bytes();
        let parts: Vec<&[u8]> = path.components().collect();
        let (name, folders) = parts.split_last()?;
        let mut best = usize::MAX;
        let mut take = |number: usize| best = best.min(number);
        self.whole.get(bytes).copied().into_iter().for_each(&mut take);
        self.names.get(*name).copied().into_iter().for_each(&mut take);
        for folder in folders {
            self.folders.get(*folder).copied().into_iter().for_each(&mut take);
        }
        for (prefix, number) in parts.first().and_then(|first| self.below.get(*first)).into_iter().flatten() {
            if bytes.len() > prefix.len() && bytes.starts_with(prefix) {
                take(*number);
            }
        }
        for (ending, number) in name.last().and_then(|last| self.endings.get(last)).into_iter().flatten() {
            if name.ends_with(ending) {
                take(*number);
            }
        }
        for (beginning, number) in name.first().and_then(|first| self.beginnings.get(first)).into_iter().flatten() {
            if name.starts_with(beginning) {
                take(*number);
            }
        }
        best = self.wild_names.first(name, best);
        let through = folders.iter().filter_map(|folder| self.through.get(*folder)).flatten();
        for (pattern, number) in through.chain(&self.rest) {
            if *number < best && last_fits(pattern, name) && fits(pattern, &parts) {
                best = *number;
            }
        }
        if !self.others.is_empty() {
            let candidate = Candidate::from_bytes(bytes);
            for (set, number_of) in &self.others {
                let numbers =
                    set.matches_candidate(&candidate).into_iter().filter_map(|glob| number_of.get(glob).copied());
                best = numbers.min().map_or(best, |number| best.min(number));
            }
        }
        (best != usize::MAX).then_some(best)
    }
}

/// Names with wildcards. One pass over a name finds the texts that some of them need, and only those patterns are tried.
#[derive(Debug, Default)]
struct WildNames {
    patterns: Vec<(Vec<u8>, usize)>,
    /// For each pattern with a text the longest such, in the order of `with_text`.
    needed: Option<AhoCorasick>,
    with_text: Vec<usize>,
    without_text: Vec<usize>,
}

impl WildNames {
    fn new(patterns: Vec<(Vec<u8>, usize)>) -> Self {
        let text = |pattern: &(Vec<u8>, usize)| {
            let texts = pattern.0.split(|byte| is_wild(*byte));
            texts.max_by_key(|text| text.len()).unwrap_or_default().to_vec()
        };
        let texts: Vec<Vec<u8>> = patterns.iter().map(text).collect();
        let (without_text, with_text): (Vec<_>, Vec<_>) = (0..patterns.len()).partition(|at| texts[*at].is_empty());
        // Without the table every pattern is tried: slower, and the same answer.
        let needed = AhoCorasick::new(with_text.iter().map(|at| &texts[*at])).ok();
        Self { patterns, needed, with_text, without_text }
    }

    /// The least number below `best` that fits, or `best`.
    fn first(&self, name: &[u8], mut best: usize) -> usize {
        let mut try_one = |at: usize| {
            let (pattern, number) = &self.patterns[at];
            if *number < best && wild_fits(pattern, name) {
                best = *number;
            }
        };
        match &self.needed {
            Some(needed) => {
                needed
                    .find_overlapping_iter(name)
                    .for_each(|found| try_one(self.with_text[found.pattern().as_usize()]));
            }
            None => self.with_text.iter().copied().for_each(&mut try_one),
        }
        self.without_text.iter().copied().for_each(&mut try_one);
        best
    }
}

fn least(table: &mut Table, text: &[u8], number: usize) {
    table.entry(text.to_vec()).and_modify(|known| *known = number.min(*known)).or_insert(number);
}

impl Part {
    fn of(text: &[u8]) -> Self {
        match text {
            b"**" => Self::Any,
            text if text.iter().any(|byte| is_wild(*byte)) => Self::Wild(text.to_vec()),
            text => Self::Literal(text.to_vec()),
        }
    }

    fn is_literal(&self) -> bool {
        matches!(self, Self::Literal(_))
    }

    fn literal(&self) -> Option<&[u8]> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Any | Self::Wild(_) => None,
        }
    }
}

/// `*end`
fn is_ending(wild: &[u8]) -> bool {
    wild.split_first()
        .is_some_and(|(star, end)| *star == b'*' && !end.is_empty() && !end.iter().any(|byte| is_wild(*byte)))
}

/// `start*`
fn is_beginning(wild: &[u8]) -> bool {
    wild.split_last()
        .is_some_and(|(star, start)| *star == b'*' && !start.is_empty() && !start.iter().any(|byte| is_wild(*byte)))
}

fn is_wild(byte: u8) -> bool {
    matches!(byte, b'*' | b'?')
}

/// Whether the last part of a pattern fits a name at all: most patterns that do not fit a path fail here.
fn last_fits(pattern: &[Part], name: &[u8]) -> bool {
    match pattern.last() {
        Some(Part::Literal(text)) => text == name,
        Some(Part::Wild(text)) => wild_fits(text, name),
        Some(Part::Any) | None => true,
    }
}

/// Whether all parts of a path fit all parts of a pattern.
fn fits(pattern: &[Part], path: &[&[u8]]) -> bool {
    match (pattern, path) {
        ([], path) => path.is_empty(),
        ([Part::Any], path) => !path.is_empty(),
        ([Part::Any, after @ ..], path) => (0..=path.len()).any(|skipped| fits(after, &path[skipped..])),
        ([Part::Literal(text), after @ ..], [first, rest @ ..]) => text == first && fits(after, rest),
        ([Part::Wild(text), after @ ..], [first, rest @ ..]) => wild_fits(text, first) && fits(after, rest),
        ([Part::Literal(_) | Part::Wild(_), ..], []) => false,
    }
}

/// Whether a name fits a text with `*` and `?`, where `*` is any run of bytes and `?` any one.
fn wild_fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                // The last star takes one byte more.
                Some((star_at, taken)) => {
                    star = Some((star_at, taken + 1));
                    at = star_at + 1;
                    in_name = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// The glob without braces, as several; `None` when it has signs that only the general compiler reads.
fn plain(glob: &str) -> Option<Vec<String>> {
    if glob.contains(['[', ']', '\\']) {
        return None;
    }
    let Some(open) = glob.find('{') else { return (!glob.contains('}')).then(|| vec![glob.to_owned()]) };
    let (before, rest) = (&glob[..open], &glob[open + 1..]);
    let (inside, after) = rest.split_once('}')?;
    let choices: Vec<&str> = inside.split(',').collect();
    // An empty choice, and braces in braces, are read by the general compiler alone.
    if inside.contains('{') || choices.iter().any(|choice| choice.is_empty()) {
        return None;
    }
    let afters = plain(after)?;
    Some(choices.iter().flat_map(|choice| afters.iter().map(move |after| format!("{before}{choice}{after}"))).collect())
}

/// Compiles globs into one set, or into several where one would be larger than the compiler allows.
fn compile(globs: &[(String, usize)], sets: &mut Vec<(GlobSet, Vec<usize>)>) {
    let mut builder = GlobSetBuilder::new();
    for (glob, _) in globs {
        let glob = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
        builder.add(glob.expect("every glob compiled by itself when its pattern was read"));
    }
    match builder.build() {
        Ok(set) => sets.push((set, globs.iter().map(|(_, number)| *number).collect())),
        Err(error) => {
            let (first, second) = globs.split_at(globs.len() / 2);
            assert!(!first.is_empty(), "a glob of at most a kilobyte compiles by itself: {error}");
            compile(first, sets);
            compile(second, sets);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn general(glob: &str, path: &str) -> bool {
        let glob = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build().expect("a glob");
        glob.compile_matcher().is_match_candidate(&Candidate::from_bytes(path.as_bytes()))
    }

    fn ours(glob: &str, path: &str) -> bool {
        Matcher::new([(glob.to_owned(), 0)]).first(&BytePath::new(path)).is_some()
    }

    fn glob() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            4 => "[ab]{1,2}",
            2 => "[ab*?]{1,3}",
            2 => Just("**".to_owned()),
            1 => "\\{[ab*],[ab]\\}[ab]?",
        ];
        prop::collection::vec(part, 1..5).prop_map(|parts| parts.join("/"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_tables_agree_with_the_general_compiler(glob in glob(), path in "[ab]{1,2}(/[ab]{1,2}){0,4}") {
            prop_assert_eq!(ours(&glob, &path), general(&glob, &path), "{} against {}", glob, path);
        }
    }

    #[test]
    fn the_least_number_wins_whatever_the_shape() {
        let globs = ["**/c", "a/**", "**/*.md", "**/b/**", "a/b/c", "a/*/c", "[a]/b/c", "**/c*"];
        for first in 0..globs.len() {
            let numbered = globs
                .iter()
                .enumerate()
                .map(|(at, glob)| (String::from(*glob), (at + globs.len() - first) % globs.len()));
            let matcher = Matcher::new(numbered.collect::<Vec<_>>());
            let wanted = usize::from(globs[first] == "**/*.md");
            assert_eq!(matcher.first(&BytePath::new("a/b/c")), Some(wanted), "{}", globs[first]);
        }
    }
}
