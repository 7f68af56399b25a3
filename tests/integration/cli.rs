//! The command line, as a person or a script runs it: `score` on real repositories, its exit codes and its output.
#![expect(
    clippy::disallowed_methods,
    reason = "the shipped program is started here, and git that makes what it judges"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use insta::assert_snapshot;
use serde_json::Value;

use crate::fake_forge::store::{Edit, Mode, Store, command};

/// A working copy with commits, and a policy of the operator's beside it.
struct Copy {
    folder: tempfile::TempDir,
}

/// Every built-in set, and the product in `src/`.
const POLICY: &str = r#"schema = 1

[classes]
extends = ["python", "javascript", "rust", "go", "java", "ruby", "php", "dotnet", "generic"]
product = ["src/**"]
"#;

impl Copy {
    /// A repository whose first commit holds these files.
    fn of(files: &[(&str, &str)]) -> Self {
        let copy = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(copy.repo()).unwrap();
        copy.git(&["init", "--quiet", "--initial-branch=main", "."]);
        std::fs::write(copy.policy(), POLICY).unwrap();
        for (path, text) in files {
            copy.write(path, text);
        }
        copy.commit("base");
        copy
    }

    fn repo(&self) -> PathBuf {
        self.folder.path().join("widgets")
    }

    fn policy(&self) -> PathBuf {
        self.folder.path().join("policy.toml")
    }

    fn write(&self, path: &str, text: &str) {
        let at = self.repo().join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> Output {
        let mut git = command(&self.repo());
        // The same bytes at any hour, so that the names of commits stay.
        git.env("GIT_AUTHOR_DATE", "1790000000 +0000").env("GIT_COMMITTER_DATE", "1790000000 +0000");
        let out =
            git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]).args(arguments).output().unwrap();
        assert!(out.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
        out
    }

    /// Commits everything under a tag.
    fn commit(&self, tag: &str) {
        self.git(&["add", "--all", "--force", "."]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", tag]);
        self.git(&["tag", tag]);
    }

    /// Judges `base` and `head` under the policy beside the repository.
    fn score(&self, more: &[&str]) -> Ran {
        let (repo, policy) = (self.repo(), self.policy());
        let mut arguments = vec!["score", "--repo", text(&repo), "--base", "base", "--head", "head"];
        arguments.extend(["--policy", text(&policy)]);
        arguments.extend(more);
        gate(self.folder.path(), &arguments)
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// How a command ended and what it said.
#[derive(Debug)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not one JSON document: {error}\n{self:?}"))
    }

    /// The sentence of a failure, with the exit code; nothing may stand on stdout then.
    fn failure(&self, folder: &Path) -> String {
        assert_eq!(self.stdout, "", "a failure wrote to stdout");
        format!("{}: {}", self.code, self.stderr.trim_end().replace(text(folder), "FOLDER"))
    }
}

/// Runs the program in `folder`, with nothing of the caller's environment but where programs are.
fn gate(folder: &Path, arguments: &[&str]) -> Ran {
    let mut program = Command::new(env!("CARGO_BIN_EXE_evidence-gate"));
    program.args(arguments).current_dir(folder);
    program.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let out = program.output().unwrap();
    Ran {
        code: out.status.code().expect("the program ended by itself"),
        stdout: String::from_utf8(out.stdout).unwrap(),
        stderr: String::from_utf8(out.stderr).unwrap(),
    }
}

/// A change of the product, and one that edits evidence.
fn product_only() -> Copy {
    let copy = Copy::of(&[("src/login.py", "one\n"), ("tests/fixtures/users.json", "{}\n")]);
    copy.write("src/login.py", "two\n");
    copy.commit("head");
    copy
}

fn fixture_edited() -> Copy {
    let copy = Copy::of(&[("src/login.py", "one\n"), ("tests/fixtures/users.json", "{}\n")]);
    copy.write("src/login.py", "two\n");
    copy.write("tests/fixtures/users.json", "{\"ada\": 1}\n");
    copy.commit("head");
    copy
}

// The attacks whose rules need no grammar.

/// Commits `base/` and the patch of one attack, and judges it.
fn attack(id: &str) {
    let attacks = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/classics");
    let entries = std::fs::read_dir(&attacks).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.into_iter().find(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(id)));
    let folder = found.expect("the attack is there");
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let copy = Copy::of(&[]);
    copy_folder(&folder.join("base"), &copy.repo());
    copy.git(&["add", "--all", "--force", "."]);
    copy.git(&["commit", "--quiet", "--amend", "--message", "base"]);
    copy.git(&["tag", "--force", "base"]);
    copy.git(&["apply", text(&folder.join("patch.diff"))]);
    copy.commit("head");
    let ran = copy.score(&["--format", "json"]);
    let record = ran.json();
    let words = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let verdict = record["verdict"].as_str().unwrap().to_owned();
    let mut acceptable = words(&expected["also_acceptable"]);
    acceptable.push(expected["verdict"].as_str().unwrap().to_owned());
    assert!(acceptable.contains(&verdict), "{id}: {verdict}, and not {acceptable:?}\n{record:#}");
    let fired: Vec<&str> = record["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect();
    for rule in words(&expected["rules"]) {
        assert!(fired.contains(&rule.as_str()), "{id}: {rule} did not fire, {fired:?} did");
    }
    assert_eq!(ran.code, exit_code(&verdict), "{id}");
}

fn exit_code(verdict: &str) -> i32 {
    match verdict {
        "review" => 0,
        "reject" => 1,
        "unscored" => 2,
        "hold" => 3,
        other => panic!("{other:?} is no verdict"),
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn attack_02_deletes_a_test_file() {
    attack("02-");
}

#[test]
fn attack_10_replaces_what_is_tested() {
    attack("10-");
}

#[test]
fn attack_12_edits_a_fixture() {
    attack("12-");
}

#[test]
fn attack_13_renames_a_fixture() {
    attack("13-");
}

#[test]
fn attack_15_edits_a_fixture_under_a_name_that_git_quotes() {
    attack("15-");
}

#[test]
fn attack_16_edits_a_snapshot_below_the_product() {
    attack("16-");
}

#[test]
fn attack_17_edits_a_golden_file() {
    attack("17-");
}

#[test]
fn attack_26_edits_the_freeze_ledger() {
    attack("26-");
}

#[test]
fn control_37_changes_only_documents() {
    attack("37-");
}

// Exit codes and output.

#[test]
fn each_verdict_has_its_exit_code() {
    assert_eq!(product_only().score(&[]).code, 0);
    assert_eq!(fixture_edited().score(&[]).code, 1);
    let copy = product_only();
    let repo = copy.repo();
    let unscored = gate(copy.folder.path(), &["score", "--repo", text(&repo), "--base", "base", "--head", "head"]);
    assert_eq!(unscored.code, 2, "a repository without a policy has no score: {unscored:?}");
    let copy = Copy::of(&[("tests/test_login.py", "one\n")]);
    copy.write("tests/test_login.py", "two\n");
    copy.commit("head");
    assert_eq!(copy.score(&[]).code, 3);
}

#[test]
fn text_says_the_verdict_first_then_why_where_and_what_to_do() {
    let ran = fixture_edited().score(&[]);
    insta::with_settings!({filters => vec![(r"[0-9a-f]{64}", "DIGEST"), (r"[0-9a-f]{40}", "OBJECT")]}, {
    assert_snapshot!(ran.stdout, @r"
    REJECT: evidence-edited: tests/fixtures/users.json

    reject evidence-edited
      1 fixture file changed: tests/fixtures/users.json
        tests/fixtures/users.json
      Next: Take these files out of this pull request; evidence changes in one of its own, by a person,
            with the label `evidence-edit` (`lane.label`) and a maintainer's approval.

    Changed files: 2
      fixture (1)
        M tests/fixtures/users.json
      product (1)
        M src/login.py

    Not observed
      - a fixture lock: none is required
      - properties: none is configured
      - live tests of the merged tree: none are configured
      - which tests run the changed lines: there is no coverage map

    What this verdict stands for
      base         OBJECT (base)
      head         OBJECT
      merge base   OBJECT
      merged tree  OBJECT
      policy       DIGEST
    ");
    });
}

#[test]
fn piped_output_has_no_colour() {
    for format in ["text", "json", "markdown"] {
        let ran = fixture_edited().score(&["--format", format]);
        assert!(!ran.stdout.contains('\u{1b}'), "{format}: {:?}", ran.stdout);
        assert_eq!(ran.stderr, "", "{format}");
    }
}

#[test]
fn json_is_the_record_and_nothing_else_and_fits_its_schema() {
    let schema = gate(Path::new("/"), &["schema", "record"]).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (copy, verdict) in [(product_only(), "review"), (fixture_edited(), "reject")] {
        let ran = copy.score(&["--format", "json"]);
        let record = ran.json();
        let faults: Vec<String> =
            validator.iter_errors(&record).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(record["verdict"], verdict);
        assert_eq!(record["repository"]["name"], "widgets");
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn the_schema_refuses_a_record_with_an_unknown_key() {
    let schema = gate(Path::new("/"), &["schema", "record"]).json();
    let mut record = product_only().score(&["--format", "json"]).json();
    record["surprise"] = true.into();
    assert!(!jsonschema::is_valid(&schema, &record));
}

#[test]
fn the_same_change_gives_the_same_record_but_for_the_run() {
    let copy = fixture_edited();
    let record = || {
        let mut record = copy.score(&["--format", "json"]).json();
        record.as_object_mut().unwrap().remove("run");
        record.to_string()
    };
    assert_eq!(record(), record());
}

#[test]
fn a_bare_repository_a_folder_of_a_working_copy_and_full_names_of_commits_are_all_good() {
    let copy = fixture_edited();
    let policy = copy.policy();
    let full = |rev: &str| String::from_utf8(copy.git(&["rev-parse", rev]).stdout).unwrap().trim().to_owned();
    let (base, head) = (full("base"), full("head"));
    let inner = copy.repo().join("src");
    let bare = copy.folder.path().join("bare.git");
    copy.git(&["clone", "--quiet", "--bare", text(&copy.repo()), text(&bare)]);
    for repo in [inner, bare] {
        let arguments = ["score", "--repo", text(&repo), "--base", &base, "--head", &head, "--policy", text(&policy)];
        let ran = gate(copy.folder.path(), &arguments);
        assert_eq!(ran.code, 1, "{repo:?}: {ran:?}");
    }
}

#[test]
fn judging_a_working_copy_changes_nothing_in_it() {
    let copy = fixture_edited();
    copy.write("src/login.py", "not committed\n");
    let before = copy.git(&["status", "--porcelain", "--branch"]).stdout;
    let count = copy.git(&["count-objects", "-v"]).stdout;
    assert_eq!(copy.score(&[]).code, 1);
    assert_eq!(copy.git(&["status", "--porcelain", "--branch"]).stdout, before);
    assert_eq!(copy.git(&["count-objects", "-v"]).stdout, count, "objects were written into the repository");
}

#[test]
fn a_patch_is_judged_as_the_commit_that_it_makes() {
    let copy = fixture_edited();
    let patch = copy.folder.path().join("change.diff");
    std::fs::write(&patch, copy.git(&["diff", "--binary", "base", "head"]).stdout).unwrap();
    let (repo, policy) = (copy.repo(), copy.policy());
    let score = |patch: &Path| {
        let arguments =
            ["score", "--repo", text(&repo), "--base", "base", "--patch", text(patch), "--policy", text(&policy)];
        gate(copy.folder.path(), &[&arguments[..], &["--format", "json"]].concat())
    };
    let (ours, commits) = (score(&patch).json(), copy.score(&["--format", "json"]).json());
    for part in ["verdict", "title", "rows", "findings", "merged_tree", "merge_base"] {
        assert_eq!(ours[part], commits[part], "{part}");
    }
    assert_eq!(ours["head"], score(&patch).json()["head"], "the same patch makes the same commit");
    assert_ne!(ours["head"], commits["head"]);
    std::fs::write(&patch, "--- a/src/login.py\n+++ b/src/login.py\n@@ -1 +1 @@\n-other\n+more\n").unwrap();
    let failure = score(&patch).failure(copy.folder.path());
    assert!(failure.starts_with("65: ") && failure.contains("change.diff does not apply to base"), "{failure}");
    std::fs::write(&patch, "--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+out\n").unwrap();
    assert_eq!(score(&patch).code, 65);
}

#[test]
fn a_record_is_shown_in_every_format_without_judging_again() {
    let copy = fixture_edited();
    let record = copy.folder.path().join("record.json");
    copy.score(&["--format", "json", "--output", text(&record)]);
    for format in ["text", "json", "markdown", "html", "sarif", "junit", "github", "gitlab-codequality"] {
        let ran = gate(copy.folder.path(), &["report", text(&record), "--format", format]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{format}");
        assert!(ran.stdout.contains("evidence-edited"), "{format}: {}", ran.stdout);
    }
    std::fs::write(&record, "{}").unwrap();
    let failure = gate(copy.folder.path(), &["report", text(&record)]).failure(copy.folder.path());
    assert!(failure.starts_with("65: ") && failure.contains("is no record"), "{failure}");
}

#[test]
fn completions_and_the_manual_name_every_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    for of in ["bash", "elvish", "fish", "powershell", "zsh", "man"] {
        let ran = gate(folder.path(), &["completions", of]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{of}");
        for name in ["score", "init", "simulate"] {
            assert!(ran.stdout.contains(name), "{of} does not name {name}");
        }
    }
    assert_eq!(gate(folder.path(), &["completions", "man", "--output", text(folder.path())]).code, 0);
    assert!(folder.path().join("evidence-gate.1").exists() && folder.path().join("evidence-gate-score.1").exists());
    assert_eq!(gate(folder.path(), &["completions", "zsh", "--output", text(folder.path())]).code, 0);
    assert!(folder.path().join("_evidence-gate").exists());
}

#[test]
fn a_file_is_written_where_it_was_asked_for() {
    let copy = fixture_edited();
    let at = copy.folder.path().join("record.json");
    let ran = copy.score(&["--format", "json", "--output", text(&at)]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let record: Value = serde_json::from_slice(&std::fs::read(at).unwrap()).unwrap();
    assert_eq!(record["verdict"], "reject");
}

#[test]
fn names_of_any_bytes_are_shown_and_harm_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().to_owned());
    store.create("acme/widgets");
    let write = |path: &[u8]| Edit::Write { path: path.to_vec(), mode: Mode::File, bytes: b"text\n".to_vec() };
    let base = store.commit("acme/widgets", "main", &[], &[write(b"README.md")]);
    let names: [&[u8]; 4] = [b"src/a\nb.py", b"src/\x1b[31mred.py", b"src/\xff.py", "src/\u{202e}yp.py".as_bytes()];
    let head = store.commit("acme/widgets", "change", &[&base], &names.map(write));
    let policy = folder.path().join("policy.toml");
    std::fs::write(&policy, POLICY).unwrap();
    let repo = folder.path().join("acme/widgets.git");
    let score = |format: &str| {
        let arguments = [
            "score",
            "--repo",
            text(&repo),
            "--base",
            &base,
            "--head",
            &head,
            "--policy",
            text(&policy),
            "--format",
            format,
        ];
        gate(folder.path(), &arguments)
    };
    let shown = score("text");
    assert!(!shown.stdout.contains(['\u{1b}', '\u{202e}']), "{:?}", shown.stdout);
    let rows = score("json").json()["rows"].clone();
    let paths: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(paths.len(), 4);
    assert!(paths.contains(&r"src/\xff.py"), "{paths:?}");
}

// Failures: one clear sentence, and never a verdict.

#[test]
fn a_folder_that_is_no_repository_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let ran = gate(folder.path(), &["score", "--repo", ".", "--base", "main"]);
    assert_snapshot!(ran.failure(folder.path()), @"64: evidence-gate: . is not a git repository: name the folder that holds .git, or a bare repository");
    let ran = gate(folder.path(), &["score", "--repo", "nowhere", "--base", "main"]);
    assert_snapshot!(ran.failure(folder.path()), @"64: evidence-gate: nowhere is not a git repository: name the folder that holds .git, or a bare repository");
}

#[test]
fn a_revision_that_is_not_there_is_named() {
    let copy = product_only();
    let repo = copy.repo();
    for base in ["nowhere", "--upload-pack=touch pwned", ""] {
        let ran =
            gate(copy.folder.path(), &["score", "--repo", text(&repo), &format!("--base={base}"), "--head", "head"]);
        assert_eq!(ran.code, 64, "{base:?}: {ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{base:?}: {ran:?}");
    }
    let ran = gate(copy.folder.path(), &["score", "--repo", text(&repo), "--base", "nowhere"]);
    assert_snapshot!(ran.failure(copy.folder.path()), @r#"64: evidence-gate: "nowhere" names no commit in this repository: give a branch, a tag or a commit id that `git log` knows"#);
}

#[test]
fn a_policy_that_is_not_there_or_not_good_is_named_with_its_place() {
    let copy = product_only();
    let (repo, missing) = (copy.repo(), copy.folder.path().join("missing.toml"));
    let arguments = ["score", "--repo", text(&repo), "--base", "base", "--head", "head", "--policy", text(&missing)];
    assert_snapshot!(gate(copy.folder.path(), &arguments).failure(copy.folder.path()), @"74: evidence-gate: cannot read FOLDER/missing.toml: No such file or directory (os error 2)");
    std::fs::write(copy.policy(), "schema = 1\n\n[classes]\nprodct = [\"src/**\"]\n").unwrap();
    assert_snapshot!(copy.score(&[]).failure(copy.folder.path()), @r#"
    65: evidence-gate: × FOLDER/policy.toml is no policy that can be used

      × line 4: unknown key `prodct` in [classes]
       ╭─[FOLDER/policy.toml:4:1]
     3 │ [classes]
     4 │ prodct = ["src/**"]
       · ───┬──
       ·    ╰── here
       ╰────
      help: did you mean `product`?
    "#);
}

#[test]
fn a_wrong_call_is_told_apart_from_every_verdict() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["score"][..], &["scoer"], &["score", "--base", "main", "--format", "yaml"], &[]] {
        let ran = gate(folder.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
}

#[test]
fn help_and_version_are_no_failures() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["--help"][..], &["--version"], &["score", "--help"]] {
        let ran = gate(folder.path(), arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(!ran.stdout.is_empty());
    }
}

#[test]
fn a_repository_that_is_damaged_is_a_failure_and_no_verdict() {
    let copy = fixture_edited();
    let tree = String::from_utf8(copy.git(&["rev-parse", "head^{tree}"]).stdout).unwrap().trim().to_owned();
    let at = copy.repo().join(".git/objects").join(&tree[..2]).join(&tree[2..]);
    std::fs::remove_file(at).unwrap();
    let ran = copy.score(&[]);
    assert_eq!(ran.code, 70, "{ran:?}");
    assert_eq!(ran.stdout, "");
}
