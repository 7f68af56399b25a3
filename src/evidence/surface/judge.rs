//! What the coverage map and the freezes say of the change.

use std::collections::BTreeSet;

use super::facts::{CodeChange, MapFacts, ReadMap, frozen_tests};
use super::files::any_judged;
use super::lift::to_lift;
use super::subtract::{ChangedLine, FileSubtraction, Subtraction, runs};
use crate::evidence::ledger::LedgerFacts;
use crate::evidence::{Facts, Finding, Location, Oracle, Rule, wording};
use crate::policy::{Class, DeletionOnly, Unobserved};
use crate::words::Verdict;

pub(in crate::evidence) struct SurfaceOracle;

static FREEZE_OVERLAP: Rule = Rule {
    id: "freeze-overlap",
    verdict: Verdict::Unscored,
    when: "Changed lines of the product are run by frozen tests and by no live test: whatever the change does there, nobody who counts would see it.",
    innocent: "Often: the change happens to touch what a flaky test used to watch.",
    next: "A maintainer repairs the frozen test and takes its entry out of the ledger on the base branch, or adds a live test of these lines there; or leave these lines out of this change.",
};

static IMPORT_LINE_BESIDE_HOLE: Rule = Rule {
    id: "import-line-beside-hole",
    verdict: Verdict::Unscored,
    when: "A changed line runs when its file is imported, and the file has lines that only frozen tests run: it can change what only they would see.",
    innocent: "The line has nothing to do with the lines that lost their observer.",
    next: "A maintainer lifts the freezes that watch this file alone; or leave the lines that run at import out of this change.",
};

static FREEZE_WITHOUT_COVERAGE: Rule = Rule {
    id: "freeze-without-coverage",
    verdict: Verdict::Unscored,
    when: "A frozen test is not in the coverage map, so nobody knows which lines lost their observer, and a changed line has no live one. Where each changed line has a live observer it is only reported.",
    innocent: "The test was renamed or removed after it was frozen, or the map was made without it.",
    next: "A maintainer corrects the node id in the ledger or makes the map again with this test in it; what the map calls its tests is shown by `evidence-gate coverage inspect`.",
};

/// What a map that arrives puts right.
pub static COVERAGE_MAP_MISSING: Rule = Rule {
    id: "coverage-map-missing",
    verdict: Verdict::Unscored,
    when: "Tests are frozen, the product changes, and there is no coverage map that says which lines only frozen tests observe.",
    innocent: "The map was not uploaded yet.",
    next: "A maintainer provides a coverage map of the base branch, or takes the freezes out of the ledger.",
};

static COVERAGE_MAP_TOO_COARSE: Rule = Rule {
    id: "coverage-map-too-coarse",
    verdict: Verdict::Unscored,
    when: "Tests are frozen, and the coverage map does not say which test runs which line; or its tool calls it incomplete, and a changed line has no live observer in it.",
    innocent: "The tool of the base branch's CI collects one total for all tests.",
    next: "A maintainer lets the base branch's CI collect lines for each test by itself, and uploads that.",
};

static DELETION_ONLY: Rule = Rule {
    id: "deletion-only",
    verdict: Verdict::Hold,
    when: "Code of the product is taken away and no line of code is added. While a freeze is live that is unscored; `surface.deletion_only = \"score\"` leaves the removed lines to the other rules.",
    innocent: "Dead code is removed.",
    next: "A person checks that nothing needs what is removed, and a maintainer approves this head; while a freeze is live, a maintainer lifts it first.",
};

static MAP_JITTER: Rule = Rule {
    id: "map-jitter",
    verdict: Verdict::Review,
    when: "Two coverage maps of one commit disagree about a test: for a live test only lines count that all maps name, for a frozen one all that any names.",
    innocent: "The test depends on time, order or chance.",
    next: "Nothing in this change; a test that runs other lines each time is worth a look.",
};

static UNOBSERVED_LINES: Rule = Rule {
    id: "unobserved-lines",
    verdict: Verdict::Review,
    when: "Changed lines are run by no test of the coverage map; or there is no map that could say, and the policy asks for one.",
    innocent: "Code that no test reaches yet; with `surface.unobserved = \"unscored\"` it is not scored.",
    next: "Add tests for these lines on the base branch, or let a person review them as untested code.",
};

impl Oracle for SurfaceOracle {
    fn rules(&self) -> &'static [&'static Rule] {
        const {
            &[
                &FREEZE_OVERLAP,
                &IMPORT_LINE_BESIDE_HOLE,
                &FREEZE_WITHOUT_COVERAGE,
                &COVERAGE_MAP_MISSING,
                &COVERAGE_MAP_TOO_COARSE,
                &DELETION_ONLY,
                &MAP_JITTER,
                &UNOBSERVED_LINES,
            ]
        }
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let frozen = frozen_tests(facts.ledger, facts.today);
        let found = match &facts.surface.map {
            MapFacts::NotNeeded => [None, None, None, None, None, unobserved_without_map(facts)],
            MapFacts::Absent { tried } => {
                let missing = missing(facts, &frozen, &format!("there is no coverage map ({tried})"));
                [missing, None, None, None, None, unobserved_without_map(facts)]
            }
            MapFacts::Unusable { origin, why } => {
                let why = format!("the coverage map {origin} cannot be used: {why}");
                [missing(facts, &frozen, &why), None, None, None, None, unobserved_without_map(facts)]
            }
            MapFacts::TooCoarse { origin, why } => {
                let why = format!("the coverage map {origin} is too coarse: {why}");
                [too_coarse(facts, &frozen, &why), None, None, None, None, unobserved_without_map(facts)]
            }
            MapFacts::Read(map) => {
                let subtraction = &facts.surface.subtraction;
                [
                    overlap(facts, subtraction, &frozen),
                    import_beside_hole(subtraction),
                    without_coverage(map, subtraction),
                    partial(map, subtraction, &frozen),
                    jitter(map),
                    unobserved(facts, subtraction),
                ]
            }
        };
        found.into_iter().chain([deletion_only(facts)]).flatten().collect()
    }
}

fn overlap(facts: &Facts<'_>, subtraction: &Subtraction, frozen: &[String]) -> Option<Finding> {
    let overlapping = subtraction.overlapping();
    if overlapping == 0 {
        return None;
    }
    let changed = subtraction.changed();
    let files: Vec<&FileSubtraction> = subtraction.files.iter().filter(|file| !file.overlap.is_empty()).collect();
    let tests: BTreeSet<&str> =
        files.iter().flat_map(|file| &file.overlap).flat_map(|line| &line.frozen_tests).map(String::as_str).collect();
    let names = wording::list(tests.into_iter().map(wording::text).collect());
    let places = wording::list(files.iter().map(|file| in_file(file, file.overlap_lines())).collect());
    let message = format!("freeze overlap {}: only frozen tests run {places} ({names})", share(overlapping, changed));
    let lift = to_lift(subtraction, frozen, facts.policy.freeze.reach);
    let mut finding = Finding::new(&FREEZE_OVERLAP, message).at(files.iter().flat_map(|file| {
        let lines = file.overlap.iter().map(|line| &line.line);
        if file.unread.is_some() { vec![Location::file(&file.path)] } else { file.places(lines) }
    }));
    if let Some(next) = next_step(&lift) {
        finding.next = next;
    }
    Some(finding)
}

/// `entirely`, or a ratio of two decimals, and the numbers that it is made of. A part is never rounded up to all of it, nor down to nothing.
fn share(overlapping: usize, changed: usize) -> String {
    let lines = wording::count(changed, "line", "lines");
    if overlapping >= changed {
        return format!("entirely, {overlapping} of {lines}");
    }
    let hundredths = (overlapping * 100 + changed / 2) / changed;
    let hundredths = hundredths.clamp(1, 99);
    format!("ratio=0.{hundredths:02}, {overlapping} of {lines}")
}

/// Which freeze to lift, by name.
fn next_step(lift: &[&str]) -> Option<String> {
    let name = |id: &&str| wording::text(id);
    let freezes = match lift {
        [] => return None,
        [one] => format!("Lift one freeze and these lines have a live observer again: {}", name(one)),
        several => format!(
            "Lift {} freezes and these lines have live observers again: {}",
            several.len(),
            several.iter().map(name).collect::<Vec<_>>().join(", ")
        ),
    };
    Some(format!(
        "{freezes}. A maintainer does that on the base branch, by repairing the test and taking its entry out of the ledger, or adds a live test of these lines there; or leave these lines out of this change."
    ))
}

/// The file and its lines in runs, by the numbers of the merge base.
fn in_file(file: &FileSubtraction, lines: impl IntoIterator<Item = u32>) -> String {
    let mut shown: Vec<String> = runs(lines)
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    let more = shown.len().saturating_sub(6);
    shown.truncate(6);
    let more = if more == 0 { String::new() } else { format!(" and {more} more runs") };
    let note = match (&file.unread, &file.plain) {
        (Some(why), _) => format!(" [the file was not read, since {why}]"),
        (None, Some(why)) => format!(" [read as plain lines: {why}]"),
        (None, None) => String::new(),
    };
    let word = if shown.len() == 1 && !shown[0].contains('-') { "line" } else { "lines" };
    format!("{} {word} {}{more}{note}", wording::name(&file.path), shown.join(" "))
}

fn import_beside_hole(subtraction: &Subtraction) -> Option<Finding> {
    let (_, places) = told(subtraction, |file| &file.import)?;
    let message = format!(
        "the change touches what runs when a file is imported, and the same file has lines that only frozen tests run: {places}"
    );
    Some(Finding::new(&IMPORT_LINE_BESIDE_HOLE, message).at(marked(subtraction, |file| &file.import)))
}

/// How many lines, and where. `None` for none.
fn told(subtraction: &Subtraction, of: impl Fn(&FileSubtraction) -> &Vec<ChangedLine>) -> Option<(usize, String)> {
    let files: Vec<&FileSubtraction> = subtraction.files.iter().filter(|file| !of(file).is_empty()).collect();
    let total: usize = files.iter().map(|file| of(file).len()).sum();
    let place = |file: &&FileSubtraction| {
        let lines: BTreeSet<u32> = of(file).iter().map(|line| line.mark).collect();
        in_file(file, lines)
    };
    let places = wording::list(files.iter().map(place).collect());
    (total > 0).then_some((total, places))
}

fn marked(subtraction: &Subtraction, of: impl Fn(&FileSubtraction) -> &Vec<ChangedLine>) -> Vec<Location> {
    subtraction.files.iter().flat_map(|file| file.places(of(file))).collect()
}

fn without_coverage(map: &ReadMap, subtraction: &Subtraction) -> Option<Finding> {
    let unknown = &map.surface.unknown;
    if unknown.is_empty() {
        return None;
    }
    let names = wording::list(unknown.iter().map(|id| wording::text(id)).collect());
    let tests = wording::count(unknown.len(), "frozen test is", "frozen tests are");
    let message = format!(
        "{tests} not in the coverage map {}, so nobody knows which lines lost an observer: {names}",
        map.origin
    );
    let finding = Finding::new(&FREEZE_WITHOUT_COVERAGE, message);
    if subtraction.lacks_live_observer() {
        let lacking = subtraction.files.iter().flat_map(|file| {
            let frozen = file.overlap.iter().map(|line| &line.line);
            file.places(file.unobserved.iter().filter(|line| line.old_line.is_some()).chain(&file.import).chain(frozen))
        });
        return Some(finding.at(lacking));
    }
    Some(finding.with_verdict(Verdict::Review))
}

fn missing(facts: &Facts<'_>, frozen: &[String], why: &str) -> Option<Finding> {
    no_map(&COVERAGE_MAP_MISSING, facts, frozen, why)
}

fn too_coarse(facts: &Facts<'_>, frozen: &[String], why: &str) -> Option<Finding> {
    no_map(&COVERAGE_MAP_TOO_COARSE, facts, frozen, why)
}

fn no_map(rule: &'static Rule, facts: &Facts<'_>, frozen: &[String], why: &str) -> Option<Finding> {
    let LedgerFacts::Read { origin, .. } = facts.ledger else { return None };
    if frozen.is_empty() || !any_judged(facts.rows) {
        return None;
    }
    let tests = wording::count(frozen.len(), "test is", "tests are");
    let names = wording::list(frozen.iter().map(|id| wording::text(id)).collect());
    Some(Finding::new(rule, format!("{tests} frozen in the freeze ledger {origin}, and {why}: {names}")))
}

/// An incomplete map can hide a line that only frozen tests run.
fn partial(map: &ReadMap, subtraction: &Subtraction, frozen: &[String]) -> Option<Finding> {
    if !map.surface.partial || frozen.is_empty() || !subtraction.lacks_live_observer() {
        return None;
    }
    let message = format!(
        "the tool that made the coverage map {} calls it incomplete, and changed lines have no live observer in it",
        map.origin
    );
    Some(Finding::new(&COVERAGE_MAP_TOO_COARSE, message))
}

fn jitter(map: &ReadMap) -> Option<Finding> {
    let tests = &map.surface.jitter;
    if tests.is_empty() {
        return None;
    }
    let names = wording::list(tests.iter().map(|id| wording::text(id)).collect());
    let count = wording::count(tests.len(), "test", "tests");
    Some(Finding::new(&MAP_JITTER, format!("coverage maps of one commit disagree about {count}: {names}")))
}

fn unobserved(facts: &Facts<'_>, subtraction: &Subtraction) -> Option<Finding> {
    let (total, places) = told(subtraction, |file| &file.unobserved)?;
    let lines = wording::count(total, "changed line is", "changed lines are");
    let message = format!("{lines} run by no test of the coverage map: {places}");
    let finding = Finding::new(&UNOBSERVED_LINES, message).at(marked(subtraction, |file| &file.unobserved));
    Some(match facts.policy.surface.unobserved {
        Unobserved::Report => finding,
        Unobserved::Unscored => finding.with_verdict(Verdict::Unscored),
    })
}

/// Without a map, every line of the product is one of which nobody knows an observer.
fn unobserved_without_map(facts: &Facts<'_>) -> Option<Finding> {
    if facts.policy.surface.unobserved != Unobserved::Unscored {
        return None;
    }
    let finding = wording::over(
        &UNOBSERVED_LINES,
        facts.rows,
        |row| row.class == Class::Product,
        |number, names| {
            let files = wording::count(number, "product file changes", "product files change");
            format!("{files}, and no coverage map says which lines a test runs: {names}")
        },
    );
    finding.map(|finding| finding.with_verdict(Verdict::Unscored))
}

fn deletion_only(facts: &Facts<'_>) -> Option<Finding> {
    if facts.surface.code != CodeChange::OnlyRemoves || facts.policy.surface.deletion_only == DeletionOnly::Score {
        return None;
    }
    let frozen = matches!(facts.ledger, LedgerFacts::Read { ledger, .. } if ledger.live(facts.today).next().is_some());
    let why = if frozen { ", while a freeze is live" } else { "" };
    let finding = wording::over(
        &DELETION_ONLY,
        facts.rows,
        |row| row.class == Class::Product,
        |_, names| format!("code of the product is taken away and no line of code is added{why}: {names}"),
    )?;
    Some(if frozen { finding.with_verdict(Verdict::Unscored) } else { finding })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_never_shown_as_all_or_nothing() {
        for (overlapping, changed, shown) in [
            (1, 1, "entirely, 1 of 1 line"),
            (2, 5, "ratio=0.40, 2 of 5 lines"),
            (1, 3, "ratio=0.33, 1 of 3 lines"),
            (2, 3, "ratio=0.67, 2 of 3 lines"),
            (1, 1_000, "ratio=0.01, 1 of 1000 lines"),
            (999, 1_000, "ratio=0.99, 999 of 1000 lines"),
        ] {
            assert_eq!(share(overlapping, changed), shown);
        }
    }
}
