//! The base moves, two pull requests share a commit, and a merge queue builds on both.

use crate::dsl::{Fault, Gate, Held, NARROW_POLICY, POLICY_PATH, Route, opened, pr};
use crate::fake_forge::Happening;

/// A policy that allows `src/` only, and one file at most.
const STRICT: &str =
    "schema = 1\n\n[classes]\nextends = [\"python\"]\nproduct = [\"src/**\"]\n\n[limits]\nmax_changed_files = 1\n";

#[tokio::test]
async fn a_push_that_changes_the_policy_takes_every_green_back_before_anything_is_judged() {
    let mut gate = Gate::world()
        .pull(pr(7).modifies("engine/a.dat"))
        .pull(pr(8).modifies("engine/b.dat"))
        .pull(pr(9).modifies("src/c.py"))
        .start()
        .await;
    for pull in [7, 8, 9] {
        gate.deliver(opened(pull)).await;
    }
    gate.drain().await;
    for pull in [7, 8, 9] {
        assert_eq!(gate.verdict(pull), "completed/success");
    }
    let happened = gate.push_to("main", &pr(1).writes(POLICY_PATH, NARROW_POLICY));
    gate.deliver(happened).await;
    let judging = Held::default();
    gate.forge.once(Route::UpdateRun, Fault::HoldBefore(judging.clone()));
    let work = gate.start_work();
    judging.arrived().await;
    for pull in [7, 8, 9] {
        assert_ne!(gate.verdict(pull), "completed/success", "#{pull} is green on rules that are gone{}", gate.told());
    }
    judging.release();
    gate.finish(work).await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    assert_eq!(gate.verdict(8), "completed/action_required");
    assert_eq!(gate.verdict(9), "completed/success");
    gate.end().await;
}

#[tokio::test]
async fn a_push_that_changes_no_evidence_leaves_every_verdict_standing() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let happened = gate.push_to("main", &pr(1).writes("src/other.py", "x = 1\n"));
    gate.deliver(happened).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 1, "{}", gate.told());
    gate.end().await;
}

#[tokio::test]
async fn a_push_that_takes_part_of_the_pull_request_in_moves_the_merge_base_and_asks_again() {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    let first = gate.head(7);
    gate.push(&pr(7).writes("src/more.py", "x = 1\n"));
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let before = gate.tip("main");
    gate.forge.store().set_ref("acme/widgets", "refs/heads/main", &first);
    gate.deliver(Happening::BasePushed { branch: "main".to_owned(), before, after: first }).await;
    gate.drain().await;
    assert!(gate.runs(7).len() > 1, "{}", gate.told());
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}

#[tokio::test]
async fn green_on_a_lax_base_and_then_retargeted_is_never_green_in_between() {
    let mut gate = Gate::with(pr(7).modifies("engine/a.dat")).await;
    gate.commit_to("strict", &pr(1).writes(POLICY_PATH, NARROW_POLICY));
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success");
    let happened = gate.retarget(7, "strict");
    gate.deliver(happened).await;
    let fetching = Held::default();
    gate.forge.once(Route::Git, Fault::HoldBefore(fetching.clone()));
    let work = gate.start_work();
    fetching.arrived().await;
    assert_eq!(gate.verdict(7), "in_progress", "the old green stands before anything is judged{}", gate.told());
    fetching.release();
    gate.finish(work).await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    gate.end().await;
}

#[tokio::test]
async fn two_pull_requests_with_one_commit_have_the_worse_verdict_whoever_comes_last() {
    for order in [[7, 8], [8, 7]] {
        let mut gate = Gate::world().pull(pr(7).modifies("engine/a.dat")).start().await;
        gate.commit_to("strict", &pr(1).writes(POLICY_PATH, STRICT));
        gate.copy_pull(7, 8);
        gate.retarget(8, "strict");
        for pull in order {
            gate.deliver(opened(pull)).await;
            gate.drain().await;
        }
        assert_eq!(gate.verdict(7), "completed/action_required", "{order:?}{}", gate.told());
        if order == [8, 7] {
            assert!(gate.check_run(7).contains("HOLD: #8 has this commit too"), "{}", gate.check_run(7));
        }
        let closed = gate.close(8);
        gate.deliver(closed).await;
        let comment = gate.says("mia", 7, "/rescore");
        gate.deliver(Happening::Commented(comment)).await;
        gate.drain().await;
        assert_eq!(gate.verdict(7), "completed/success", "#8 is closed");
        gate.end().await;
    }
}

#[tokio::test]
async fn two_pull_requests_with_one_commit_are_judged_one_after_the_other() {
    let mut gate = Gate::world().pull(pr(7).modifies("engine/a.dat")).start().await;
    gate.commit_to("strict", &pr(1).writes(POLICY_PATH, STRICT));
    gate.copy_pull(7, 8);
    gate.retarget(8, "strict");
    gate.deliver(opened(7)).await;
    gate.deliver(opened(8)).await;
    gate.drain_through_retries().await;
    assert_eq!(gate.verdict(7), "completed/action_required", "{}", gate.told());
    gate.end().await;
}

// Merge groups.

/// Three pull requests in review, and the changes they make.
async fn three() -> (Gate, [crate::dsl::Change; 3]) {
    let changes =
        [pr(7).writes("src/a.py", "a = 1\n"), pr(8).writes("src/b.py", "b = 1\n"), pr(9).writes("src/c.py", "c = 1\n")];
    let mut gate =
        Gate::world().pull(changes[0].clone()).pull(changes[1].clone()).pull(changes[2].clone()).start().await;
    for pull in [7, 8, 9] {
        gate.deliver(opened(pull)).await;
    }
    gate.drain().await;
    for pull in [7, 8, 9] {
        assert_eq!(gate.verdict(pull), "completed/success");
    }
    (gate, changes)
}

#[tokio::test]
async fn a_merge_group_of_three_reviews_is_a_success_on_its_own_head() {
    let (mut gate, changes) = three().await;
    let group = gate.queue_up(&changes.each_ref());
    let head = gate.group_head(&group);
    gate.deliver(group).await;
    gate.drain().await;
    assert!(gate.check_run_on(&head).starts_with("queued > in_progress > completed/success"), "{}", gate.told());
    gate.end().await;
}

#[tokio::test]
async fn a_merge_group_with_one_member_that_is_not_in_review_is_no_success() {
    let (mut gate, mut changes) = three().await;
    gate.push(&pr(8).writes("tests/fixtures/users.json", "{}\n"));
    gate.deliver(opened(8)).await;
    gate.drain().await;
    changes[1] = changes[1].clone().writes("tests/fixtures/users.json", "{}\n");
    let group = gate.queue_up(&changes.each_ref());
    let head = gate.group_head(&group);
    gate.deliver(group).await;
    gate.drain().await;
    assert!(gate.check_run_on(&head).contains("completed/failure\nREJECT"), "{}", gate.check_run_on(&head));
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_member_whose_verdict_is_about_an_older_head_makes_the_group_unscored() {
    let (mut gate, changes) = three().await;
    gate.push(&pr(8).writes("src/b.py", "b = 2\n"));
    let group = gate.queue_up(&changes.each_ref());
    let head = gate.group_head(&group);
    gate.deliver(group).await;
    gate.drain().await;
    let run = gate.check_run_on(&head);
    assert!(run.contains("completed/action_required\nUNSCORED: group-member"), "{run}");
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_path_that_no_member_brought_makes_the_group_unscored() {
    let (mut gate, mut changes) = three().await;
    changes[2] = changes[2].clone().writes("src/stowaway.py", "x = 1\n");
    let group = gate.queue_up(&changes.each_ref());
    let head = gate.group_head(&group);
    gate.deliver(group).await;
    gate.drain().await;
    let run = gate.check_run_on(&head);
    assert!(run.contains("UNSCORED: group-member"), "{run}");
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn the_width_of_a_group_is_counted_member_by_member() {
    let policy = format!("{}\n[limits]\nmax_changed_files = 1\n", crate::dsl::POLICY);
    let changes = [pr(7).writes("src/a.py", "a = 1\n"), pr(8).writes("src/b.py", "b = 1\n")];
    let mut gate = Gate::world().policy(&policy).pull(changes[0].clone()).pull(changes[1].clone()).start().await;
    for pull in [7, 8] {
        gate.deliver(opened(pull)).await;
    }
    gate.drain().await;
    let group = gate.queue_up(&changes.each_ref());
    let head = gate.group_head(&group);
    gate.deliver(group).await;
    gate.drain().await;
    assert!(gate.check_run_on(&head).contains("completed/success"), "{}", gate.check_run_on(&head));
    gate.look_at_all_runs();
    gate.end().await;
}
