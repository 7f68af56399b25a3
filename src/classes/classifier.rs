//! Patterns -> class.

use std::fmt;

use super::matcher::Matcher;
use crate::change::{BytePath, PathChange, fold};
use crate::policy::{ALWAYS, Class, Pattern, Policy, built_in};

/// The patterns of one policy and of the built-in sets that it chose, ready to be asked.
///
/// Within a class the order is: what the policy itself names (ledger, lock, oracle root), its own lists, the built-in sets. The order
/// decides only which pattern is named as the reason, never the class.
#[derive(Debug)]
pub struct Classifier {
    /// In the order of matching: the least index that matches decides.
    patterns: Vec<(Class, PatternRef)>,
    exact: Matcher,
    folded: Matcher,
}

/// What a path is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// Its class.
    pub class: Class,
    /// The pattern that decided; `None` for [`Class::Other`].
    pub pattern: Option<PatternRef>,
}

/// A pattern and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternRef {
    /// As written.
    pub text: String,
    /// Where.
    pub origin: Origin,
}

/// Where a pattern stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In a list of the policy, at this line where the policy was read from a file.
    Policy(Option<u32>),
    /// The policy names the path itself, in this key.
    Named(&'static str),
    /// In the built-in set of this name.
    BuiltIn(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(Some(line)) => write!(f, "line {line} of the policy"),
            Self::Policy(None) => f.write_str("the policy"),
            Self::Named(key) => write!(f, "`{key}` of the policy"),
            Self::BuiltIn(ALWAYS) => f.write_str("the built-in patterns that always apply"),
            Self::BuiltIn(set) => write!(f, "the built-in set `{set}`"),
        }
    }
}

impl Classifier {
    /// Prepares the patterns of a policy: once per evaluation, not once per path.
    pub fn new(policy: &Policy) -> Self {
        let built_in: Vec<_> = built_in(&policy.classes.extends).collect();
        let mut patterns = Vec::new();
        let mut exact = Vec::new();
        let mut folded = Vec::new();
        for class in Class::ALL {
            let mut push = |pattern: PatternRef, globs: Vec<_>, folded_globs: Vec<_>| {
                exact.extend(globs.into_iter().map(|glob| (glob, patterns.len())));
                if class.is_evidence() {
                    folded.extend(folded_globs.into_iter().map(|glob| (glob, patterns.len())));
                }
                patterns.push((class, pattern));
            };
            for (_, key, path) in policy.named_paths().into_iter().filter(|(of, ..)| *of == class) {
                let pattern = Pattern::literally(path);
                let reference = PatternRef { text: path.to_string(), origin: Origin::Named(key) };
                push(reference, pattern.globs(class), pattern.folded_globs());
            }
            for pattern in policy.classes.of(class) {
                let origin = Origin::Policy(pattern.line());
                let reference = PatternRef { text: pattern.text().to_owned(), origin };
                push(reference, pattern.globs(class), pattern.folded_globs());
            }
            for pattern in built_in.iter().filter(|pattern| pattern.class == class) {
                let reference = PatternRef { text: pattern.text.to_owned(), origin: Origin::BuiltIn(pattern.set) };
                push(reference, pattern.globs(), pattern.folded_globs());
            }
        }
        Self { patterns, exact: Matcher::new(exact), folded: Matcher::new(folded) }
    }

    /// What a path is. Total: every path gets one class, and the same path always the same.
    ///
    /// A path that is no UTF-8 is matched by its bytes like any other. If that makes it none of evidence, tests or configuration, it
    /// is [`Class::Other`]: nobody can read its name in a report, so a person looks at it.
    pub fn classify(&self, path: &BytePath) -> Classified {
        match self.exact.first(path).map(|index| &self.patterns[index]) {
            Some((Class::Generated | Class::Intent | Class::Allowed | Class::Product, _))
                if path.as_str().is_none() =>
            {
                Classified { class: Class::Other, pattern: None }
            }
            Some((class, pattern)) => Classified { class: *class, pattern: Some(pattern.clone()) },
            None => Classified { class: Class::Other, pattern: None },
        }
    }

    /// The class alone: [`Classifier::classify`] without the reason.
    pub fn class(&self, path: &BytePath) -> Class {
        match self.exact.first(path).map(|index| self.patterns[index].0) {
            Some(Class::Generated | Class::Intent | Class::Allowed | Class::Product) if path.as_str().is_none() => {
                Class::Other
            }
            Some(class) => class,
            None => Class::Other,
        }
    }

    /// Which kind of evidence a path would be where names fold ([`crate::change::fold`]); `None` for no evidence.
    pub fn classify_folded(&self, path: &BytePath) -> Option<Classified> {
        let index = self.folded.first(&fold(path))?;
        let (class, pattern) = &self.patterns[index];
        Some(Classified { class: *class, pattern: Some(pattern.clone()) })
    }

    /// The class of a row: of all names that it touches, the first in the order of matching.
    pub fn class_of(&self, row: &PathChange) -> Class {
        row.paths().map(|path| self.class(path)).min().unwrap_or(Class::Other)
    }
}
