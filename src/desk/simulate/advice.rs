//! Which line of a policy would let a held path pass by itself, and where nothing but a person does.

use std::fmt;

use crate::policy::line_of;
use crate::score::FindingRow;

/// A line of the policy that takes something out of the way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lever {
    /// `added_tests = "record"`
    RecordAddedTests,
    /// `deletion_only = "score"`
    ScoreDeletions,
    /// A pattern for a path of no class.
    Name(String),
}

impl Lever {
    /// The line that would clear a path of a finding; `None` where only a person can.
    pub(super) fn of(rule: &str, path: Option<&str>) -> Option<Self> {
        match (rule, path) {
            ("added-test" | "test-extended", _) => Some(Self::RecordAddedTests),
            ("deletion-only", _) => Some(Self::ScoreDeletions),
            ("unclassified-path", Some(path)) => Some(Self::Name(pattern(path))),
            _ => None,
        }
    }

    /// Every line that a finding needs; `None` where one of its places needs a person.
    pub(super) fn all_of(finding: &FindingRow) -> Option<Vec<Self>> {
        if finding.locations.is_empty() {
            return Self::of(&finding.rule, None).map(|lever| vec![lever]);
        }
        finding.locations.iter().map(|location| Self::of(&finding.rule, Some(&location.path))).collect()
    }

    /// The key that the line belongs to, and where it stands in a policy that says it already.
    pub(super) fn place(&self, policy: &str) -> String {
        let (keys, name): (&[&str], &str) = match self {
            Self::RecordAddedTests => (&["added_tests"], "`added_tests`, at the top"),
            Self::ScoreDeletions => (&["surface", "deletion_only"], "`deletion_only` in [surface]"),
            Self::Name(_) => {
                (&["classes", "product"], "`product` in [classes], or `allowed` if a review may ignore it")
            }
        };
        match line_of(policy, keys) {
            Some(line) => format!("line {line}: {name}"),
            None => name.to_owned(),
        }
    }
}

impl fmt::Display for Lever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RecordAddedTests => f.write_str("added_tests = \"record\""),
            Self::ScoreDeletions => f.write_str("deletion_only = \"score\""),
            Self::Name(pattern) => write!(f, "product = [{}]", toml::Value::String(pattern.clone())),
        }
    }
}

/// The folder at the root that a path lies in, or the file itself.
pub(in crate::desk) fn pattern(path: &str) -> String {
    match path.split_once('/') {
        Some((folder, _)) => format!("{}/**", globset::escape(folder)),
        None => format!("/{}", globset::escape(path)),
    }
}

/// What a person does about what no line of the policy lets pass.
pub(super) fn without_a_line(rule: &str) -> &'static str {
    match rule {
        "evidence-edited" => "no line: evidence changes apart from the product, by a maintainer",
        "too-wide" => "`max_changed_files` in [limits], or smaller changes",
        "test-removed" | "test-rewritten" => "no line: a person reads what became of the test",
        "build-edited" => "no line: a person reads what the build brings in",
        "test-config-edited" => "no line: a person checks that every test still runs and counts",
        _ => "no line: a maintainer's approval of the head, once looked at",
    }
}
