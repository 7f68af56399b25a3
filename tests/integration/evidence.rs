//! See the room of this name. Here: the rules about paths.

use std::fmt::Write as _;

use evidence_gate::change::{BytePath, Change, Mode, PathChange, Side, Status};
use evidence_gate::classes::Classifier;
use evidence_gate::evidence::surface::{MapFacts, SurfaceFacts};
use evidence_gate::evidence::{
    Blob, Blobs, ClassedRow, Comparison, Facts, Finding, Merge, RulesFrom, Runs, Twin, analyse, judge, judge_runs,
    paths_to_look_up, rules, symlink_blobs,
};
use evidence_gate::policy::{Class, Policy, parse};
use evidence_gate::words::{ObjectId, Verdict};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde::Deserialize;

/// A change as a story tells it, and what the base holds beside it.
#[derive(Clone)]
struct Story {
    policy: String,
    rules_from: RulesFrom,
    comparison: Comparison,
    merge: Merge,
    rows: Vec<PathChange>,
    /// Files and folders at the base tip.
    base: Vec<String>,
    blobs: Blobs,
}

/// A change with a policy, and nothing in it yet.
fn change() -> Story {
    Story {
        policy: String::new(),
        rules_from: RulesFrom::Read(".evidence-gate.toml".to_owned()),
        comparison: Comparison::One,
        merge: Merge::Clean,
        rows: Vec::new(),
        base: Vec::new(),
        blobs: Blobs::default(),
    }
}

/// An object id made from a text.
fn blob(text: &str) -> ObjectId {
    let mut digits = String::new();
    for byte in text.bytes().take(20) {
        write!(digits, "{byte:02x}").unwrap();
    }
    format!("{digits:0<40}").parse().unwrap()
}

fn side(path: &[u8], mode: Mode, content: &str) -> Side {
    Side { path: BytePath::new(path), mode, blob: blob(content) }
}

impl Story {
    fn under(mut self, policy: &str) -> Self {
        policy.clone_into(&mut self.policy);
        self
    }

    fn base_has(mut self, path: &str) -> Self {
        self.base.push(path.to_owned());
        self
    }

    fn row(mut self, status: Status, old: Option<Side>, new: Option<Side>) -> Self {
        self.rows.push(PathChange { status, old, new });
        self
    }

    fn adds(self, path: &str) -> Self {
        self.adds_content(path, path)
    }

    fn adds_content(self, path: &str, content: &str) -> Self {
        self.row(Status::Added, None, Some(side(path.as_bytes(), Mode::FILE, content)))
    }

    fn modifies(self, path: &str) -> Self {
        let (old, new) = (side(path.as_bytes(), Mode::FILE, "old"), side(path.as_bytes(), Mode::FILE, "new"));
        self.row(Status::Modified, Some(old), Some(new))
    }

    fn deletes(self, path: &str) -> Self {
        self.deletes_content(path, path)
    }

    fn deletes_content(self, path: &str, content: &str) -> Self {
        self.row(Status::Deleted, Some(side(path.as_bytes(), Mode::FILE, content)), None)
    }

    fn links(mut self, path: &str, target: &str) -> Self {
        self.blobs.0.insert(blob(target), Blob::Whole(target.as_bytes().into()));
        self.row(Status::Added, None, Some(side(path.as_bytes(), Mode::SYMLINK, target)))
    }

    /// What the tree of the base holds under names that fold to the same, as the pipeline looks it up.
    fn twins(&self) -> Vec<Twin> {
        let fold = |text: &str| evidence_gate::change::fold_text(text);
        let mut twins = Vec::new();
        for path in paths_to_look_up(&self.rows, &self.blobs) {
            let Some(text) = path.as_str() else { continue };
            for file in &self.base {
                if fold(file) == fold(text) {
                    let base = BytePath::new(file.clone());
                    twins.push(Twin { path: path.clone(), base, mode: Mode::FILE, below: Vec::new() });
                }
            }
            let depth = text.split('/').count();
            let mut folders: Vec<String> = self
                .base
                .iter()
                .filter(|file| file.split('/').count() > depth)
                .map(|file| file.split('/').take(depth).collect::<Vec<_>>().join("/"))
                .filter(|folder| fold(folder) == fold(text))
                .collect();
            folders.sort();
            folders.dedup();
            for folder in folders {
                let below = self.base.iter().filter(|file| file.starts_with(&format!("{folder}/")));
                let below = below.map(|file| BytePath::new(file.clone())).collect();
                twins.push(Twin { path: path.clone(), base: BytePath::new(folder), mode: Mode::TREE, below });
            }
        }
        twins
    }

    fn findings(&self) -> Vec<Finding> {
        let policy = parse(&format!("schema = 1\n{}", self.policy), "policy.toml").unwrap();
        self.findings_under(&policy, &Classifier::new(&policy))
    }

    fn findings_under(&self, policy: &Policy, classifier: &Classifier) -> Vec<Finding> {
        let change = Change {
            base: "b".repeat(40).parse().unwrap(),
            head: "a".repeat(40).parse().unwrap(),
            merge_base: "c".repeat(40).parse().unwrap(),
            merged_tree: None,
            rows: self.rows.clone(),
        };
        let rows: Vec<ClassedRow<'_>> =
            change.rows.iter().map(|row| ClassedRow { row, class: classifier.class_of(row) }).collect();
        let blobs = self.contents();
        let analysis = analyse(policy, &rows, &blobs);
        let facts = Facts {
            policy,
            rules_from: &self.rules_from,
            classifier,
            change: &change,
            comparison: &self.comparison,
            merge: &self.merge,
            rows: &rows,
            twins: &self.twins(),
            blobs: &blobs,
            analysis: &analysis,
            lock: &evidence_gate::evidence::lock::LockFacts::Absent,
            ledger: &evidence_gate::evidence::ledger::LedgerFacts::Absent,
            surface: &SurfaceFacts::without_map(MapFacts::NotNeeded, &rows, &blobs),
            today: jiff::civil::date(2026, 10, 1),
        };
        let mut findings = judge(&facts);
        findings.extend(judge_runs(&facts, &Runs::NoSandbox("a test has none".to_owned())));
        findings
    }

    /// The contents of all files: what the story gave, and for the rest one harmless line that differs where the objects differ.
    fn contents(&self) -> Blobs {
        let mut blobs = self.blobs.clone();
        for side in self.rows.iter().flat_map(|row| [&row.old, &row.new]).flatten().filter(|side| side.mode.is_file()) {
            let line = format!("v_{} = 1\n", side.blob.as_str());
            blobs.0.entry(side.blob.clone()).or_insert_with(|| Blob::Whole(line.as_bytes().into()));
        }
        blobs
    }

    fn verdict(&self) -> Verdict {
        self.findings().iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Review)
    }

    /// The ids of the rules that speak.
    fn rules(&self) -> Vec<&'static str> {
        self.findings().iter().map(|finding| finding.rule.id).collect()
    }

    /// Every finding as a line.
    fn told(&self) -> String {
        let mut lines: Vec<String> = self
            .findings()
            .iter()
            .map(|finding| format!("{} {}: {}", finding.verdict, finding.rule.id, finding.message))
            .collect();
        lines.sort();
        lines.join("\n")
    }
}

#[test]
fn a_product_change_is_a_review() {
    assert_eq!(change().modifies("src/app.py").adds("docs/x.md").told(), "");
}

#[test]
fn edited_evidence_is_told_in_one_sentence() {
    let story = change()
        .modifies("tests/fixtures/a.json")
        .deletes("tests/fixtures/b.json")
        .adds("tests/fixtures/c.json")
        .modifies("src/__snapshots__/x.snap")
        .modifies("flake_freeze.json");
    assert_snapshot!(story.told(), @"reject evidence-edited: 1 freeze ledger, 1 snapshot and 3 fixture files changed: flake_freeze.json, src/__snapshots__/x.snap, tests/fixtures/a.json and 2 more");
    assert_snapshot!(story.findings()[0].next, @"Take these files out of this pull request; evidence changes in one of its own, by a person, with the label `evidence-edit` (`lane.label`) and a maintainer's approval.");
    assert_eq!(story.findings()[0].locations.len(), 5);
}

#[test]
fn a_policy_can_let_a_person_decide_about_added_fixtures() {
    let story = change().under("[fixtures]\nadded = \"hold\"\n").adds("tests/fixtures/c.json");
    assert_snapshot!(story.told(), @"hold evidence-edited: 1 fixture file added: tests/fixtures/c.json");
    assert_eq!(story.clone().modifies("tests/fixtures/a.json").verdict(), Verdict::Reject);
    assert_eq!(story.adds("oracle/x.json").verdict(), Verdict::Reject);
}

#[test]
fn a_policy_can_let_a_person_decide_about_snapshots() {
    let story = change().under("[snapshots]\nedited = \"hold\"\n").modifies("src/x.snap").deletes("src/y.snap");
    assert_snapshot!(story.told(), @"hold evidence-edited: 2 snapshots changed: src/x.snap, src/y.snap");
    let typed = (side(b"src/z.snap", Mode::FILE, "1"), side(b"src/z.snap", Mode::SYMLINK, "2"));
    assert_eq!(story.row(Status::TypeChanged, Some(typed.0), Some(typed.1)).verdict(), Verdict::Reject);
}

#[test]
fn a_row_with_two_names_is_evidence_by_either() {
    let (old, new) = (side(b"tests/fixtures/a.json", Mode::FILE, "1"), side(b"docs/a.json", Mode::FILE, "1"));
    let story = change().row(Status::Unparsed(b'R'), Some(old.clone()), Some(new.clone()));
    assert!(story.rules().contains(&"evidence-edited"));
    assert!(story.rules().contains(&"unparsed-status"));
    let story = change().row(Status::Unparsed(b'R'), Some(new), Some(old));
    assert!(story.rules().contains(&"evidence-edited"));
}

#[test]
fn a_file_in_the_place_of_a_folder_of_evidence_is_refused() {
    for mode in [Mode::FILE, Mode::SYMLINK, Mode::SUBMODULE] {
        let story = change().base_has("tests/fixtures/a.json").row(
            Status::Added,
            None,
            Some(side(b"tests/fixtures", mode, "x")),
        );
        assert!(story.told().contains("reject evidence-shadowed: tests/fixtures takes the place of the folder that holds tests/fixtures/a.json"), "{}", story.told());
    }
    let story = change().base_has("tests/fixtures/a.json").adds("TESTS");
    assert!(story.told().contains("reject evidence-shadowed: TESTS takes the place of"), "{}", story.told());
}

#[test]
fn a_namesake_of_evidence_is_refused_and_a_mere_likeness_held() {
    let story = change().modifies("Tests/Fixtures/a.json");
    assert!(story.told().contains("hold evidence-shadowed: Tests/Fixtures/a.json would match the evidence pattern"));
    let story = story.base_has("tests/fixtures/a.json");
    assert!(story.told().contains(
        "reject evidence-shadowed: Tests/Fixtures/a.json is the same file as the evidence tests/fixtures/a.json"
    ));
    let story = change().base_has("tests/fixtures/caf\u{e9}.json").adds("tests/fixtures/cafe\u{301}.json");
    assert!(story.told().contains("reject evidence-shadowed"), "{}", story.told());
}

#[test]
fn a_link_into_evidence_is_refused_however_it_is_written() {
    for (path, target) in [
        ("src/data", "../tests/fixtures"),
        ("src/data", "../tests/./x/../fixtures/a.json"),
        ("data", "tests/fixtures/a.json"),
        ("a/b/c/data", "../../../freeze.json"),
    ] {
        let story = change().links(path, target);
        assert!(
            story.told().contains("reject evidence-shadowed: the symbolic link"),
            "{path} {target}: {}",
            story.told()
        );
    }
    let chained = change().links("src/one", "two/a.json").links("src/two", "../tests/fixtures");
    assert!(chained.told().contains("reject evidence-shadowed: the symbolic link src/two leads to the evidence tests/fixtures (and 1 more like it)"), "{}", chained.told());
    let folded = change().base_has("tests/fixtures/a.json").links("src/data", "../Tests/Fixtures");
    assert!(folded.told().contains("reject evidence-shadowed"), "{}", folded.told());
}

#[test]
fn a_link_elsewhere_is_held_as_any_link() {
    for target in ["../docs", "/etc/passwd", "../../../x", "data", ".."] {
        let story = change().links("src/data", target);
        assert_eq!(
            story.told(),
            "hold mode-or-type-change: 1 entry is a link or submodule, or changed mode: src/data (symbolic link)",
            "{target}"
        );
    }
    let around = change().base_has("tests/fixtures/a.json").links("src/data", "../tests");
    assert!(
        around
            .told()
            .contains("hold evidence-shadowed: the symbolic link src/data leads to a folder that holds evidence"),
        "{}",
        around.told()
    );
}

#[test]
fn a_link_that_was_not_read_is_no_review_and_no_hold() {
    let mut story = change().links("src/data", "x");
    story.blobs = Blobs::default();
    assert_eq!(story.verdict(), Verdict::Unscored);
    assert_eq!(symlink_blobs(&story.rows).count(), 1);
}

#[test]
fn a_bad_path_is_refused_and_says_why() {
    assert_snapshot!(change().adds("./a.py").adds("src//b.py").adds(".GIT/config").told(), @r#"
    hold unclassified-path: 1 changed path is in no class of the policy: .GIT/config
    reject bad-path: 3 changed paths have names that no repository path may have: "./a.py" has a part `.` or `..`, ".GIT/config" has a part that some machines take for `.git`, "src//b.py" has an empty part
    "#);
}

#[test]
fn too_many_files_are_refused_and_a_moved_file_counts_once() {
    let mut story = change().under("[limits]\nmax_changed_files = 2\n").adds("src/a.py").modifies("src/b.py");
    assert_eq!(story.verdict(), Verdict::Review);
    assert_snapshot!(story.clone().modifies("src/c.py").told(), @"reject too-wide: 3 files change, and the policy allows 2 in one pull request");
    story = change().under("[limits]\nmax_changed_files = 1\n");
    story = story.deletes_content("src/a.py", "same").adds_content("src/b.py", "same");
    assert_eq!(story.verdict(), Verdict::Review);
}

#[test]
fn a_deleted_test_is_removed_and_a_moved_one_rewritten() {
    assert_snapshot!(change().deletes("tests/test_a.py").told(), @"reject test-removed: 1 test file is gone: tests/test_a.py");
    let moved = change().deletes_content("tests/test_a.py", "t").adds_content("tests/unit/test_a.py", "t");
    assert_snapshot!(moved.told(), @"hold test-rewritten: 1 test file moved without a change of its bytes: tests/test_a.py to tests/unit/test_a.py");
    assert_eq!(moved.under("[tests]\nrewritten = \"reject\"\n").verdict(), Verdict::Reject);
    assert_eq!(change().under("[tests]\nremoved = \"hold\"\n").deletes("tests/test_a.py").verdict(), Verdict::Hold);
}

#[test]
fn a_test_that_moves_where_no_runner_looks_is_removed() {
    for to in [
        "src/test_a.py.txt",
        "tests/a_old.py",
        "tests/test_a.py.disabled",
        "docs/test_a.md",
        "tests/generated/test_a.py",
    ] {
        let story = change().deletes_content("tests/test_a.py", "t").adds_content(to, "t");
        assert!(story.rules().contains(&"test-removed"), "{to}: {}", story.told());
    }
    let one_copy = change().deletes_content("tests/test_a.py", "t").deletes_content("tests/test_b.py", "t");
    let one_copy = one_copy.adds_content("tests/test_c.py", "t");
    assert!(one_copy.told().contains("reject test-removed: 1 test file is gone"), "{}", one_copy.told());
}

#[test]
fn a_test_file_that_becomes_a_link_is_removed() {
    let (old, new) = (side(b"tests/test_a.py", Mode::FILE, "1"), side(b"tests/test_a.py", Mode::SYMLINK, "2"));
    assert!(change().row(Status::TypeChanged, Some(old), Some(new)).rules().contains(&"test-removed"));
}

#[test]
fn added_tests_hold_or_are_recorded() {
    let story = change().adds("tests/test_new.py");
    assert_snapshot!(story.told(), @"hold added-test: 1 test file is added: tests/test_new.py");
    let story = story.under("added_tests = \"record\"\n");
    assert_snapshot!(story.told(), @"review added-test: 1 test file is added: tests/test_new.py");
    assert_eq!(story.verdict(), Verdict::Review);
}

#[test]
fn what_agents_may_write_freely_is_no_finding() {
    assert_eq!(change().adds("tests/generated/test_x.py").modifies("tests/generated/test_y.py").told(), "");
}

#[test]
fn held_classes_each_have_a_sentence() {
    let story = change()
        .modifies("conftest.py")
        .modifies(".github/workflows/ci.yml")
        .modifies("pyproject.toml")
        .modifies("Cargo.lock")
        .modifies(".gitattributes")
        .adds("proto/x.pb.go")
        .modifies("tests/test_a.py")
        .adds("assets/logo.bin");
    assert_snapshot!(story.told(), @r#"
    hold attributes-edited: 1 file that steers git changed: .gitattributes
    hold build-edited: 2 build or dependency files changed: Cargo.lock, pyproject.toml
    hold generated-file: 1 generated file changed: proto/x.pb.go
    hold test-config-edited: 2 test, CI or tool configuration files changed: .github/workflows/ci.yml, conftest.py
    hold test-rewritten: 1 existing test file changed: tests/test_a.py (value `v_6f6c640000000000000000000000000000000000` is gone)
    hold unclassified-path: 1 changed path is in no class of the policy: assets/logo.bin
    "#);
}

#[test]
fn a_mode_a_type_a_submodule_and_a_link_are_held() {
    let modes = |path: &[u8], old: Mode, new: Mode, content: [&str; 2]| {
        (Some(side(path, old, content[0])), Some(side(path, new, content[1])))
    };
    let (old, new) = modes(b"src/a.sh", Mode::FILE, Mode::EXECUTABLE, ["x", "x"]);
    let story = change().row(Status::Modified, old, new);
    let (old, new) = modes(b"src/b.sh", Mode::FILE, Mode::EXECUTABLE, ["x", "y"]);
    let story = story.row(Status::Modified, old, new);
    let (old, new) = modes(b"src/c", Mode::FILE, Mode::SUBMODULE, ["x", "y"]);
    let story = story.row(Status::TypeChanged, old, new);
    assert_snapshot!(story.told(), @"hold mode-or-type-change: 3 entries are a link or submodule, or changed mode: src/a.sh (mode 100644 to 100755), src/b.sh (mode 100644 to 100755), src/c (file to submodule)");
    let story = change().row(Status::Added, None, Some(side(b"src/vendored", Mode::SUBMODULE, "x")));
    assert_snapshot!(story.told(), @"hold mode-or-type-change: 1 entry is a link or submodule, or changed mode: src/vendored (submodule)");
    let story = change().row(Status::Added, None, Some(side(b"src/run.sh", Mode::EXECUTABLE, "x")));
    assert_eq!(story.told(), "");
}

#[test]
fn a_module_that_is_imported_in_place_of_another_is_held() {
    for path in [
        "json.py",
        "src/random.py",
        "pytest/__init__.py",
        "tests/unit/datetime.py",
        "tests/hypothesis.py",
        "src/JSON.py",
        "json.cpython-312-x86_64-linux-gnu.so",
        "lib/minitest.rb",
        "spec/json.rb",
        "node_modules/jest/index.js",
        "web/__mocks__/fs.js",
        "src/main/java/org/junit/Assert.java",
        "packages/x/node_modules/@jest/core/a.js",
        "src/PHPUnit/Framework/TestCase.php",
    ] {
        assert!(change().adds(path).rules().contains(&"module-shadowing"), "{path}");
    }
    for path in ["src/app/json.py", "src/app/random.py", "src/jsonx.py", "lib/app/json.rb", "src/fs.js", "docs/json.md"]
    {
        assert_eq!(change().adds(path).told(), "", "{path}");
    }
    assert_eq!(change().modifies("src/random.py").told(), "");
    assert_snapshot!(change().adds("src/random.py").told(), @"hold module-shadowing: 1 added file takes the import name of another module: src/random.py (random)");
}

#[test]
fn what_cannot_be_compared_is_unscored() {
    let mut story = change();
    assert_snapshot!(story.told(), @"hold empty-diff: nothing changes between the merge base and the head");
    story.comparison = Comparison::None;
    story.merge = Merge::Failed("refusing to merge unrelated histories".to_owned());
    assert_snapshot!(story.told(), @"unscored no-merge-base: bbbbbbbbbb and aaaaaaaaaa have no common ancestor");
    story.comparison = Comparison::Several(vec![blob("one"), blob("two")]);
    story.merge = Merge::Clean;
    assert_snapshot!(story.told(), @"unscored several-merge-bases: base and head have 2 best common ancestors: 6f6e650000, 74776f0000");
    let mut story = change().modifies("src/a.py");
    story.merge = Merge::Conflicts(vec![BytePath::new("src/a.py"), BytePath::new("README.md")]);
    assert_snapshot!(story.told(), @"unscored does-not-apply: the head conflicts with the tip of the base branch in 2 files: README.md, src/a.py");
    story.merge = Merge::Failed("git merge-tree ended with 128".to_owned());
    assert_snapshot!(story.told(), @"unscored does-not-apply: the head could not be merged into the tip of the base branch: git merge-tree ended with 128");
}

#[test]
fn without_rules_there_is_no_score() {
    let mut story = change().modifies("src/a.py");
    story.rules_from = RulesFrom::Nowhere;
    assert_snapshot!(story.told(), @"unscored no-policy: there is no .evidence-gate.toml at the tip of the base branch, and the operator has none");
    story.rules_from =
        RulesFrom::Unreadable { origin: ".evidence-gate.toml".into(), why: "line 3: unknown key `x`".into() };
    assert_snapshot!(story.told(), @"unscored policy-unreadable: the policy .evidence-gate.toml cannot be used: line 3: unknown key `x`");
}

#[test]
fn what_a_policy_asks_and_nothing_can_answer_is_never_a_review() {
    let property = "[[property]]\nid = \"p\"\ncommand = [\"python3\", \"p.py\"]\npaths = [\"src/retry/**\"]\n";
    let product = change().modifies("src/a.py");
    assert_snapshot!(product.clone().under(property).told(), @"unscored sandbox-unavailable: the policy asks for 1 property (p), and there is no sandbox here to run them in: a test has none");
    assert_snapshot!(product.clone().under(&format!("[require]\nproperties = \"touched\"\n{property}")).told(), @r#"
    unscored property-uncovered: 1 changed product path is named by no property: src/a.py
    unscored sandbox-unavailable: the policy asks for 1 property (p), and there is no sandbox here to run them in: a test has none
    "#);
    assert_eq!(
        product.clone().under(&format!("[require]\nproperties = \"off\"\n{property}")).verdict(),
        Verdict::Review
    );
    assert_snapshot!(product.clone().under("[tree_tests]\ncommand = [\"pytest\"]\n").told(), @"unscored sandbox-unavailable: the policy asks for the live tests of the merged tree, and there is no sandbox here to run them in: a test has none");
    assert_snapshot!(product.clone().under("[proposal]\nchecks = [\"ci/test\"]\n").told(), @"unscored proposal-unread: the state of the named checks was not read: ci/test");
    assert_snapshot!(product.under("[surface]\nunobserved = \"unscored\"\n").told(), @"unscored unobserved-lines: 1 product file changes, and no coverage map says which lines a test runs: src/a.py");
}

#[test]
fn names_that_would_break_a_sentence_are_written_out() {
    assert_snapshot!(change().adds("assets/a\nb\u{202e}c").told(), @r#"hold unclassified-path: 1 changed path is in no class of the policy: assets/a\x0ab\xe2\x80\xaec"#);
    let bytes = change().row(Status::Added, None, Some(side(b"src/\xff.py", Mode::FILE, "x")));
    assert_snapshot!(bytes.told(), @r#"hold unclassified-path: 1 changed path is in no class of the policy: src/\xff.py"#);
}

#[test]
fn every_rule_says_what_a_maintainer_must_know() {
    let mut ids: Vec<&str> = rules().map(|rule| rule.id).collect();
    for rule in rules() {
        assert!(rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.id);
        for text in [rule.when, rule.innocent, rule.next] {
            assert!(text.ends_with('.') && text.starts_with(char::is_uppercase), "{}: {text}", rule.id);
        }
    }
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "a rule belongs to one oracle");
}

#[derive(Deserialize)]
struct Row {
    status: String,
    path: String,
    rule: Option<String>,
}

#[test]
fn the_vectors_that_name_a_rule_get_it() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../vectors/classes.json")).unwrap();
    let mut asked = 0;
    for row in rows {
        let Some(rule) = row.rule else { continue };
        let mut story = change().base_has("tests/fixtures/a.json");
        story = match row.status.as_str() {
            "M" => story.modifies(&row.path),
            other => panic!("{other}"),
        };
        assert!(story.rules().contains(&rule.as_str()), "{}: {}", row.path, story.told());
        assert_eq!(story.verdict(), Verdict::Reject, "{}", row.path);
        asked += 1;
    }
    assert_eq!(asked, 4);
}

#[derive(Deserialize)]
struct GateRow {
    classes: Vec<String>,
    fixture_match: bool,
    property: String,
    remote: String,
    verdict: Verdict,
    findings: Vec<String>,
}

#[test]
fn the_path_part_of_every_combination_is_found() {
    let rows: Vec<GateRow> = serde_json::from_str(include_str!("../vectors/gate.json")).unwrap();
    assert_eq!(rows.len(), 1_152);
    let policy = Policy::default();
    let classifier = Classifier::new(&policy);
    let mut paths_alone = 0;
    for row in rows {
        let mut story = change();
        for class in &row.classes {
            story = match class.as_str() {
                "product" => story.modifies("src/app.py"),
                "fixture" => story.modifies("tests/fixtures/a.json"),
                "oracle" => story.modifies("tests/properties/p.py"),
                "freeze_ledger" => story.modifies("flake_freeze.json"),
                "added_test" => story.adds("tests/test_new.py"),
                "other" => story.modifies("assets/logo.bin"),
                other => panic!("{other}"),
            };
        }
        let findings = story.findings_under(&policy, &classifier);
        let ids: Vec<&str> = findings.iter().map(|finding| finding.rule.id).collect();
        assert!(ids.iter().all(|id| row.findings.iter().any(|wanted| wanted == id)), "{:?}: {ids:?}", row.classes);
        let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Review);
        if row.fixture_match && row.property == "pass" && row.remote == "not_run" {
            let mut wanted: Vec<&str> = row.findings.iter().map(String::as_str).collect();
            let mut ids = ids;
            wanted.sort_unstable();
            ids.sort_unstable();
            assert_eq!(ids, wanted, "{:?}", row.classes);
            assert_eq!(verdict, row.verdict, "{:?}", row.classes);
            paths_alone += 1;
        } else {
            assert!(verdict <= row.verdict, "{:?}", row.classes);
        }
    }
    assert_eq!(paths_alone, 64);
}

thread_local! {
    static DEFAULTS: (Policy, Classifier) = {
        let policy = Policy::default();
        let classifier = Classifier::new(&policy);
        (policy, classifier)
    };
}

fn worst(story: &Story) -> Verdict {
    DEFAULTS.with(|(policy, classifier)| {
        let findings = story.findings_under(policy, classifier);
        findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Review)
    })
}

fn told(story: &Story) -> Vec<String> {
    DEFAULTS.with(|(policy, classifier)| {
        let mut told: Vec<String> =
            story.findings_under(policy, classifier).iter().map(|finding| format!("{finding:?}")).collect();
        told.sort();
        told
    })
}

const PATHS: [&str; 16] = [
    "src/app.py",
    "src/lib.rs",
    "tests/test_a.py",
    "tests/test_b.py",
    "tests/fixtures/a.json",
    "Tests/Fixtures/A.json",
    "src/x.snap",
    "conftest.py",
    "pyproject.toml",
    "README.md",
    "assets/x.bin",
    "json.py",
    "./x",
    ".gitattributes",
    "tests/generated/t.py",
    "tests/fixtures",
];

fn row() -> impl Strategy<Value = (usize, u8, u8)> {
    (0..PATHS.len(), 0..5_u8, 0..2_u8)
}

fn with_row(story: Story, (path, kind, content): (usize, u8, u8)) -> Story {
    let content = content.to_string();
    match kind {
        0 => story.adds_content(PATHS[path], &content),
        1 => story.modifies(PATHS[path]),
        2 => story.deletes_content(PATHS[path], &content),
        3 => story.links(PATHS[path], "../tests/fixtures/a.json"),
        _ => story.row(Status::Unparsed(b'X'), None, Some(side(PATHS[path].as_bytes(), Mode::FILE, "x"))),
    }
}

proptest! {
    #[test]
    fn the_order_of_rows_changes_no_finding(rows in prop::collection::vec(row(), 0..8)) {
        let story = rows.into_iter().fold(change().base_has("tests/fixtures/a.json"), with_row);
        let mut turned = story.clone();
        turned.rows.reverse();
        prop_assert_eq!(told(&story), told(&turned));
    }

    #[test]
    fn adding_bad_evidence_never_improves_a_verdict(
        rows in prop::collection::vec(row(), 1..8),
        bad in prop::sample::select(vec!["tests/fixtures/zz.json", "freeze.json", "oracle/p.py", "../x", "assets/zz.bin"]),
    ) {
        let story = rows.into_iter().fold(change(), with_row);
        let before = worst(&story);
        let after = worst(&story.modifies(bad));
        prop_assert!(after >= before);
    }

    #[test]
    fn a_change_that_touches_evidence_is_always_rejected(rows in prop::collection::vec(row(), 0..6), kind in 0..3_u8) {
        let story = rows.into_iter().fold(change(), with_row);
        prop_assert_eq!(worst(&with_row(story, (4, kind, 0))), Verdict::Reject);
    }
}

#[test]
fn classes_outside_the_table_have_no_rule_by_mistake() {
    // Product, allowed paths and intent are the three classes that a review may hold.
    let quiet: Vec<Class> = Class::ALL
        .into_iter()
        .filter(|class| {
            let path = match class {
                Class::Policy => ".evidence-gate.toml",
                Class::FreezeLedger => "freeze.json",
                Class::Oracle => "oracle/x",
                Class::Snapshot => "a.snap",
                Class::Fixture => "tests/fixtures/x",
                Class::Generated => "a.pb.go",
                Class::Intent => "tests/generated/x.py",
                Class::TestConfig => "conftest.py",
                Class::Build => "Makefile",
                Class::Test => "tests/x.py",
                Class::Allowed => "README.md",
                Class::Product => "src/x.py",
                Class::Other => "x.unknown",
            };
            change().modifies(path).told().is_empty()
        })
        .collect();
    assert_eq!(quiet, [Class::Intent, Class::Allowed, Class::Product]);
}
