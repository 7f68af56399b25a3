//! Findings -> verdict -> record.

use evidence_gate::change::{BytePath, Mode, PathChange, Side, Status};
use evidence_gate::evidence::{ClassedRow, Finding, Location, Rule};
use evidence_gate::policy::Class;
use evidence_gate::report::json;
use evidence_gate::score::{
    Digests, Judged, Passed, Record, RepositoryRow, Run, Scope, Subject, decide, record_schema,
};
use evidence_gate::words::{ForgeKind, ObjectId, PullNumber, RepositoryId, Verdict};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

/// A rule as an oracle would name it, one per verdict.
pub fn rule(verdict: Verdict) -> &'static Rule {
    const fn rule(id: &'static str, verdict: Verdict, next: &'static str) -> Rule {
        Rule { id, verdict, when: "a sentence", innocent: "a sentence", next }
    }
    static REVIEW: Rule = rule("seen-only", Verdict::Review, "Nothing.");
    static HOLD: Rule = rule("sample-hold", Verdict::Hold, "Ask a maintainer to look at these files.");
    static UNSCORED: Rule =
        rule("sample-unscored", Verdict::Unscored, "Bring the missing evidence to the base branch.");
    static REJECT: Rule = rule("sample-reject", Verdict::Reject, "Take these files out of the pull request.");
    match verdict {
        Verdict::Review => &REVIEW,
        Verdict::Hold => &HOLD,
        Verdict::Unscored => &UNSCORED,
        Verdict::Reject => &REJECT,
    }
}

pub fn id(digit: char) -> ObjectId {
    digit.to_string().repeat(40).parse().unwrap()
}

pub fn subject() -> Subject {
    Subject {
        forge: ForgeKind::Github,
        repository: RepositoryRow { id: Some(RepositoryId(42)), name: "acme/widgets".into() },
        pull: Some(PullNumber(7)),
        base_ref: "main".into(),
        base: format!("ba5e{}", "0".repeat(36)).parse().unwrap(),
        head: format!("4ead{}", "1".repeat(36)).parse().unwrap(),
        merge_base: Some(format!("3e6e{}", "2".repeat(36)).parse().unwrap()),
        merged_tree: Some(format!("73ee{}", "3".repeat(36)).parse().unwrap()),
    }
}

pub fn run() -> Run {
    Run {
        started: "2026-09-21T10:00:00Z".into(),
        finished: "2026-09-21T10:00:01Z".into(),
        runner: "runner-1".into(),
        host_version: "0.1.0".into(),
    }
}

pub fn digests() -> Digests {
    Digests { policy: Some("d16e57".repeat(10) + "cafe"), ..Digests::default() }
}

/// A changed file as a test tells it: status, path, class.
pub type Row<'a> = (Status, &'a [u8], Class);

pub fn path_change(status: Status, path: &[u8]) -> PathChange {
    let side = |digit| Some(Side { path: BytePath::new(path), mode: Mode::FILE, blob: id(digit) });
    PathChange {
        status,
        old: side('1').filter(|_| status != Status::Added),
        new: side('2').filter(|_| status != Status::Deleted),
    }
}

pub fn record_of(subject: Subject, rows: &[Row<'_>], findings: Vec<Finding>, judged: Judged<'static>) -> Record {
    let changes: Vec<PathChange> = rows.iter().map(|(status, path, _)| path_change(*status, path)).collect();
    let classed: Vec<ClassedRow<'_>> =
        changes.iter().zip(rows).map(|(row, (_, _, class))| ClassedRow { row, class: *class }).collect();
    Record::new(subject, Judged { rows: &classed, findings, ..judged }, run())
}

/// A record with the default subject, digests and scope.
pub fn record(rows: &[Row<'_>], findings: Vec<Finding>) -> Record {
    let judged = Judged { digests: digests(), not_observed: not_observed(), ..Judged::default() };
    let mut record = record_of(subject(), rows, findings, judged);
    record.product.version = "0.1.0".into(); // the snapshots outlive a release
    record
}

pub fn not_observed() -> Vec<String> {
    vec!["freeze ledger: none on the base".into(), "coverage map: none".into()]
}

pub const PRODUCT: Row<'static> = (Status::Modified, b"src/login.rs", Class::Product);
pub const FIXTURE: Row<'static> = (Status::Modified, b"tests/fixtures/fees.json", Class::Fixture);

pub fn at(path: &[u8]) -> Location {
    Location::file(&BytePath::new(path))
}

pub fn finding(verdict: Verdict, message: &str, paths: &[&[u8]]) -> Finding {
    Finding::new(rule(verdict), message).at(paths.iter().map(|path| at(path)))
}

#[test]
fn the_worst_finding_decides() {
    use Verdict::{Hold, Reject, Review, Unscored};
    for (verdicts, worst) in [
        (&[][..], Review),
        (&[Review], Review),
        (&[Review, Hold], Hold),
        (&[Hold, Unscored, Review], Unscored),
        (&[Unscored, Reject, Hold], Reject),
    ] {
        let findings: Vec<Finding> = verdicts.iter().map(|v| finding(*v, "m", &[])).collect();
        assert_eq!(decide(&findings), worst, "{verdicts:?}");
    }
}

#[test]
fn a_title_begins_with_the_verdict_and_names_rule_and_path() {
    let title = |findings| record(&[PRODUCT, FIXTURE], findings).title;
    let fees: &[u8] = b"tests/fixtures/fees.json";
    assert_snapshot!(title(vec![finding(Verdict::Reject, "m", &[fees])]), @"REJECT: sample-reject: tests/fixtures/fees.json");
    assert_snapshot!(title(vec![finding(Verdict::Reject, "m", &[fees, b"b", b"c"])]), @"REJECT: sample-reject: b and 2 more");
    assert_snapshot!(title(vec![finding(Verdict::Hold, "m", &[b"Cargo.toml"]), finding(Verdict::Hold, "m", &[b"Cargo.lock"])]), @"HOLD: sample-hold: Cargo.lock; 1 more finding");
    assert_snapshot!(title(vec![finding(Verdict::Unscored, "freeze overlap ratio=0.40, 2 of 5 lines", &[])]), @"UNSCORED: sample-unscored: freeze overlap ratio=0.40, 2 of 5 lines");
    let line = Finding::new(rule(Verdict::Reject), "m").at([Location::line(&BytePath::new(*b"src/lib.rs"), 12)]);
    assert_snapshot!(title(vec![line]), @"REJECT: sample-reject: src/lib.rs:12");
}

#[test]
fn a_reviews_title_says_what_was_seen() {
    let allowed: Row<'_> = (Status::Modified, b"README.md", Class::Allowed);
    assert_snapshot!(record(&[allowed, PRODUCT, PRODUCT, PRODUCT], vec![]).title, @"Evidence intact: 3 product files, 1 allowed");
    assert_snapshot!(record(&[allowed], vec![]).title, @"Evidence intact: 1 allowed file");
}

#[test]
fn a_pull_request_out_of_scope_says_so_and_claims_no_observation() {
    let judged = Judged {
        digests: digests(),
        scope: Scope::NotGated("no pattern of scope.authors or scope.branches matches".into()),
        ..Judged::default()
    };
    let record = record_of(subject(), &[FIXTURE], vec![finding(Verdict::Reject, "m", &[])], judged);
    assert_eq!(record.verdict, Verdict::Review);
    assert_snapshot!(record.title, @"Not gated: no pattern of scope.authors or scope.branches matches");
    assert_eq!(
        record.not_observed,
        ["everything: this pull request is not gated (no pattern of scope.authors or scope.branches matches)"]
    );
}

#[test]
fn a_hostile_name_makes_one_short_line() {
    let long = [b"a/".to_vec(), vec![b'x'; 4_000], b"\n::error::/end.rs\xff\xe2\x80\xae".to_vec()].concat();
    let title = record(&[PRODUCT], vec![finding(Verdict::Reject, "m", &[&long, b"b"])]).title;
    assert_eq!(title.chars().count(), 120);
    assert!(title.starts_with("REJECT: sample-reject: a/xx"), "{title}");
    assert!(title.ends_with(r"\x0a::error::/end.rs\xff\u{202e} and 1 more"), "{title}");
}

/// What is spoilt, and how.
type Spoil = (&'static str, fn(&mut Record));

#[test]
fn only_a_complete_quiet_review_passes() {
    let complete = record(&[PRODUCT], vec![]);
    assert_eq!(complete.passed().map(|passed: Passed<'_>| passed.record().head.clone()), Some(complete.head.clone()));

    let spoil: [Spoil; 12] = [
        ("head", |r| r.head = "HEAD".into()),
        ("null head", |r| r.head = "0".repeat(40)),
        ("base", |r| r.base.clear()),
        ("merge base", |r| r.merge_base = None),
        ("merged tree", |r| r.merged_tree = None),
        ("policy", |r| r.digests.policy = None),
        ("policy that is no digest", |r| r.digests.policy = Some(String::new())),
        ("rows", |r| r.rows.clear()),
        ("hold", |r| r.verdict = Verdict::Hold),
        ("unscored", |r| r.verdict = Verdict::Unscored),
        ("reject", |r| r.verdict = Verdict::Reject),
        ("schema", |r| r.schema = 2),
    ];
    for (what, spoil) in spoil {
        let mut record = complete.clone();
        spoil(&mut record);
        assert!(record.passed().is_none(), "{what}");
    }
    for verdict in [Verdict::Hold, Verdict::Unscored, Verdict::Reject] {
        let mut record = record(&[PRODUCT], vec![finding(verdict, "m", &[])]);
        record.verdict = Verdict::Review;
        assert!(record.passed().is_none(), "a finding that says {verdict} under a verdict that says review");
    }
}

#[test]
fn a_review_that_knows_too_little_is_unscored_and_says_what_is_missing() {
    let nothing = Subject { merge_base: None, merged_tree: None, ..subject() };
    let record = record_of(nothing, &[], vec![], Judged::default());
    assert_eq!(record.verdict, Verdict::Unscored);
    assert_snapshot!(record.title, @"UNSCORED: record-incomplete: the record has no merge base, no merged tree, no digest of the policy, no changed file");
}

#[test]
fn our_own_failure_is_unscored_with_its_reason() {
    let record = Record::unscored(subject(), "git could not fetch the head within 120 s", run());
    assert_eq!(record.verdict, Verdict::Unscored);
    assert_snapshot!(record.title, @"UNSCORED: could-not-judge: git could not fetch the head within 120 s");
    assert!(record.passed().is_none());
}

#[test]
fn a_record_says_every_row_and_the_bytes_that_are_no_text() {
    let rows: [Row<'_>; 3] = [
        (Status::Added, b"src/new.rs", Class::Product),
        (Status::Deleted, b"tests/old.rs", Class::Test),
        (Status::Unparsed(b'X'), b"odd\xff\n", Class::Other),
    ];
    let record = record(&rows, vec![finding(Verdict::Hold, "m", &[b"tests/old.rs"])]);
    let value: Value = serde_json::from_str(&json(&record)).unwrap();
    insta::assert_json_snapshot!(value["rows"], @r#"
    [
      {
        "status": "A",
        "old_path": null,
        "path": "src/new.rs",
        "old_mode": null,
        "mode": "100644",
        "class": "product"
      },
      {
        "status": "D",
        "old_path": "tests/old.rs",
        "path": "tests/old.rs",
        "old_mode": "100644",
        "mode": null,
        "class": "test"
      },
      {
        "status": "X",
        "old_path": "odd\\xff\n",
        "path": "odd\\xff\n",
        "old_mode": "100644",
        "mode": "100644",
        "class": "other"
      }
    ]
    "#);
}

#[test]
fn equal_inputs_make_equal_bytes_but_for_the_run() {
    let one = record(&[PRODUCT], vec![finding(Verdict::Hold, "m", &[b"a"])]);
    let mut two = record(&[PRODUCT], vec![finding(Verdict::Hold, "m", &[b"a"])]);
    assert_eq!(json(&one), json(&two));
    two.run.runner = "runner-2".into();
    assert_ne!(json(&one), json(&two));
    two.run = one.run.clone();
    assert_eq!(json(&one), json(&two));
}

#[test]
fn the_schema_refuses_a_key_too_many_and_a_key_too_few() {
    let schema = jsonschema::draft202012::new(&record_schema()).unwrap();
    let record = record(&[PRODUCT, FIXTURE], vec![finding(Verdict::Reject, "m", &[b"tests/fixtures/fees.json"])]);
    let value = serde_json::to_value(&record).unwrap();
    assert!(schema.is_valid(&value));
    for key in value.as_object().unwrap().keys() {
        let mut without = value.clone();
        without.as_object_mut().unwrap().remove(key);
        assert!(!schema.is_valid(&without), "{key} may be left out");
    }
    let mut more = value.clone();
    more["findings"][0]["severity"] = "low".into();
    assert!(!schema.is_valid(&more));
    let mut other = value;
    other["verdict"] = "neutral".into();
    assert!(!schema.is_valid(&other));
}

fn any_verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![Just(Verdict::Review), Just(Verdict::Hold), Just(Verdict::Unscored), Just(Verdict::Reject)]
}

fn any_finding() -> impl Strategy<Value = Finding> {
    (any_verdict(), "[a-c]{1,3}", prop::collection::vec(prop::collection::vec(any::<u8>(), 1..4), 0..3)).prop_map(
        |(verdict, message, paths)| Finding::new(rule(verdict), message).at(paths.iter().map(|path| at(path))),
    )
}

proptest! {
    #[test]
    fn the_order_of_findings_never_matters(
        (findings, shuffled) in prop::collection::vec(any_finding(), 0..8)
            .prop_flat_map(|findings| (Just(findings.clone()), Just(findings).prop_shuffle())),
    ) {
        prop_assert_eq!(json(&record(&[PRODUCT], findings)), json(&record(&[PRODUCT], shuffled)));
    }

    #[test]
    fn a_further_finding_never_improves_the_verdict(findings in prop::collection::vec(any_finding(), 0..6), more in any_finding()) {
        let before = decide(&findings);
        let after = decide(findings.iter().chain([&more]));
        prop_assert!(after >= before);
    }

    #[test]
    fn findings_stand_worst_first_and_the_title_is_one_line(findings in prop::collection::vec(any_finding(), 0..6)) {
        let record = record(&[PRODUCT], findings);
        prop_assert!(record.findings.windows(2).all(|pair| pair[0].verdict >= pair[1].verdict));
        prop_assert!(record.title.chars().count() <= 120);
        prop_assert!(!record.title.contains('\n'));
        prop_assert_eq!(record.passed().is_some(), record.verdict == Verdict::Review);
    }

    #[test]
    fn a_record_reads_back_as_it_was_written_and_fits_the_schema(findings in prop::collection::vec(any_finding(), 0..4)) {
        let record = record(&[PRODUCT, FIXTURE], findings);
        let read: Record = serde_json::from_str(&json(&record)).unwrap();
        prop_assert_eq!(&read, &record);
        let value: Value = serde_json::from_str(&json(&record)).unwrap();
        prop_assert!(jsonschema::draft202012::is_valid(&record_schema(), &value));
    }
}
