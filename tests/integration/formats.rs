//! What other machines read of a record: SARIF, JUnit, GitHub's annotations, GitLab's code quality.

use std::collections::BTreeSet;

use evidence_gate::change::{BytePath, Status};
use evidence_gate::evidence::{Finding, Location};
use evidence_gate::policy::Class;
use evidence_gate::report::{RULES_PAGE, github, gitlab_codequality, junit, sarif};
use evidence_gate::score::Record;
use evidence_gate::words::Verdict;
use insta::assert_snapshot;
use serde_json::Value;

use crate::score::{FIXTURE, PRODUCT, finding, record, rule};

/// Names that mean something to a shell, a runner, XML, a URI or SARIF.
const HOSTILE: [&[u8]; 9] = [
    b"src/a\n::error file=x::pwned.rs",
    b"src/%0A::stop-commands::x.rs",
    b"src/a,line=1,title=x::y.rs",
    b"src/\x1b[31m]]>--<b a=\"'&.rs",
    b"src/[click](http://example.org) {0}.rs",
    b"a:b/c.rs",
    b"src/\xff.rs",
    "src/\u{202e}sr.\u{ffff}evil.rs".as_bytes(),
    b"##[error]x.rs",
];

fn hostile() -> Record {
    let rows: Vec<_> = HOSTILE.iter().map(|name| (Status::Added, *name, Class::Other)).collect();
    let said = HOSTILE.iter().map(|name| {
        let path = BytePath::new(*name);
        let verdict = if name.starts_with(b"src/a") { Verdict::Reject } else { Verdict::Hold };
        Finding::new(rule(verdict), format!("the file {path} is of no class")).at([Location::lines(&path, 3, 5)])
    });
    record(&rows, said.collect())
}

fn fixture_edited() -> Record {
    let message = "1 fixture changes: tests/fixtures/fees.json";
    record(
        &[PRODUCT, FIXTURE],
        vec![
            finding(Verdict::Reject, message, &[b"tests/fixtures/fees.json"]),
            Finding::new(rule(Verdict::Unscored), "there is no sandbox here"),
        ],
    )
}

fn results(text: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).unwrap();
    assert_eq!(document["version"], "2.1.0");
    document["runs"][0]["results"].as_array().unwrap().clone()
}

#[test]
fn sarif_has_a_result_for_each_place_and_a_rule_with_help_for_each_rule() {
    let text = sarif(&fixture_edited(), RULES_PAGE);
    let document: Value = serde_json::from_str(&text).unwrap();
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().clone();
    let results = results(&text);
    assert_eq!(results.len(), 2);
    for result in &results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert_eq!(rule["helpUri"], format!("{RULES_PAGE}#{}", rule["id"].as_str().unwrap()));
    }
    let place = |result: &Value| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone();
    assert_eq!((place(&results[0]), &results[0]["level"]), ("tests/fixtures/fees.json".into(), &"error".into()));
    // What is about no file stands at the policy, since code scanning takes no result without a place.
    assert_eq!((place(&results[1]), &results[1]["level"]), (".evidence-gate.toml".into(), &"warning".into()));
    assert_eq!(document["runs"][0]["properties"]["verdict"], "reject");
    assert_eq!(document["runs"][0]["invocations"][0]["exitCode"], 1);
}

#[test]
fn a_fingerprint_stays_when_lines_move_and_no_two_are_the_same() {
    let at = |line: u32| {
        let path = BytePath::new("src/a.rs");
        let places = [Location::line(&path, line), Location::line(&path, line + 9)];
        let findings = vec![Finding::new(rule(Verdict::Hold), format!("two places from line {line}")).at(places)];
        sarif(&record(&[PRODUCT], findings), RULES_PAGE)
    };
    let prints = |text: &str| -> Vec<String> {
        let all = results(text);
        all.iter().map(|of| of["partialFingerprints"]["evidenceGate/v1"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(prints(&at(3)), prints(&at(40)));
    assert_ne!(at(3), at(40));
    let all = prints(&sarif(&hostile(), RULES_PAGE));
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), HOSTILE.len());
}

#[test]
fn a_hostile_name_is_a_whole_uri_and_no_link_in_sarif() {
    let text = sarif(&hostile(), RULES_PAGE);
    for result in results(&text) {
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap().to_owned();
        let base = url::Url::parse("https://example.org/root/").unwrap();
        let joined = base.join(&uri).unwrap();
        assert!(joined.as_str().starts_with("https://example.org/root/"), "{uri} leaves the root");
        assert!(uri.is_ascii() && !uri.contains([':', ' ', '[', '"', '\\']), "{uri}");
        let message = result["message"]["text"].as_str().unwrap();
        assert!(!message.contains("[click](") || message.contains("\\[click\\]("), "{message}");
        assert!(!message.replace("{{", "").replace("}}", "").contains(['{', '}']), "{message}");
    }
    assert!(text.is_ascii() || !text.contains(['\u{202e}', '\u{1b}']), "{text}");
}

#[test]
fn annotations_are_one_command_a_line_whatever_a_file_is_called() {
    let text = github(&hostile());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), HOSTILE.len() + 1, "{text}");
    for line in &lines[..HOSTILE.len()] {
        let rest = line.strip_prefix("::error ").or_else(|| line.strip_prefix("::warning ")).unwrap();
        let (properties, message) = rest.split_once("::").unwrap();
        let names: Vec<&str> = properties.split(',').map(|of| of.split_once('=').unwrap().0).collect();
        assert_eq!(names, ["file", "line", "endLine", "title"], "{line}");
        assert!(message.starts_with("the file "), "{line}");
        assert!(!line.contains("##["), "{line}");
    }
    assert!(lines[HOSTILE.len()].starts_with("evidence-gate: REJECT: "), "{text}");
}

#[test]
fn annotations_of_an_ordinary_change_read_well() {
    assert_snapshot!(github(&fixture_edited()), @r"
    ::error file=tests/fixtures/fees.json,title=reject sample-reject::1 fixture changes: tests/fixtures/fees.json. Next: Take these files out of the pull request.
    ::warning file=.evidence-gate.toml,title=unscored sample-unscored::there is no sandbox here. Next: Bring the missing evidence to the base branch.
    evidence-gate: REJECT: sample-reject: tests/fixtures/fees.json
    ");
}

#[test]
fn code_quality_has_one_issue_a_place_with_a_severity_and_a_fingerprint_of_its_own() {
    let issues: Vec<Value> = serde_json::from_str(&gitlab_codequality(&fixture_edited())).unwrap();
    let severities: Vec<&str> = issues.iter().map(|issue| issue["severity"].as_str().unwrap()).collect();
    assert_eq!(severities, ["blocker", "critical"]);
    assert_eq!(
        issues[0]["location"],
        serde_json::json!({"path": "tests/fixtures/fees.json", "lines": {"begin": 1, "end": 1}})
    );
    let issues: Vec<Value> = serde_json::from_str(&gitlab_codequality(&hostile())).unwrap();
    let prints: BTreeSet<&str> = issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    assert_eq!(prints.len(), HOSTILE.len());
    assert_eq!(gitlab_codequality(&record(&[PRODUCT], vec![])), "[]\n");
}

#[test]
fn the_junit_report_is_one_that_the_gate_itself_can_read() {
    let text = junit(&hostile());
    let cases = evidence_gate::evidence::junit::read(text.as_bytes()).unwrap();
    assert_eq!(cases.len(), HOSTILE.len() + 1);
    assert!(cases.iter().all(|case| case.failures.len() == 1), "every case fails");
    let text = junit(&record(&[PRODUCT], vec![]));
    let cases = evidence_gate::evidence::junit::read(text.as_bytes()).unwrap();
    assert_eq!((cases.len(), cases[0].failures.len()), (1, 0));
    assert!(text.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{text}");
    assert!(
        junit(&fixture_edited()).contains("tests=\"3\" failures=\"2\" errors=\"1\""),
        "{}",
        junit(&fixture_edited())
    );
}

/// The schema as its authors publish it, brought by `tests/formats/install.sh`.
#[test]
#[ignore = "needs `sh tests/formats/install.sh`"]
fn sarif_is_what_its_published_schema_asks_for() {
    let path = "tests/formats/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json";
    let schema = std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    for record in [hostile(), fixture_edited(), record(&[PRODUCT], vec![])] {
        let document: Value = serde_json::from_str(&sarif(&record, RULES_PAGE)).unwrap();
        let faults: Vec<String> =
            validator.iter_errors(&document).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }
    let wrong = serde_json::json!({"version": "2.1.0", "runs": [{"results": []}]});
    assert!(!validator.is_valid(&wrong), "the schema does not ask for anything");
}
