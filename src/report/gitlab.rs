//! Record -> GitLab code quality.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>

use serde_json::{Value, json};

use super::json::safe;
use super::places::{Placed, placed};
use crate::score::{Record, visible};
use crate::words::Verdict;

/// A list with one issue for each place of each finding. Fingerprints are unique within the list and stay from push to push.
pub fn gitlab_codequality(record: &Record) -> String {
    let issues: Vec<Value> = placed(record).iter().map(issue).collect();
    safe(&serde_json::to_string_pretty(&issues).expect("a JSON value can always be printed"))
}

fn issue(placed: &Placed<'_>) -> Value {
    let finding = placed.finding;
    let said = format!(
        "{} {}: {}. Next: {}",
        finding.verdict,
        finding.rule,
        finding.message.trim_end_matches('.'),
        finding.next
    );
    json!({
        "description": visible(&said),
        "check_name": finding.rule,
        "fingerprint": placed.fingerprint,
        "severity": severity(finding.verdict),
        "location": {
            "path": placed.path,
            "lines": { "begin": placed.line.unwrap_or(1).max(1), "end": placed.end_line.or(placed.line).unwrap_or(1).max(1) },
        },
    })
}

fn severity(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Review => "info",
        Verdict::Hold => "major",
        Verdict::Unscored => "critical",
        Verdict::Reject => "blocker",
    }
}
