//! See the room of this name.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use evidence_gate::change::{BytePath, Mode, PathChange, Side, Status};
use evidence_gate::classes::{Classifier, Origin, bad_path};
use evidence_gate::policy::{Class, Policy, parse};
use proptest::prelude::*;
use serde::Deserialize;

fn policy(text: &str) -> Policy {
    parse(&format!("schema = 1\n{text}"), "policy.toml").unwrap()
}

fn class_under(text: &str, path: &str) -> Class {
    Classifier::new(&policy(text)).class(&BytePath::new(path))
}

#[derive(Deserialize)]
struct Case {
    path: String,
    class: Option<Class>,
    rule: Option<String>,
}

#[test]
fn every_path_of_the_vectors_has_its_class_or_its_rule() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../vectors/classes.json")).unwrap();
    assert_eq!(cases.len(), 41);
    let classifier = Classifier::new(&Policy::default());
    for case in cases {
        let path = BytePath::new(case.path.clone());
        match (case.class, case.rule.as_deref()) {
            (Some(class), None) => {
                assert_eq!(classifier.class(&path), class, "{}: {:?}", case.path, classifier.classify(&path));
                assert_eq!(bad_path(&path), None, "{}", case.path);
            }
            (None, Some("bad-path")) => assert!(bad_path(&path).is_some(), "{}", case.path),
            // What the base holds decides these; `evidence.rs` asks the oracle.
            (None, Some("evidence-shadowed")) => {}
            other => panic!("{}: {other:?}", case.path),
        }
    }
}

#[test]
fn configuration_that_runs_code_is_held_wherever_it_lies() {
    let classifier = Classifier::new(&Policy::default());
    for path in [
        ".npmrc",
        "packages/a/.npmrc",
        ".husky/pre-commit",
        "eslint.config.mjs",
        ".eslintrc.json",
        "src/site.pth",
        ".pre-commit-config.yaml",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        "CODEOWNERS",
        ".github/CODEOWNERS",
        ".gitattributes",
        "docs/.gitattributes",
        ".gitmodules",
        ".envrc",
        ".vscode/tasks.json",
    ] {
        assert_eq!(classifier.class(&BytePath::new(path)), Class::TestConfig, "{path}");
    }
}

#[test]
fn ordinary_product_files_are_product() {
    let classifier = Classifier::new(&Policy::default());
    for path in [
        "src/quarantine.py",
        "app/tasks.py",
        "src/features/login.tsx",
        "pkg/tools.go",
        "internal/to_string.go",
        "lib/expectations.rb",
        "src/status.rs",
        "src/conftest_loader.py",
        "clap_builder/src/builder/arg.rs",
    ] {
        assert_eq!(classifier.class(&BytePath::new(path)), Class::Product, "{path}");
    }
}

#[test]
fn a_later_class_takes_nothing_from_evidence() {
    let text = "[classes]\nallowed = [\"tests/fixtures/**\", \".evidence-gate.toml\"]\nproduct = [\"**\"]\n";
    assert_eq!(class_under(text, "tests/fixtures/a.json"), Class::Fixture);
    assert_eq!(class_under(text, ".evidence-gate.toml"), Class::Policy);
    assert_eq!(class_under(text, "anything/at/all"), Class::Product);
}

#[test]
fn no_policy_gives_up_what_always_applies() {
    let text = "[classes]\nextends = []\nproduct = [\"**\"]\n";
    assert_eq!(class_under(text, ".evidence-gate.toml"), Class::Policy);
    assert_eq!(class_under(text, "ci/flake_freeze.json"), Class::FreezeLedger);
    assert_eq!(class_under(text, "harness/x"), Class::Oracle);
    assert_eq!(class_under(text, ".github/workflows/ci.yml"), Class::TestConfig);
    assert_eq!(class_under(text, "tests/fixtures/a.json"), Class::Product);
}

#[test]
fn every_path_that_the_policy_names_is_evidence() {
    let text = r#"
[oracles]
root = "checks[1]"
[freeze]
ledger = "ci/known.json"
[fixtures]
lock = "ci/inputs.lock"
[classes]
product = ["**"]
"#;
    assert_eq!(class_under(text, "ci/known.json"), Class::FreezeLedger);
    assert_eq!(class_under(text, "ci/inputs.lock"), Class::Fixture);
    assert_eq!(class_under(text, "checks[1]/properties/x.py"), Class::Oracle);
    assert_eq!(class_under(text, "checks1/properties/x.py"), Class::Product);
    assert_eq!(class_under(text, "other/ci/known.json"), Class::Product);
}

#[test]
fn the_reason_names_the_pattern_and_where_it_stands() {
    let classifier =
        Classifier::new(&policy("[classes]\nallowed = [\n  \"notes/**\",\n]\n[freeze]\nledger = \"x.json\"\n"));
    let reason = |path: &str| {
        let pattern = classifier.classify(&BytePath::new(path)).pattern.unwrap();
        (pattern.text, pattern.origin.to_string(), pattern.origin)
    };
    assert_eq!(reason("notes/a").2, Origin::Policy(Some(4)));
    assert_eq!(reason("notes/a").1, "line 4 of the policy");
    assert_eq!(reason("x.json").1, "`freeze.ledger` of the policy");
    assert_eq!(
        reason("a/conftest.py"),
        ("conftest.py".into(), "the built-in set `python`".into(), Origin::BuiltIn("python"))
    );
    assert_eq!(reason("freeze.json").1, "the built-in patterns that always apply");
    assert_eq!(classifier.classify(&BytePath::new("unheard-of")).pattern, None);
}

#[test]
fn a_name_that_is_no_text_is_evidence_by_its_folder_and_never_product() {
    let classifier = Classifier::new(&policy("[classes]\nproduct = [\"**\"]\n"));
    assert_eq!(classifier.class(&BytePath::new(*b"tests/fixtures/\xff.json")), Class::Fixture);
    assert_eq!(classifier.class(&BytePath::new(*b"tests/\xff.py")), Class::Test);
    assert_eq!(classifier.class(&BytePath::new(*b"src/\xff.py")), Class::Other);
    assert_eq!(classifier.classify(&BytePath::new(*b"src/\xff.py")).class, Class::Other);
}

#[test]
fn names_that_fold_to_evidence_are_found() {
    let classifier = Classifier::new(&policy("[classes]\nsnapshot = [\"Rec\u{e9}orded/**\"]\n"));
    let folded = |path: &str| classifier.classify_folded(&BytePath::new(path)).map(|classified| classified.class);
    assert_eq!(folded("Tests/Fixtures/a.json"), Some(Class::Fixture));
    assert_eq!(folded("a/B.SNAP"), Some(Class::Snapshot));
    assert_eq!(folded("RECE\u{301}ORDED/x"), Some(Class::Snapshot));
    assert_eq!(folded("src/app.py"), None);
}

#[test]
fn a_row_has_the_first_class_of_its_names() {
    let side = |path: &str| Side { path: BytePath::new(path), mode: Mode::FILE, blob: "1".repeat(40).parse().unwrap() };
    let row = PathChange {
        status: Status::Unparsed(b'R'),
        old: Some(side("tests/fixtures/a.json")),
        new: Some(side("docs/a.json")),
    };
    assert_eq!(Classifier::new(&Policy::default()).class_of(&row), Class::Fixture);
}

#[test]
fn a_policy_with_very_many_patterns_still_classifies() {
    let mut text = "[classes]\nproduct = [\n".to_owned();
    for number in 0..300 {
        writeln!(text, "\"a{number}/**/b*{number}/**/[cd]c/{{x,y}}/*.{number}\",").unwrap();
    }
    text.push_str("]\n");
    assert_eq!(class_under(&text, "a299/q/b-299/w/dc/y/z.299"), Class::Product);
}

/// Parts that matter to some pattern, and some that do not.
fn paths() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("tests"),
        Just("Tests"),
        Just("src"),
        Just("fixtures"),
        Just("lib"),
        Just("docs"),
        Just("oracle"),
        Just("__snapshots__"),
        Just(".github"),
        Just("workflows"),
        Just("a"),
        Just("conftest.py"),
        Just("x.snap"),
        Just("test_a.py"),
        Just("main.rs"),
        Just("README.md"),
        Just("Cargo.lock"),
        Just("\u{e9}"),
        Just("freeze.json"),
    ];
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.join("/"))
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![paths().prop_map(String::into_bytes), prop::collection::vec(any::<u8>(), 0..40)]
}

thread_local! {
    static DEFAULTS: Classifier = Classifier::new(&Policy::default());
}

proptest! {
    #[test]
    fn every_path_has_exactly_one_class_and_always_the_same(bytes in any_bytes()) {
        let path = BytePath::new(bytes);
        DEFAULTS.with(|classifier| {
            let classified = classifier.classify(&path);
            prop_assert_eq!(classified.class, classifier.class(&path));
            prop_assert_eq!(classified.pattern.is_none(), classified.class == Class::Other);
            prop_assert_eq!(&classified, &classifier.classify(&path));
            Ok(())
        })?;
    }

    #[test]
    fn evidence_is_evidence_where_names_fold(path in paths()) {
        DEFAULTS.with(|classifier| {
            let path = BytePath::new(path.clone());
            if classifier.class(&path).is_evidence() {
                prop_assert!(classifier.classify_folded(&path).is_some());
            }
            Ok(())
        })?;
    }

}

proptest! {
    // Each case prepares a policy of its own.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn patterns_of_a_policy_only_ever_add_evidence(
        path in paths(),
        lists in prop::collection::vec((0..12_usize, paths()), 0..4),
    ) {
        let mut text = String::from("[classes]\n");
        let mut used = BTreeSet::new();
        for (class, pattern) in &lists {
            if used.insert(*class) {
                writeln!(text, "{} = [{pattern:?}]", Class::ALL[*class]).unwrap();
            }
        }
        let path = BytePath::new(path);
        let before = DEFAULTS.with(|classifier| classifier.class(&path));
        let after = Classifier::new(&policy(&text)).class(&path);
        prop_assert!(!before.is_evidence() || after.is_evidence(), "{before} became {after} under {text}");
    }

    #[test]
    fn the_order_of_patterns_in_a_class_changes_no_class(path in paths(), mut patterns in prop::collection::vec(paths(), 2..5)) {
        let one = class_under(&format!("[classes]\nallowed = {patterns:?}\n"), &path);
        patterns.reverse();
        let other = class_under(&format!("[classes]\nallowed = {patterns:?}\n"), &path);
        prop_assert_eq!(one, other);
    }
}

/// `cargo test --release --test integration classes::twenty_thousand -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stderr, reason = "a measurement is for reading")]
fn twenty_thousand_paths_take_milliseconds() {
    let started = std::time::Instant::now();
    let classifier = Classifier::new(&Policy::default());
    let built = started.elapsed();
    let paths: Vec<BytePath> = (0..20_000)
        .map(|number| match number % 4 {
            0 => format!("src/module_{}/part_{number}/file.py", number % 200),
            1 => format!("tests/unit/area_{}/test_{number}.py", number % 50),
            2 => format!("packages/p{}/src/deep/er/still/component-{number}.tsx", number % 99),
            _ => format!("assets/raw/{number}.bin"),
        })
        .map(BytePath::new)
        .collect();
    let started = std::time::Instant::now();
    let product = paths.iter().filter(|path| classifier.class(path) == Class::Product).count();
    let classes = started.elapsed();
    let started = std::time::Instant::now();
    let folded = paths.iter().filter(|path| classifier.classify_folded(path).is_some()).count();
    eprintln!(
        "built {built:?}; 20,000 classes in {classes:?} ({product} product); folded in {:?} ({folded})",
        started.elapsed()
    );
    assert_eq!(product, 10_000);
}
