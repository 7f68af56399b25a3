//! Stories of the whole way: a signed webhook comes in, a check run stands on the head.

use insta::assert_snapshot;

use crate::dsl::{Change, Fault, Gate, Held, NARROW_POLICY, POLICY, POLICY_PATH, Route, World, opened, pr};

/// Opens pull request 7, lets the gate work, and answers its check run.
async fn judged(world: World) -> (Gate, String) {
    let mut gate = world.start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let run = gate.check_run(7);
    (gate, run)
}

/// The text without the names of commits, which depend on every byte of them.
fn without_ids(text: &str) -> String {
    let is_id = |word: &str| word.len() == 10 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let word = |word: &str| match word.trim_end_matches(',') {
        id if is_id(id) => word.replace(id, "[commit]"),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The check run of a pull request that makes this change, in a world with nothing else in it.
async fn check_run_of(change: Change) -> String {
    let (gate, run) = judged(Gate::world().pull(change)).await;
    assert_eq!(gate.runs(7).len(), 1, "{}", gate.told());
    gate.end().await;
    run
}

#[tokio::test]
async fn a_change_of_the_product_alone_may_be_reviewed() {
    assert_snapshot!(check_run_of(pr(7).modifies("src/login.py")).await, @r"
    queued > in_progress > completed/success
    Evidence intact: 1 product file
    ");
}

#[tokio::test]
async fn an_edited_fixture_is_rejected() {
    assert_snapshot!(check_run_of(pr(7).modifies("src/login.py").modifies("tests/fixtures/users.json")).await, @r"
    queued > in_progress > completed/failure
    REJECT: evidence-edited: tests/fixtures/users.json
    ");
}

#[tokio::test]
async fn a_removed_test_is_rejected() {
    assert_snapshot!(check_run_of(pr(7).removes("tests/test_login.py").modifies("src/login.py")).await, @r"
    queued > in_progress > completed/failure
    REJECT: test-removed: tests/test_login.py
    ");
}

#[tokio::test]
async fn a_fixture_that_is_renamed_away_is_rejected() {
    assert_snapshot!(check_run_of(pr(7).renames("tests/fixtures/users.json", "src/users.json")).await, @r"
    queued > in_progress > completed/failure
    REJECT: evidence-edited: tests/fixtures/users.json
    ");
}

#[tokio::test]
async fn a_rewritten_test_is_held() {
    assert_snapshot!(check_run_of(pr(7).modifies("tests/test_login.py")).await, @r"
    queued > in_progress > completed/action_required
    HOLD: test-rewritten: tests/test_login.py
    ");
}

#[tokio::test]
async fn a_link_into_the_evidence_is_rejected() {
    let world = Gate::world().with_base("tests/fixtures/users.json", "{}\n");
    let (gate, run) = judged(world.pull(pr(7).links("src/users.json", "../tests/fixtures/users.json"))).await;
    assert_snapshot!(run, @r"
    queued > in_progress > completed/failure
    REJECT: evidence-shadowed: src/users.json
    ");
    gate.end().await;
}

#[tokio::test]
async fn a_submodule_is_held_whatever_gitmodules_says_about_it() {
    let hidden = "[submodule \"lib\"]\n\tpath = src/lib\n\turl = ./lib\n\tignore = all\n";
    let change = pr(7).with_base(".gitmodules", hidden).embeds("src/lib");
    assert_snapshot!(check_run_of(change).await, @r"
    queued > in_progress > completed/action_required
    HOLD: mode-or-type-change: src/lib
    ");
}

#[tokio::test]
async fn a_file_that_becomes_executable_is_held() {
    assert_snapshot!(check_run_of(pr(7).makes_executable("src/login.py")).await, @r"
    queued > in_progress > completed/action_required
    HOLD: mode-or-type-change: src/login.py
    ");
}

#[tokio::test]
async fn many_marks_come_in_batches_and_the_first_already_blocks() {
    let change = (0..120).fold(pr(7), |change, n| change.modifies(format!("tests/test_{n}.py")));
    let policy = format!("{POLICY}\n[limits]\nmax_changed_files = 200\n");
    let (gate, run) = judged(Gate::world().policy(&policy).pull(change)).await;
    let updates = gate.forge.bodies(Route::UpdateRun);
    let marks = |body: &serde_json::Value| body["output"]["annotations"].as_array().map_or(0, Vec::len);
    let sent: Vec<(usize, &str)> =
        updates.iter().map(|body| (marks(body), body["conclusion"].as_str().unwrap_or("-"))).collect();
    assert!(sent.len() >= 3 && sent[1].0 == 50, "{sent:?}");
    assert_eq!(sent[1].1, "action_required", "{sent:?}");
    assert_eq!(gate.runs(7)[0].annotations.len(), 120);
    assert_snapshot!(run, @r"
    queued > in_progress > completed/action_required
    HOLD: test-rewritten: tests/test_0.py and 119 more
    ");
    gate.end().await;
}

#[tokio::test]
async fn a_draft_is_judged_as_any_other() {
    assert_snapshot!(check_run_of(pr(7).modifies("src/login.py").in_draft()).await, @r"
    queued > in_progress > completed/success
    Evidence intact: 1 product file
    ");
}

#[tokio::test]
async fn a_pull_request_from_a_fork_is_judged() {
    assert_snapshot!(check_run_of(pr(7).modifies("src/login.py").by_a_fork()).await, @r"
    queued > in_progress > completed/success
    Evidence intact: 1 product file
    ");
}

#[tokio::test]
async fn a_pull_request_whose_fork_is_gone_is_judged() {
    assert_snapshot!(check_run_of(pr(7).modifies("src/login.py").by_a_deleted_fork()).await, @r"
    queued > in_progress > completed/success
    Evidence intact: 1 product file
    ");
}

#[tokio::test]
async fn an_empty_change_is_held() {
    assert_snapshot!(check_run_of(pr(7)).await, @r"
    queued > in_progress > completed/action_required
    HOLD: empty-diff: nothing changes between the merge base and the head
    ");
}

#[tokio::test]
async fn three_thousand_and_five_hundred_changed_files_are_too_many() {
    let change = (0..3500).fold(pr(7), |change, n| change.adds(format!("src/part_{n}.py")));
    assert_snapshot!(check_run_of(change).await, @r"
    queued > in_progress > completed/failure
    REJECT: too-wide: 3500 files change, and the policy allows 60 in one pull request
    ");
}

#[tokio::test]
async fn two_changes_of_the_same_line_do_not_apply() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    gate.commit_to("main", &pr(0).writes("src/login.py", "one\nsomething else\nthree\n"));
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_snapshot!(gate.check_run(7), @r"
    queued > in_progress > completed/action_required
    UNSCORED: does-not-apply: src/login.py
    ");
    gate.end().await;
}

#[tokio::test]
async fn a_crossed_history_has_several_merge_bases_and_no_score() {
    let mut gate = Gate::with(pr(7).adds("src/ours.py")).await;
    let ours = gate.head(7);
    let theirs = gate.commit_to("main", &pr(0).adds("src/theirs.py"));
    gate.merge_into_head(&pr(7).adds("src/theirs.py"), &[&ours, &theirs]);
    gate.merge_into("main", &pr(0).adds("src/ours.py"), &[&theirs, &ours]);
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_snapshot!(without_ids(&gate.check_run(7)), @r"
    queued > in_progress > completed/action_required
    UNSCORED: several-merge-bases: base and head have 2 best common ancestors: [commit], [commit]
    ");
    gate.end().await;
}

#[tokio::test]
async fn a_history_of_its_own_has_no_merge_base_and_no_score() {
    let mut gate = Gate::with(pr(7)).await;
    gate.merge_into_head(&pr(7).adds("src/login.py"), &[]);
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_snapshot!(without_ids(&gate.check_run(7)), @r"
    queued > in_progress > completed/action_required
    UNSCORED: no-merge-base: [commit] and [commit] have no common ancestor
    ");
    gate.end().await;
}

/// Names that a forge, a terminal, a table of Markdown or a regular expression might trip over.
const HOSTILE: &[&[u8]] = &[
    b"src/new\nline.py",
    b"src/tab\tand \"quotes\" and \\.py",
    b"src/not-\xff\xfe-utf8.py",
    "src/\u{202e}yp.gol\u{202c}.py".as_bytes(),
    b"src/`tick`|pipe|<b>@ada</b> #1.py",
    b"src/-rf --.py",
    b"src/ leading and trailing /x.py",
];

#[tokio::test]
async fn hostile_names_reach_the_report_and_break_nothing() {
    let long = format!("src/{}.py", "d/".repeat(1_990) + &"n".repeat(16));
    assert!(long.len() > 4_000);
    let change = HOSTILE.iter().fold(pr(7), Change::adds).adds(long);
    let (gate, run) = judged(Gate::world().pull(change)).await;
    let report = gate.report(7);
    let forbidden = ['\u{202e}', '\t', '\r', '\0'];
    assert!(!report.contains(forbidden), "a name stands in the report as it is:\n{report}");
    assert!(!report.contains("new\nline"), "a name broke a line of the report:\n{report}");
    assert!(report.contains(r"not-\xff\xfe-utf8"), "the bytes of a name are not shown:\n{report}");
    assert_snapshot!(run, @r#"
    queued > in_progress > completed/action_required
    HOLD: unclassified-path: src/not-\xff\xfe-utf8.py
    "#);
    gate.end().await;
}

#[tokio::test]
async fn evidence_under_a_hostile_name_is_still_evidence() {
    let change = pr(7).modifies("src/login.py").modifies(b"tests/fixtures/new\nline \xff.json");
    assert_snapshot!(check_run_of(change).await, @r#"
    queued > in_progress > completed/failure
    REJECT: evidence-edited: tests/fixtures/new\x0aline \xff.json
    "#);
}

// The policy.

#[tokio::test]
async fn a_typo_in_the_policy_is_unscored_and_shown_with_its_place() {
    let policy = "schema = 1\n\n[classes]\nprodct = [\"src/**\"]\n";
    let (gate, run) = judged(Gate::world().policy(policy).pull(pr(7).modifies("src/login.py"))).await;
    let report = gate.report(7);
    for words in [POLICY_PATH, "prodct", "product", "4"] {
        assert!(report.contains(words), "the report does not name {words:?}:\n{report}");
    }
    assert_snapshot!(run, @r"
    queued > in_progress > completed/action_required
    UNSCORED: policy-unreadable: the policy .evidence-gate.toml…: unknown key `prodct` in [classes]; did you mean `product`?
    ");
    gate.end().await;
}

#[tokio::test]
async fn without_a_policy_there_is_no_score() {
    let (gate, run) = judged(Gate::world().without_policy().pull(pr(7).modifies("src/login.py"))).await;
    assert_snapshot!(run, @r"
    queued > in_progress > completed/action_required
    UNSCORED: no-policy: there is no .evidence-gate.toml at the tip of the base branch, and the operator has none
    ");
    gate.end().await;
}

#[tokio::test]
async fn without_a_policy_the_operator_may_ask_for_silence() {
    let world = Gate::world().without_policy().set("WORK__UNCONFIGURED", "silent").pull(pr(7).modifies("src/login.py"));
    let (gate, run) = judged(world).await;
    assert_eq!(run, "no check run");
    gate.end().await;
}

#[tokio::test]
async fn a_policy_that_the_head_brings_along_grants_nothing() {
    let lax = format!("{POLICY}allowed = [\"tests/**\", \".evidence-gate.toml\"]\n");
    let change = pr(7).writes(POLICY_PATH, lax).modifies("tests/fixtures/users.json");
    assert_snapshot!(check_run_of(change).await, @r"
    queued > in_progress > completed/failure
    REJECT: evidence-edited: .evidence-gate.toml and 1 more
    ");
}

#[tokio::test]
async fn a_policy_that_only_the_head_has_grants_nothing() {
    let change = pr(7).writes(POLICY_PATH, POLICY).modifies("src/login.py");
    let (gate, run) = judged(Gate::world().without_policy().pull(change)).await;
    assert_snapshot!(run, @r"
    queued > in_progress > completed/failure
    REJECT: evidence-edited: .evidence-gate.toml
    ");
    gate.end().await;
}

#[tokio::test]
async fn the_policy_is_read_from_the_tip_of_the_base_and_not_from_where_the_branch_was_cut() {
    let mut gate = Gate::with(pr(7).modifies("engine/rules.dat")).await;
    let cut = gate.pull(7).base;
    let tip = gate.commit_to("main", &pr(0).writes(POLICY_PATH, NARROW_POLICY));
    // The forge goes on showing the base as it was when the head last moved.
    assert_eq!(gate.pull(7).base, cut);
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert!(gate.report(7).contains(&tip), "the report names another base:\n{}", gate.report(7));
    assert_snapshot!(gate.check_run(7), @r"
    queued > in_progress > completed/action_required
    HOLD: unclassified-path: engine/rules.dat
    ");
    gate.end().await;
}

#[tokio::test]
async fn the_operators_policy_wins_over_the_repositorys() {
    let policies = tempfile::tempdir().unwrap();
    std::fs::create_dir(policies.path().join("github")).unwrap();
    std::fs::write(policies.path().join("github/1001.toml"), NARROW_POLICY).unwrap();
    let folder = policies.path().to_str().unwrap();
    let (gate, run) =
        judged(Gate::world().set("WORK__POLICIES", folder).pull(pr(7).modifies("engine/rules.dat"))).await;
    assert_snapshot!(run, @r"
    queued > in_progress > completed/action_required
    HOLD: unclassified-path: engine/rules.dat
    ");
    gate.end().await;
}

// The state moves while the gate looks.

#[tokio::test]
async fn a_retargeted_pull_request_is_judged_by_its_new_base() {
    let mut gate = Gate::with(pr(7).modifies("engine/rules.dat")).await;
    gate.commit_to("release", &pr(0).writes(POLICY_PATH, NARROW_POLICY));
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success");
    let retargeted = gate.retarget(7, "release");
    gate.deliver(retargeted).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 2, "a new evaluation is a new run");
    assert_snapshot!(gate.check_run(7), @r"
    queued > in_progress > completed/action_required
    HOLD: unclassified-path: engine/rules.dat
    ");
    gate.end().await;
}

#[tokio::test]
async fn a_head_that_moved_before_the_work_began_is_judged_once_and_as_it_is() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    let old = gate.head(7);
    gate.deliver(opened(7)).await;
    let pushed = gate.push(&pr(7).adds("tests/fixtures/more.json"));
    gate.deliver(pushed).await;
    gate.drain().await;
    assert_eq!(gate.check_run_on(&old), "no check run");
    assert_eq!(gate.runs(7).len(), 1);
    assert_snapshot!(gate.check_run(7), @r"
    queued > in_progress > completed/failure
    REJECT: evidence-edited: tests/fixtures/more.json
    ");
    gate.end().await;
}

#[tokio::test]
async fn deliveries_out_of_order_end_at_the_newest_head() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    let first = gate.sign(&opened(7));
    let pushed = gate.push(&pr(7).adds("tests/fixtures/more.json"));
    gate.deliver(pushed).await;
    gate.drain().await;
    assert_eq!(gate.send(&first).await, 202);
    gate.drain_through_retries().await;
    assert_eq!(gate.verdict(7), "completed/failure");
    gate.end().await;
}

#[tokio::test]
async fn a_force_push_while_a_change_is_judged_leaves_no_success_behind() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    let old = gate.head(7);
    let started = Held::default();
    gate.forge.once(Route::UpdateRun, Fault::HoldAfter(started.clone()));
    gate.deliver(opened(7)).await;
    let work = gate.start_work();
    started.arrived().await;
    let pushed = gate.force_push(&pr(7).adds("tests/fixtures/more.json"));
    gate.deliver(pushed).await;
    started.release();
    gate.finish_through_retries(work).await;
    assert_snapshot!(gate.check_run_on(&old), @r"
    queued > in_progress > completed/action_required
    UNSCORED: superseded
    ");
    assert_snapshot!(gate.check_run(7), @r"
    queued > in_progress > completed/failure
    REJECT: evidence-edited: tests/fixtures/more.json
    ");
    gate.end().await;
}

#[tokio::test]
async fn a_base_that_moves_while_a_change_is_judged_is_judged_anew() {
    let mut gate = Gate::with(pr(7).modifies("engine/rules.dat")).await;
    let started = Held::default();
    gate.forge.once(Route::UpdateRun, Fault::HoldAfter(started.clone()));
    gate.deliver(opened(7)).await;
    let work = gate.start_work();
    started.arrived().await;
    gate.commit_to("main", &pr(0).writes(POLICY_PATH, NARROW_POLICY));
    started.release();
    gate.finish(work).await;
    assert_eq!(gate.runs(7).len(), 1);
    assert_snapshot!(gate.check_run(7), @r"
    queued > in_progress > completed/action_required
    HOLD: unclassified-path: engine/rules.dat
    ");
    gate.end().await;
}

#[tokio::test]
async fn a_closed_pull_request_is_not_judged() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    gate.deliver(opened(7)).await;
    let closed = gate.close(7);
    gate.deliver(closed).await;
    gate.drain().await;
    assert_eq!(gate.check_run(7), "no check run");
    gate.end().await;
}

#[tokio::test]
async fn a_renamed_repository_is_still_judged() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    gate.deliver(opened(7)).await;
    gate.rename_repository("gadgets");
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}
