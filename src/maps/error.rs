//! Why a map cannot be used.

use std::io;

/// What is wrong with a map. Every text names the map, the place in it, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// The file cannot be read at all.
    #[error("cannot read {origin}")]
    Read {
        /// The map.
        origin: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Its index cannot be kept.
    #[error("cannot write {path}")]
    Write {
        /// The index.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is no map, or a broken one.
    #[error("{origin}: {why}; {next}")]
    Broken {
        /// The map.
        origin: String,
        /// What is wrong, and where.
        why: String,
        /// What to do about it.
        next: String,
    },
    /// It is the output of a tool, and that output does not say which test ran which line.
    #[error("{origin} is {format}: {why}; {next}")]
    TooCoarse {
        /// The map.
        origin: String,
        /// The format, with an article.
        format: &'static str,
        /// What it lacks.
        why: &'static str,
        /// What to run instead.
        next: &'static str,
    },
    /// It goes beyond a bound that keeps one upload from filling the host.
    #[error("{origin} has {what}, and the most is {most}; {next}")]
    TooLarge {
        /// The map.
        origin: String,
        /// What there is too much of.
        what: &'static str,
        /// The bound, with its unit.
        most: String,
        /// What to do about it.
        next: &'static str,
    },
    /// Maps that should be united are of different commits.
    #[error(
        "{origin} is a map of {found}, and {wanted} is wanted; run the tests on that commit and convert their output anew"
    )]
    OtherCommit {
        /// The map.
        origin: String,
        /// Its commit.
        found: String,
        /// The commit of the others.
        wanted: String,
    },
}

impl MapError {
    /// A map that is not what it should be.
    pub(super) fn broken(origin: &str, why: impl Into<String>, next: impl Into<String>) -> Self {
        Self::Broken { origin: origin.to_owned(), why: why.into(), next: next.into() }
    }

    /// Why the map has no per-test lines, where that is what is wrong with it; rule `coverage-map-too-coarse`.
    pub fn too_coarse(&self) -> Option<&'static str> {
        if let Self::TooCoarse { why, .. } = self { Some(why) } else { None }
    }
}
