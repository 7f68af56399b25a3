//! Tests that no longer fail when they should: markers, configuration, and product code that knows of tests (DESIGN 4.4).

use super::ledger::LedgerFacts;
use super::markers::{Condition, MarkerKind};
use super::{Facts, Finding, FreshMarker, Location, Oracle, Rule, wording};
use crate::words::Verdict;

pub(super) struct HiddenTests;

macro_rules! rules {
    ($($name:ident = $id:literal, $verdict:ident, $when:literal, $innocent:literal, $next:literal;)*) => {
        $(pub(super) static $name: Rule = Rule { id: $id, verdict: Verdict::$verdict, when: $when, innocent: $innocent, next: $next };)*
        static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    SKIP_MARKER_ADDED = "skip-marker-added", Reject,
        "A skip, xfail, ignore, disabled, todo or early return comes onto a test without a condition, on balance over the whole change. A hold where the base ledger freezes that test.",
        "A test is flaky, and somebody wants quiet: freeze it in the ledger instead, with a reason and a date.",
        "Remove the marker; a test that is known to fail belongs into the freeze ledger, in a pull request of its own.";
    SKIP_MARKER_CONDITIONAL = "skip-marker-conditional", Hold,
        "The same under a condition, such as a platform or a missing tool, on a test that the base has. On an added test it is part of that test.",
        "The test needs something that not every machine has.",
        "A person decides whether the condition is true where the tests are run for real, and a maintainer approves this head.";
    SKIP_RAISED_IN_PRODUCT = "skip-raised-in-product", Reject,
        "Product code raises a test framework's skip, so that a failing path skips the test that takes it.",
        "The product is itself a test framework or a plugin of one: name those files as tests or configuration in the policy.",
        "Let the product report its own errors.";
    FOCUS_MARKER_ADDED = "focus-marker-added", Reject,
        "A focus such as `.only`, `fit` or `fdescribe` comes in: the other tests do not run.",
        "It was left behind after debugging.",
        "Remove the focus.";
    TESTS_DISABLED_BY_CONFIG = "tests-disabled-by-config", Reject,
        "A key or an option that deselects, ignores or filters tests comes into a configuration file or into the command that runs the tests, or a list of what to run gets shorter.",
        "Tests move, or slow ones run in a job of their own.",
        "Take the key back; a maintainer changes what is run, in a pull request of its own.";
    TEST_OUTCOME_FORCED = "test-outcome-forced", Reject,
        "A hook, a plugin, a `TestMain` or an exit in test code sets outcomes or the exit code.",
        "A wrapper that reports outcomes elsewhere, and changes none.",
        "Remove it; what the tests say must reach the runner as it is.";
    CI_FAILURE_MASKED = "ci-failure-masked", Reject,
        "A step or script that runs tests can no longer fail: `|| true`, `continue-on-error`, an accepted exit code.",
        "An experimental job that is not required.",
        "Let the step fail when its tests fail; a job that may fail must not run the tests that count.";
    SNAPSHOT_UPDATE_ENABLED = "snapshot-update-enabled", Reject,
        "A test run rewrites its own snapshots, so that they always agree.",
        "A script for people that updates snapshots on purpose, under a name of its own that no check runs.",
        "Remove the option from what checks the product.";
    RETRIES_RAISED = "retries-raised", Hold,
        "Retries, time limits or tolerances go up, or thresholds go down.",
        "A slower machine, or a test of something slow.",
        "A person decides whether the tests still ask for the same, and a maintainer approves this head.";
    COVERAGE_EXCLUSION_ADDED = "coverage-exclusion-added", Hold,
        "Lines are kept out of the coverage: by a comment, an attribute or a key.",
        "Code that no test can reach.",
        "A person looks at what is no longer counted, and a maintainer approves this head.";
    TEST_ENVIRONMENT_PROBE = "test-environment-probe", Hold,
        "Product code asks whether a test or the gate itself is running.",
        "A switch for a debug build, or help for the tests of a library's users.",
        "A person makes sure that the product does the same with and without tests, and a maintainer approves this head.";
    EXIT_ZERO_IN_PRODUCT = "exit-zero-in-product", Hold,
        "Product code ends the process with success at import, at exit, in a handler, or in a function that a test may call.",
        "A command line that has done its work.",
        "A person makes sure that no test run can end there, and a maintainer approves this head.";
    EQUALITY_OVERRIDE = "equality-override", Hold,
        "Product code makes a type equal to everything.",
        "A unit type without any content.",
        "Compare what makes two values the same.";
    PRODUCT_TOUCHES_EVIDENCE = "product-touches-evidence", Hold,
        "Product code imports or patches a test framework, or opens fixtures, snapshots or the gate's own files.",
        "A library that helps others to test.",
        "A person makes sure that the product does not change what judges it, and a maintainer approves this head.";
    UNREAD_FILE = "unread-file", Hold,
        "A changed file whose content matters here is too large to be read, or its content is missing.",
        "A large generated file that the policy does not name as generated.",
        "Name the file in the policy as what it is, or let a person look at it.";
}

/// More findings of one rule than this are put together.
const SEPARATE: usize = 40;

impl Oracle for HiddenTests {
    fn rules(&self) -> &'static [&'static Rule] {
        ALL
    }

    fn judge(&self, facts: &Facts<'_>) -> Vec<Finding> {
        let mut findings: Vec<Finding> = facts.analysis.markers.iter().map(|fresh| finding(facts, fresh)).collect();
        findings.extend(facts.analysis.unread.iter().map(|(path, why)| {
            Finding::new(&UNREAD_FILE, format!("{} was not read: {why}", wording::name(path)))
                .at([Location::file(path)])
        }));
        for rule in ALL {
            together(rule, &mut findings);
        }
        findings
    }
}

fn finding(facts: &Facts<'_>, fresh: &FreshMarker) -> Finding {
    let marker = &fresh.marker;
    let rule = rule(marker.kind, &marker.condition);
    let spelling = wording::text(&marker.spelling);
    let path = wording::name(&fresh.path);
    let on = if marker.scope.is_empty() { String::new() } else { format!(" on `{}`", wording::text(&marker.scope)) };
    let when = match &marker.condition {
        Condition::When(condition) if !condition.is_empty() && !marker.spelling.contains(condition.as_str()) => {
            format!(", when `{}`", wording::text(condition))
        }
        Condition::Always | Condition::When(_) => String::new(),
    };
    let text = fresh.as_text.as_ref().map(|why| format!(" ({})", wording::text(why))).unwrap_or_default();
    let message = format!("{path}:{}: `{spelling}`{on}{when} is new{text}", marker.line);
    let finding = Finding::new(rule, message).at([Location::line(&fresh.path, marker.line)]);
    if std::ptr::eq(rule, &raw const SKIP_MARKER_CONDITIONAL) {
        return finding.with_verdict(facts.policy.markers.conditional.verdict());
    }
    let hidden = &marker.tests;
    let all_frozen = !hidden.is_empty() && hidden.iter().all(|test| is_frozen(facts, &fresh.path.to_string(), test));
    if rule.id == SKIP_MARKER_ADDED.id && all_frozen {
        return finding.with_verdict(Verdict::Hold);
    }
    finding
}

/// Whether the base ledger freezes a test: a freeze is a hole and not a licence to skip, so the marker waits for a person.
fn is_frozen(facts: &Facts<'_>, path: &str, test: &str) -> bool {
    let LedgerFacts::Read { ledger, .. } = facts.ledger else { return false };
    ledger.live(facts.today).any(|freeze| {
        let id = freeze.nodeid.split(['[', '|']).next().unwrap_or("");
        id == format!("{path}::{test}") || (!id.contains('/') && (id == test || id.ends_with(&format!("::{test}"))))
    })
}

fn rule(kind: MarkerKind, condition: &Condition) -> &'static Rule {
    match (kind, condition) {
        (MarkerKind::Skip, Condition::When(_)) => &SKIP_MARKER_CONDITIONAL,
        (MarkerKind::Skip | MarkerKind::Inverted, _) => &SKIP_MARKER_ADDED,
        (MarkerKind::Focus, _) => &FOCUS_MARKER_ADDED,
        (MarkerKind::Retry, _) => &RETRIES_RAISED,
        (MarkerKind::Forced, _) => &TEST_OUTCOME_FORCED,
        (MarkerKind::Disabled, _) => &TESTS_DISABLED_BY_CONFIG,
        (MarkerKind::SkipInProduct, _) => &SKIP_RAISED_IN_PRODUCT,
        (MarkerKind::Coverage, _) => &COVERAGE_EXCLUSION_ADDED,
        (MarkerKind::Probe, _) => &TEST_ENVIRONMENT_PROBE,
        (MarkerKind::ExitZero, _) => &EXIT_ZERO_IN_PRODUCT,
        (MarkerKind::Equality, _) => &EQUALITY_OVERRIDE,
        (MarkerKind::Touches, _) => &PRODUCT_TOUCHES_EVIDENCE,
        (MarkerKind::Snapshot, _) => &SNAPSHOT_UPDATE_ENABLED,
        (MarkerKind::Masked, _) => &CI_FAILURE_MASKED,
    }
}

/// Puts the findings of one rule together where they are too many to be read one by one.
fn together(rule: &'static Rule, findings: &mut Vec<Finding>) {
    let of_rule = |finding: &Finding| finding.rule.id == rule.id && finding.verdict == rule.verdict;
    let number = findings.iter().filter(|finding| of_rule(finding)).count();
    if number <= SEPARATE {
        return;
    }
    let (same, rest): (Vec<Finding>, Vec<Finding>) = std::mem::take(findings).into_iter().partition(of_rule);
    *findings = rest;
    let first = same.first().map(|finding| finding.message.clone()).unwrap_or_default();
    let places = same.into_iter().flat_map(|finding| finding.locations);
    findings.push(Finding::new(rule, format!("{first}, and {} more", number - 1)).at(places));
}
