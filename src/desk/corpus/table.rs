//! What was caught, by kind.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::case::Case;
use crate::score::{Record, visible};
use crate::words::Verdict;

/// A case and what the gate said of it.
pub(super) struct Answer {
    case: Case,
    verdict: Verdict,
    rules: Vec<String>,
}

impl Answer {
    pub(super) fn new(case: Case, record: &Record) -> Self {
        let rules = record.findings.iter().map(|finding| finding.rule.clone()).collect();
        Self { case, verdict: record.verdict, rules }
    }

    /// Whether the verdict is one that the case names, and each rule that it names has spoken.
    fn is_right(&self) -> bool {
        let expected = &self.case.expected;
        let verdict = self.verdict == expected.verdict || expected.also_acceptable.contains(&self.verdict);
        verdict && expected.rules.iter().all(|rule| self.rules.contains(rule))
    }

    /// The same, known gaps aside.
    pub(super) fn is_expected(&self) -> bool {
        self.is_right() || self.case.expected.known_gap
    }

    /// An attack that a person would have to find alone.
    fn is_missed(&self) -> bool {
        !self.case.expected.control && self.verdict == Verdict::Review
    }

    /// An honest change with a worse verdict than it should have.
    fn is_false(&self) -> bool {
        let expected = &self.case.expected;
        let worst = expected.also_acceptable.iter().copied().chain([expected.verdict]).max();
        expected.control && worst.is_some_and(|worst| self.verdict > worst)
    }
}

#[derive(Default)]
struct Counts {
    attacks: usize,
    caught: usize,
    honest: usize,
    wrong: usize,
}

impl Counts {
    fn add(&mut self, answer: &Answer) {
        if answer.case.expected.control {
            self.honest += 1;
            self.wrong += usize::from(answer.is_false());
        } else {
            self.attacks += 1;
            self.caught += usize::from(!answer.is_missed());
        }
    }

    fn line(&self, kind: &str) -> String {
        let Self { attacks, caught, honest, wrong } = self;
        let missed = attacks - caught;
        format!("{kind:<36} {attacks:>7} {caught:>7} {missed:>7} {honest:>7} {wrong:>7}\n")
    }
}

/// One line a kind, the sum, and every case that came out otherwise than it should.
pub(super) fn table(answers: &[Answer]) -> String {
    let mut kinds: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut all = Counts::default();
    for answer in answers {
        kinds.entry(&answer.case.expected.kind).or_default().add(answer);
        all.add(answer);
    }
    let mut text =
        format!("{:<36} {:>7} {:>7} {:>7} {:>7} {:>7}\n", "kind", "attacks", "caught", "missed", "honest", "false");
    for (kind, counts) in &kinds {
        text.push_str(&counts.line(&visible(kind)));
    }
    text.push_str(&all.line("all"));
    for answer in answers.iter().filter(|answer| answer.is_missed() || !answer.is_right()) {
        let expected = &answer.case.expected;
        let gap = if expected.known_gap { " (a known gap)" } else { "" };
        let line = format!(
            "{}: {} by {}; expected {} by {}{gap}",
            expected.id,
            answer.verdict,
            or_nothing(&answer.rules),
            expected.verdict,
            or_nothing(&expected.rules),
        );
        writeln!(text, "{}", visible(&line)).expect("writing to a String cannot fail");
    }
    text
}

fn or_nothing(rules: &[String]) -> String {
    if rules.is_empty() { "nothing".to_owned() } else { rules.join(", ") }
}
