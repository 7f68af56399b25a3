//! A hold waits for a person: whose approval ends it, and what takes the approval back.

use crate::dsl::{Change, Fault, Gate, Held, Route, World, opened, pr};

/// A lock file is bumped: somebody must look.
fn bump() -> Change {
    pr(7).modifies("poetry.lock")
}

fn world() -> World {
    Gate::world().pull(bump())
}

/// The pull request is opened and waits.
async fn waiting(world: World) -> Gate {
    let mut gate = world.start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/action_required", "{}", gate.told());
    gate
}

/// Somebody approves the head, and the worker looks.
async fn approved_by(gate: &mut Gate, who: &'static str) {
    let review = gate.reviews(who, 7, "APPROVED");
    gate.deliver(review).await;
    gate.drain().await;
}

/// An approval of somebody whose word does not count, and what the report says of it.
async fn in_vain(mut gate: Gate, who: &'static str, why: &str) {
    approved_by(&mut gate, who).await;
    assert_eq!(gate.verdict(7), "completed/action_required", "{who}{}", gate.told());
    assert!(gate.report(7).contains(why), "{}", gate.report(7));
    gate.end().await;
}

#[tokio::test]
async fn a_maintainers_approval_of_the_head_ends_the_hold_and_the_title_names_the_maintainer() {
    let mut gate = waiting(world()).await;
    approved_by(&mut gate, "mia").await;
    assert_eq!(
        gate.check_run(7),
        "queued > in_progress > completed/success\nAcknowledged by mia: build-edited",
        "{}",
        gate.told()
    );
    gate.end().await;
}

#[tokio::test]
async fn a_push_after_the_approval_waits_again() {
    let mut gate = waiting(world()).await;
    approved_by(&mut gate, "mia").await;
    let pushed = gate.push(&pr(7).writes("poetry.lock", "one more\n"));
    gate.deliver(pushed).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    assert!(gate.report(7).contains("mia (of another head than the present one)"), "{}", gate.report(7));
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn an_approval_that_is_dismissed_is_taken_back_before_anything_is_judged() {
    let mut gate = waiting(world()).await;
    approved_by(&mut gate, "mia").await;
    assert_eq!(gate.verdict(7), "completed/success");
    let dismissed = gate.dismisses("mia", 7);
    gate.deliver(dismissed).await;
    let asking = Held::default();
    gate.forge.once(Route::Reviews, Fault::HoldBefore(asking.clone()));
    let work = gate.start_work();
    asking.arrived().await;
    assert_eq!(gate.verdict(7), "in_progress", "the old green stands before anything is judged{}", gate.told());
    asking.release();
    gate.finish(work).await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    gate.end().await;
}

#[tokio::test]
async fn a_maintainer_who_objects_later_takes_the_approval_back() {
    let mut gate = waiting(world()).await;
    approved_by(&mut gate, "mia").await;
    let objection = gate.reviews("mia", 7, "CHANGES_REQUESTED");
    gate.deliver(objection).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    gate.end().await;
}

#[tokio::test]
async fn an_approval_that_is_gone_when_the_answer_is_ready_does_not_count() {
    let mut gate = waiting(world()).await;
    let review = gate.reviews("mia", 7, "APPROVED");
    gate.deliver(review).await;
    let asking = Held::default();
    gate.forge.once(Route::PullCommits, Fault::HoldBefore(asking.clone()));
    let work = gate.start_work();
    asking.arrived().await;
    let _never_delivered = gate.dismisses("mia", 7);
    asking.release();
    gate.finish(work).await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    gate.end().await;
}

#[tokio::test]
async fn a_lost_role_takes_the_approval_back_at_the_next_look() {
    let mut gate = waiting(world()).await;
    approved_by(&mut gate, "mia").await;
    gate.has_role("mia", ("write", "write"));
    let comment = gate.says("ada", 7, "/rescore");
    gate.deliver(crate::fake_forge::Happening::Commented(comment)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    gate.end().await;
}

#[tokio::test]
async fn a_triager_cannot_end_a_hold() {
    let gate = waiting(world()).await;
    gate.has_role("rita", ("read", "triage"));
    in_vain(gate, "rita", "the role is triage, and maintain is needed").await;
}

#[tokio::test]
async fn the_author_of_the_pull_request_cannot_end_a_hold() {
    let gate = waiting(world()).await;
    gate.has_role("ada", ("admin", "admin"));
    in_vain(gate, "ada", "the author of the pull request").await;
}

#[tokio::test]
async fn the_author_of_a_commit_cannot_end_a_hold() {
    let mut gate = world().start().await;
    gate.change_pull(7, |pull| "rita".clone_into(&mut pull.author));
    gate.has_role("ada", ("admin", "admin"));
    gate.deliver(opened(7)).await;
    gate.drain().await;
    in_vain(gate, "ada", "an author, committer or co-author of these commits").await;
}

#[tokio::test]
async fn a_co_author_cannot_end_a_hold() {
    let said = "Bump\n\nCo-authored-by: Mia <14+mia@users.noreply.github.com>\n";
    let gate = waiting(Gate::world().pull(bump().saying(said))).await;
    in_vain(gate, "mia", "an author, committer or co-author of these commits").await;
}

#[tokio::test]
async fn nobody_ends_a_hold_where_a_co_author_may_be_anybody() {
    let said = "Bump\n\nCo-authored-by: M. <someone@example.org>\n";
    let gate = waiting(Gate::world().pull(bump().saying(said))).await;
    in_vain(gate, "mia", "cannot be told from").await;
}

#[tokio::test]
async fn a_bot_cannot_end_a_hold() {
    let gate = waiting(world()).await;
    gate.has_role("agent[bot]", ("admin", "admin"));
    in_vain(gate, "agent[bot]", "no person").await;
}

#[tokio::test]
async fn an_approval_never_touches_a_reject() {
    let mut gate = Gate::with(pr(7).modifies("tests/fixtures/users.json").modifies("poetry.lock")).await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    approved_by(&mut gate, "mia").await;
    assert_eq!(gate.verdict(7), "completed/failure");
    gate.end().await;
}

#[tokio::test]
async fn a_policy_may_keep_holds_from_being_ended_by_approval() {
    let policy = format!("{}\n[holds]\nrelease = \"never\"\n", crate::dsl::POLICY);
    let mut gate = waiting(world().policy(&policy)).await;
    approved_by(&mut gate, "mia").await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    gate.end().await;
}

#[tokio::test]
async fn reviews_that_cannot_be_asked_for_are_asked_for_again_and_are_no_approval() {
    for route in [Route::Reviews, Route::PullCommits, Route::Permission] {
        let mut gate = waiting(world()).await;
        let review = gate.reviews("mia", 7, "APPROVED");
        gate.deliver(review).await;
        gate.forge.once(route, Fault::status(502));
        gate.drain_through_retries().await;
        assert_eq!(gate.verdict(7), "completed/success", "{route:?}{}", gate.told());
        let greens = gate.runs(7).iter().filter(|run| run.stations.iter().any(|s| s.contains("success"))).count();
        assert_eq!(greens, 1);
        gate.end().await;
    }
}

#[tokio::test]
async fn a_review_that_only_comments_makes_no_work() {
    let mut gate = waiting(world()).await;
    let review = gate.reviews("rita", 7, "COMMENTED");
    gate.deliver(review).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 1);
    gate.end().await;
}
