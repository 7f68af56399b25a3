//! Keys of Maven, Gradle and JUnit's properties.

use super::Side;
use crate::evidence::markers::config::entries::Entry;
use crate::evidence::markers::marker::MarkerKind;

pub(super) fn pom(entry: &Entry, side: &mut Side) {
    let key = entry.dotted();
    let on = entry.value == "true";
    let runner = ["plugin", "properties", "configuration"].iter().any(|k| key.contains(k));
    match entry.last() {
        "skipTests"
        | "maven.test.skip"
        | "skipITs"
        | "skipUnitTests"
        | "testFailureIgnore"
        | "maven.test.failure.ignore"
        | "skipIfNoTests"
            if on =>
        {
            let kind = if entry.last().contains("ailure") { MarkerKind::Masked } else { MarkerKind::Disabled };
            side.mark_value(kind, entry);
        }
        "rerunFailingTestsCount" | "forkedProcessTimeoutInSeconds" | "surefire.rerunFailingTestsCount" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        "exclude" | "excludedGroups"
            if runner && !entry.value.is_empty() && !key.contains("jacoco") && !key.contains("exclusion") =>
        {
            let test = entry.value.contains("Test")
                || entry.value.contains("IT")
                || entry.last() == "excludedGroups"
                || entry.value.contains("test");
            if test {
                side.mark_value(MarkerKind::Disabled, entry);
            } else {
                side.mark_value(MarkerKind::Coverage, entry);
            }
        }
        "failIfNoTests" if entry.value == "false" => side.mark_value(MarkerKind::Retry, entry),
        _ => {}
    }
}

pub(super) fn gradle(entry: &Entry, side: &mut Side) {
    const CHOOSES: &[&str] = &[
        "excludeTags",
        "excludeTestsMatching",
        "excludeEngines",
        "excludeGroups",
        "excludeCategories",
        "test.enabled = false",
        "-x test",
    ];
    let code: String = entry.value.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = code.replace(' ', "");
    let in_test = entry.key.iter().any(|k| k.to_ascii_lowercase().contains("test"));
    let forgives = flat.contains("ignoreFailures=true")
        || flat.contains("setIgnoreFailures(true)")
        || flat.contains("isIgnoreFailures=true");
    let leaves_out = code.starts_with("exclude ")
        || code.starts_with("exclude(")
        || flat == "enabled=false"
        || code.starts_with("onlyIf")
        || code.contains("includeTestsMatching");
    let short = || code.chars().take(120).collect::<String>();
    if forgives {
        side.mark(MarkerKind::Masked, entry, short());
    } else if CHOOSES.iter().any(|word| code.contains(word)) || (in_test && leaves_out) {
        side.mark(MarkerKind::Disabled, entry, short());
    } else if ["maxRetries", "maxFailures", "failOnPassedAfterRetry"].iter().any(|word| code.contains(word)) {
        let amount = code.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok();
        let name = code.split(['=', '(']).next().unwrap_or("").trim().to_owned();
        side.mark(MarkerKind::Retry, entry, name).amount = amount;
    }
}

pub(super) fn properties(entry: &Entry, side: &mut Side) {
    match entry.last() {
        "junit.jupiter.execution.timeout.default" | "systemProp.retries" => side.mark_value(MarkerKind::Retry, entry),
        "skipTests" | "maven.test.skip" if entry.value != "false" => side.mark_value(MarkerKind::Disabled, entry),
        "junit.jupiter.extensions.autodetection.enabled" if entry.value == "true" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        _ => {}
    }
}
