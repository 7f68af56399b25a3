//! The patterns of a policy file.

use std::fmt;

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use crate::change::fold_text;
use crate::policy::Class;

/// A pattern for paths, in the manner of `.gitignore`:
///
/// - `*` and `?` stay inside one part of a path, `**` crosses parts, `[ab]` and `{a,b}` choose; `\` takes the next sign literally.
/// - A pattern without a slash (`*.md`, `Makefile`) matches at any depth. Any other is counted from the root of the repository, with
///   or without a leading `/`; `/Makefile` is the one at the root.
/// - `docs/` and `docs/**` mean everything below a folder. A last part without `*`, `?`, `[` or `{` (`docs`, `/tests/data`) means
///   a file of that name and everything below a folder of that name. A last part with one of these (`*.md`) means files only, so
///   that a folder called `x.md` hides nothing; but in the evidence classes it too means what lies below, so that nothing escapes.
/// - Case matters. A leading `!` is refused: classes are lists of what belongs to them, and what must not belong to one is said by
///   the class before it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct Pattern {
    text: String,
    #[serde(skip)]
    line: Option<u32>,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Nothing there.
    #[error("the pattern is empty")]
    Empty,
    /// Longer than any path needs.
    #[error("the pattern is longer than {} bytes", Pattern::LONGEST)]
    TooLong,
    /// Starts with `!`.
    #[error("`{0}` starts with `!`, and patterns cannot take something out of a class")]
    Negated(String),
    /// Has a part that no path in git has.
    #[error("`{0}` can never match: no path in git has an empty part, `.`, `..` or a NUL")]
    NeverMatches(String),
    /// Brackets or braces that do not fit.
    #[error("`{text}` is no pattern: {why}")]
    Unreadable {
        /// The pattern.
        text: String,
        /// What the pattern compiler says.
        why: String,
    },
}

impl Pattern {
    /// The longest pattern, in bytes.
    pub const LONGEST: usize = 1_024;

    /// Takes a text that can be compiled.
    pub fn new(text: impl Into<String>) -> Result<Self, PatternError> {
        let text = text.into();
        if text.len() > Self::LONGEST {
            return Err(PatternError::TooLong);
        }
        if text.trim().is_empty() || text.trim_matches('/').is_empty() {
            return Err(PatternError::Empty);
        }
        if text.starts_with('!') {
            return Err(PatternError::Negated(text));
        }
        let inside = text.strip_prefix('/').unwrap_or(&text);
        let inside = inside.strip_suffix('/').unwrap_or(inside);
        if inside.contains('\0') || inside.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(PatternError::NeverMatches(text));
        }
        for glob in spellings(&text, true) {
            check(&glob).map_err(|why| PatternError::Unreadable { text: text.clone(), why })?;
        }
        Ok(Self { text, line: None })
    }

    /// A pattern that means exactly `path` and everything below it, whatever signs are in it.
    pub fn literally(path: &super::RepoPath) -> Self {
        Self { text: format!("/{}", globset::escape(path.as_str())), line: None }
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line of the policy file, from 1; `None` for one that was not read from a file.
    pub fn line(&self) -> Option<u32> {
        self.line
    }

    pub(super) fn set_line(&mut self, line: u32) {
        self.line = Some(line);
    }

    /// What the pattern means in `class`, spelled out in one or two globs that are counted from the root: `**` is any number of parts,
    /// and `*` and `?` stay inside one.
    pub fn globs(&self, class: Class) -> Vec<String> {
        spellings(&self.text, class.is_evidence())
    }

    /// The same for a list of paths that is no class, such as a property's.
    pub fn plain_globs(&self) -> Vec<String> {
        spellings(&self.text, false)
    }

    /// The globs of evidence with their letters folded in case, to be matched against folded paths.
    pub fn folded_globs(&self) -> Vec<String> {
        folded(spellings(&self.text, true))
    }
}

/// The globs of a built-in pattern. These say themselves where they mean folders, so that a pattern for files stays one.
pub(super) fn built_in_globs(text: &str) -> Vec<String> {
    spellings(text, false)
}

/// [`built_in_globs`] for folded paths.
pub(super) fn built_in_folded_globs(text: &str) -> Vec<String> {
    folded(spellings(text, false))
}

fn folded(spellings: Vec<String>) -> Vec<String> {
    let fold = |glob: String| {
        let folded = fold_text(&glob);
        // Folding can turn a range around so that it no longer compiles; the text as it is matches less, and still matches.
        if !folded.contains('[') || check(&folded).is_ok() { folded } else { glob }
    };
    spellings.into_iter().map(fold).collect()
}

fn check(glob: &str) -> Result<(), String> {
    let glob = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    glob.map(drop).map_err(|error| error.kind().to_string())
}

/// What a pattern means, in globs that are all counted from the root.
fn spellings(text: &str, evidence: bool) -> Vec<String> {
    let folder = text.ends_with('/');
    let inside = text.strip_suffix('/').unwrap_or(text);
    let glob = match inside.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if inside.contains('/') => inside.to_owned(),
        None => format!("**/{inside}"),
    };
    let last = glob.rsplit('/').next().unwrap_or(&glob);
    let wild = last.contains(['*', '?', '[', '{']);
    if folder {
        vec![format!("{glob}/**")]
    } else if last != "**" && (evidence || !wild) {
        let below = format!("{glob}/**");
        vec![glob, below]
    } else {
        vec![glob]
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A pattern for logins, branches, labels and trailers: `*` stands for any run of signs, everything else for itself, and case does
/// not matter. `*[bot]` means what it says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct NamePattern(String);

impl NamePattern {
    /// Takes any text that is not empty.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        Some(text.into()).filter(|text| !text.trim().is_empty()).map(Self)
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether the whole of `name` fits.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.to_lowercase(), name.to_lowercase());
        let mut pieces = pattern.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let Some(last) = pieces.next_back() else { return rest.is_empty() };
        for piece in pieces {
            match rest.find(piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

impl<'de> Deserialize<'de> for NamePattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).ok_or_else(|| serde::de::Error::custom("the name is empty"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, class: Class, path: &str) -> bool {
        Pattern::new(pattern).expect("a pattern").globs(class).iter().any(|glob| {
            let glob = GlobBuilder::new(glob).literal_separator(true).build().expect("a glob");
            glob.compile_matcher().is_match(path)
        })
    }

    #[test]
    fn a_pattern_without_a_slash_matches_at_any_depth() {
        for path in ["README.md", "a/README.md", "a/b/c.md"] {
            assert!(matches("*.md", Class::Allowed, path), "{path}");
        }
        assert!(matches("/*.md", Class::Allowed, "README.md"));
        assert!(!matches("/*.md", Class::Allowed, "a/README.md"));
    }

    #[test]
    fn a_plain_name_means_the_file_and_the_folder() {
        for pattern in ["data", "/a/data", "a/data/", "a/data/**"] {
            assert!(matches(pattern, Class::Product, "a/data/x/y"), "{pattern}");
        }
        assert!(matches("a/data", Class::Product, "a/data"));
        assert!(!matches("a/data/", Class::Product, "a/data"));
        assert!(!matches("a/data", Class::Product, "b/a/data"));
    }

    #[test]
    fn a_folder_with_a_files_ending_hides_nothing_and_evidence_keeps_it() {
        assert!(!matches("*.md", Class::Allowed, "x.md/evil.py"));
        assert!(matches("*.snap", Class::Snapshot, "x.snap/part"));
    }

    #[test]
    fn a_star_does_not_cross_a_slash() {
        assert!(!matches("src/*", Class::Product, "src/a/b"));
        assert!(matches("src/**/b", Class::Product, "src/a/c/b"));
        assert!(matches("src/**/b", Class::Product, "src/b"));
    }

    #[test]
    fn what_can_never_match_is_refused() {
        for text in ["", "/", "//", " "] {
            assert_eq!(Pattern::new(text), Err(PatternError::Empty), "{text:?}");
        }
        for text in ["../x", "a//b", "./a", "a/./b", "//a", "a\0"] {
            assert!(matches!(Pattern::new(text), Err(PatternError::NeverMatches(_))), "{text:?}");
        }
        assert!(matches!(Pattern::new("!a"), Err(PatternError::Negated(_))));
        assert!(matches!(Pattern::new("a["), Err(PatternError::Unreadable { .. })));
    }

    #[test]
    fn names_know_only_the_star() {
        let name = |text: &str| NamePattern::new(text).expect("a name");
        assert!(name("*[bot]").matches("dependabot[bot]"));
        assert!(!name("*[bot]").matches("bot"));
        assert!(name("copilot/*").matches("Copilot/fix/it"));
        assert!(name("a*b*c").matches("a-b-b-c"));
        assert!(!name("a*b").matches("a"));
        assert!(!name("ab*ba").matches("aba"));
        assert!(name("exact").matches("EXACT"));
        assert!(!name("exact").matches("exactly"));
    }
}
