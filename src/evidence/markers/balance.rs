//! Which markers are new on balance, across the whole change.

use std::collections::BTreeSet;

use super::marker::{Condition, Marker, MarkerKind};
use crate::evidence::tests::Inventory;

/// What the merge base has, over all files of the change.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// File and path of every test.
    pub tests: BTreeSet<(String, String)>,
    /// Bodies of documentation examples, without layout.
    pub examples: BTreeSet<Vec<u8>>,
    /// Files that exist.
    pub files: BTreeSet<String>,
    /// Bodies of tests, so that a renamed test is known.
    pub bodies: BTreeSet<Vec<u8>>,
}

impl Known {
    /// Adds what one file of the merge base has.
    pub fn learn(&mut self, file: &str, inventory: &Inventory<'_>) {
        for test in inventory.tests() {
            self.tests.insert((file.to_owned(), test.path.clone()));
            self.bodies.insert(test.body_tokens().to_vec());
        }
        for example in &inventory.examples {
            self.tests.insert((file.to_owned(), example.name.clone()));
            let ran =
                !example.code.lines().next().is_some_and(|head| head.contains("ignore") || head.contains("no_run"));
            if ran {
                self.examples.insert(example.code.lines().skip(1).collect::<Vec<_>>().join("\n").into_bytes());
            }
        }
    }

    fn has(&self, file: &str, path: &str) -> bool {
        self.tests.contains(&(file.to_owned(), path.to_owned())) || {
            let leaf = path.rsplit("::").next().unwrap_or(path);
            self.tests.iter().any(|(_, known)| known.rsplit("::").next() == Some(leaf))
        }
    }

    /// Whether a test of the head that a marker hides existed on the base.
    fn hides_known(&self, file: &str, marker: &Marker) -> bool {
        if let Some(body) = &marker.body
            && (self.bodies.contains(body) || self.examples.contains(body))
        {
            return true;
        }
        marker.tests.iter().any(|test| self.has(file, test))
            || (marker.tests.is_empty() && self.has(file, &marker.scope))
    }
}

/// Whether two markers, each in its file, are one.
type Match = fn(&str, &Marker, &str, &Marker) -> bool;

/// The head's markers that the base does not have, each with its file, in the order given. Every marker of the base excuses one of
/// the head: first the one in the same place, then one that moved with its test.
pub fn balance<'m>(
    base: &'m [(String, Vec<Marker>)],
    head: &'m [(String, Vec<Marker>)],
    known: &Known,
) -> Vec<(&'m str, &'m Marker)> {
    let mut left: Vec<(&str, &Marker, bool)> =
        base.iter().flat_map(|(file, markers)| markers.iter().map(move |m| (file.as_str(), m, true))).collect();
    let mut open: Vec<(&str, &Marker)> =
        head.iter().flat_map(|(file, markers)| markers.iter().map(move |m| (file.as_str(), m))).collect();
    let rounds: [Match; 4] = [
        |f, m, g, n| f == g && m.scope == n.scope && same(m, n),
        |f, m, g, n| f == g && m.scope == n.scope && weaker(m, n),
        |_, m, _, n| leaf(&m.scope) == leaf(&n.scope) && !m.scope.is_empty() && same(m, n),
        |_, m, _, n| m.body.is_some() && m.body == n.body && same(m, n),
    ];
    for matches in rounds {
        open.retain(|(file, marker)| {
            let found = left.iter_mut().find(|(g, n, free)| *free && matches(file, marker, g, n));
            found.map(|entry| entry.2 = false).is_none()
        });
    }
    // A marker at the top of a file that moved: it hides the tests that another one hid before.
    open.retain(|(_, marker)| !already_hidden(marker, base));
    open.retain(|(file, marker)| is_judged(file, marker, known));
    open
}

fn leaf(scope: &str) -> &str {
    scope.rsplit("::").next().unwrap_or(scope)
}

/// Whether two markers do the same. A retry that grew is not the same.
fn same(new: &Marker, old: &Marker) -> bool {
    let grown = matches!((new.amount, old.amount), (Some(new), Some(old)) if new > old);
    let by_words = !matches!(new.kind, MarkerKind::Skip | MarkerKind::Inverted | MarkerKind::Focus);
    new.kind == old.kind
        && new.condition == old.condition
        && !grown
        && (!by_words || new.spelling == old.spelling || new.amount.is_some())
}

/// Whether the new marker hides less than the old one in its place.
fn weaker(new: &Marker, old: &Marker) -> bool {
    new.kind == MarkerKind::Skip && old.kind == MarkerKind::Skip && old.condition.is_always()
}

fn already_hidden(marker: &Marker, base: &[(String, Vec<Marker>)]) -> bool {
    let hides = |old: &Marker| {
        old.kind == MarkerKind::Skip
            && (old.condition.is_always() || old.condition == marker.condition)
            && !old.tests.is_empty()
    };
    let hidden: BTreeSet<&str> = base
        .iter()
        .flat_map(|(_, markers)| markers)
        .filter(|m| hides(m))
        .flat_map(|m| m.tests.iter().map(|t| leaf(t)))
        .collect();
    marker.kind == MarkerKind::Skip && !marker.tests.is_empty() && marker.tests.iter().all(|t| hidden.contains(leaf(t)))
}

/// A time limit is part of a new test; a retry never is.
fn is_time_limit(marker: &Marker) -> bool {
    let spelling = marker.spelling.to_ascii_lowercase();
    ["timeout", "time limit", "maxtime"].iter().any(|word| spelling.contains(word))
}

/// Whether a new marker is a matter at all: some hide nothing on a test that the base does not have.
fn is_judged(file: &str, marker: &Marker, known: &Known) -> bool {
    if marker.kind == MarkerKind::Inverted {
        // With another body it is another test, and rewritten.
        return marker.body.as_ref().is_some_and(|body| known.bodies.contains(body));
    }
    let of_a_test = marker.body.is_some() || !marker.tests.is_empty();
    let conditional = marker.kind == MarkerKind::Skip && matches!(marker.condition, Condition::When(_))
        || (marker.kind == MarkerKind::Retry && of_a_test && is_time_limit(marker));
    if !marker.only_existing && !conditional {
        return true;
    }
    let file_known = known.files.contains(file);
    known.hides_known(file, marker) || (conditional && !marker.only_existing && marker.tests.is_empty() && file_known)
}
