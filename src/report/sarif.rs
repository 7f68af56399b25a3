//! Record -> SARIF 2.1.0, for code scanning and editors.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html>

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::RULES_PAGE;
use super::json::safe;
use super::places::{Placed, placed};
use crate::score::{Record, all_rules, visible};
use crate::words::Verdict;

/// Where the schema is published.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// One run with one result for each place of each finding. A result keeps its fingerprint while its rule speaks of the same place of the
/// same file, whatever else is pushed. `rules_page` is an address as [`RULES_PAGE`].
pub fn sarif(record: &Record, rules_page: &str) -> String {
    let mut rules: Vec<&str> = Vec::new();
    for finding in &record.findings {
        if !rules.contains(&finding.rule.as_str()) {
            rules.push(&finding.rule);
        }
    }
    let results: Vec<Value> = placed(record).iter().map(|placed| result(placed, &rules)).collect();
    let descriptors: Vec<Value> = rules.iter().map(|id| descriptor(id, rules_page)).collect();
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": record.product.name,
                "semanticVersion": record.product.version,
                "informationUri": information(RULES_PAGE),
                "rules": descriptors,
            } },
            "automationDetails": { "id": "evidence-gate/" },
            "invocations": [{
                "executionSuccessful": true,
                "startTimeUtc": record.run.started,
                "endTimeUtc": record.run.finished,
                "exitCode": record.verdict.exit_code(),
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "verdict": record.verdict,
                "title": visible(&record.title),
                "base": record.base,
                "head": record.head,
                "mergeBase": record.merge_base,
                "digests": record.digests,
            },
        }],
    });
    safe(&serde_json::to_string_pretty(&document).expect("a JSON value can always be printed"))
}

/// The project's own page: the rules' address without the file.
fn information(rules_page: &str) -> &str {
    rules_page.split("/blob/").next().unwrap_or(rules_page)
}

fn descriptor(id: &str, rules_page: &str) -> Value {
    let help = format!("{rules_page}#{id}");
    match all_rules().find(|rule| rule.id == id) {
        Some(rule) => json!({
            "id": id,
            "shortDescription": { "text": message(&id.replace('-', " ")) },
            "fullDescription": { "text": message(rule.when) },
            "help": { "text": message(&format!("Innocent when: {} Next: {}", rule.innocent, rule.next)) },
            "helpUri": help,
            "defaultConfiguration": { "level": level(rule.verdict) },
        }),
        // A record of another version may know rules that this one does not.
        None => json!({ "id": id, "helpUri": help }),
    }
}

fn result(placed: &Placed<'_>, rules: &[&str]) -> Value {
    let finding = placed.finding;
    let mut place = json!({ "artifactLocation": { "uri": uri(&placed.path), "uriBaseId": "%SRCROOT%" } });
    if let Some(line) = placed.line {
        place["region"] =
            json!({ "startLine": line.max(1), "endLine": placed.end_line.unwrap_or(line).max(line).max(1) });
    } else {
        place["region"] = json!({ "startLine": 1 });
    }
    json!({
        "ruleId": finding.rule,
        "ruleIndex": rules.iter().position(|rule| *rule == finding.rule),
        "level": level(finding.verdict),
        "message": { "text": message(&format!("{}. Next: {}", finding.message.trim_end_matches('.'), finding.next)) },
        "locations": [{ "physicalLocation": place }],
        "partialFingerprints": { "evidenceGate/v1": placed.fingerprint },
        "properties": { "verdict": finding.verdict },
    })
}

fn level(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Review => "note",
        Verdict::Hold | Verdict::Unscored => "warning",
        Verdict::Reject => "error",
    }
}

/// Text in which nothing is a link or a placeholder: brackets are escaped and braces doubled (sections 3.11.5 and 3.11.6).
fn message(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in visible(text).chars() {
        match sign {
            '[' | ']' | '\\' => out.extend(['\\', sign]),
            '{' | '}' => out.extend([sign, sign]),
            sign => out.push(sign),
        }
    }
    out
}

/// A relative reference (RFC 3986): only letters, digits, `-._~` and slashes stand for themselves.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            byte => write!(out, "%{byte:02X}").expect("writing to a String cannot fail"),
        }
    }
    out
}
