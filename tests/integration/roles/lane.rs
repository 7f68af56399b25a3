//! Evidence changes in a lane of its own: who asks, who lets it in, and what takes that back.

use crate::dsl::{Change, Fault, Gate, Held, POLICY, Route, World, opened, pr};
use crate::fake_forge::Happening;

const LABEL: &str = "evidence-edit";

fn edit() -> Change {
    pr(7).modifies("tests/fixtures/users.json")
}

fn world() -> World {
    Gate::world().labelled_pull(edit())
}

/// A lone maintainer's own label lets evidence in.
fn by_label() -> World {
    Gate::world().policy(&format!("{POLICY}\n[lane]\nauthority = \"label\"\n"))
}

async fn judged(world: World) -> Gate {
    let mut gate = world.start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    gate
}

async fn waiting(world: World) -> Gate {
    let gate = judged(world).await;
    assert_eq!(gate.verdict(7), "completed/action_required", "{}", gate.told());
    assert!(
        gate.check_run(7)
            .ends_with("HOLD: lane-waits: the new evidence is sound and waits for an approval of this head")
    );
    gate
}

async fn told(gate: &mut Gate, what: Happening) {
    gate.deliver(what).await;
    gate.drain().await;
}

async fn approved_by(gate: &mut Gate, who: &'static str) {
    let review = gate.reviews(who, 7, "APPROVED");
    told(gate, review).await;
}

async fn rejected(gate: Gate, rule: &str) {
    assert_eq!(gate.verdict(7), "completed/failure", "{}", gate.told());
    assert!(gate.report(7).contains(rule), "{}", gate.report(7));
    gate.end().await;
}

async fn still_waits(gate: Gate, why: &str) {
    assert_eq!(gate.verdict(7), "completed/action_required", "{}", gate.told());
    assert!(gate.report(7).contains(why), "{}", gate.report(7));
    gate.end().await;
}

#[tokio::test]
async fn a_persons_fixture_waits_for_a_maintainer_and_waits_again_after_a_push() {
    let mut gate = waiting(world()).await;
    approved_by(&mut gate, "mia").await;
    assert_eq!(
        gate.check_run(7),
        "queued > in_progress > completed/success\nEvidence let in by mia: 1 fixture file",
        "{}",
        gate.told()
    );
    let pushed = gate.push(&pr(7).writes("tests/fixtures/users.json", "one more\n"));
    told(&mut gate, pushed).await;
    gate.look_at_all_runs();
    still_waits(gate, "mia let an earlier head in, and a push came afterwards").await;
}

#[tokio::test]
async fn a_dismissal_and_a_lost_role_take_the_lane_back() {
    let mut gate = waiting(world()).await;
    approved_by(&mut gate, "mia").await;
    let dismissed = gate.dismisses("mia", 7);
    told(&mut gate, dismissed).await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    approved_by(&mut gate, "mia").await;
    assert_eq!(gate.verdict(7), "completed/success", "{}", gate.told());
    gate.has_role("mia", ("write", "write"));
    let comment = gate.says("ada", 7, "/rescore");
    told(&mut gate, Happening::Commented(comment)).await;
    still_waits(gate, "the role is write, and maintain is needed").await;
}

#[tokio::test]
async fn a_triager_cannot_let_evidence_in() {
    let mut gate = waiting(world()).await;
    gate.has_role("rita", ("read", "triage"));
    approved_by(&mut gate, "rita").await;
    still_waits(gate, "the role is triage, and maintain is needed").await;
}

#[tokio::test]
async fn the_role_for_holds_is_not_the_role_for_the_lane() {
    let policy = format!("{POLICY}\n[holds]\nmin_role = \"write\"\n");
    let mut gate = waiting(world().policy(&policy)).await;
    gate.has_role("rita", ("write", "write"));
    approved_by(&mut gate, "rita").await;
    still_waits(gate, "the role is write, and maintain is needed").await;
}

#[tokio::test]
async fn the_author_cannot_let_evidence_in() {
    let mut gate = waiting(world()).await;
    gate.has_role("ada", ("admin", "admin"));
    approved_by(&mut gate, "ada").await;
    still_waits(gate, "the author of the pull request").await;
}

#[tokio::test]
async fn a_co_author_cannot_let_evidence_in() {
    let said = "Users\n\nCo-authored-by: Mia <14+mia@users.noreply.github.com>\n";
    let mut gate = waiting(Gate::world().labelled_pull(edit().saying(said))).await;
    approved_by(&mut gate, "mia").await;
    still_waits(gate, "an author, committer or co-author of these commits").await;
}

#[tokio::test]
async fn a_bot_cannot_let_evidence_in() {
    let mut gate = waiting(world()).await;
    gate.has_role("agent[bot]", ("admin", "admin"));
    approved_by(&mut gate, "agent[bot]").await;
    still_waits(gate, "no person").await;
}

#[tokio::test]
async fn an_agent_may_not_even_ask() {
    for change in [edit().by("agent[bot]"), edit().on_branch("claude/users")] {
        let gate = judged(Gate::world().labelled_pull(change)).await;
        rejected(gate, "lane-not-authorised").await;
    }
    let said = "Users\n\nCo-authored-by: Claude <noreply@anthropic.com>\n";
    let policy = format!("{POLICY}\n[scope]\ntrailers = [\"Co-authored-by: Claude*\"]\n");
    let gate = judged(Gate::world().policy(&policy).labelled_pull(edit().saying(said))).await;
    rejected(gate, "lane-not-authorised").await;
}

#[tokio::test]
async fn one_product_line_beside_the_fixture_is_a_mix() {
    let mut gate = judged(Gate::world().labelled_pull(edit().modifies("src/login.py"))).await;
    approved_by(&mut gate, "mia").await;
    rejected(gate, "mixed-lane").await;
}

#[tokio::test]
async fn the_label_asks_when_it_is_set_and_no_more_when_it_is_taken_away() {
    let mut gate = judged(Gate::world().pull(edit())).await;
    assert_eq!(gate.verdict(7), "completed/failure");
    let set = gate.labels("ada", 7, LABEL);
    told(&mut gate, set).await;
    assert_eq!(gate.verdict(7), "completed/action_required", "{}", gate.told());
    approved_by(&mut gate, "mia").await;
    assert_eq!(gate.verdict(7), "completed/success");
    let audit = gate.audit(&["--kind", "label"]).await;
    assert!(audit.contains("ada set the label evidence-edit"), "{audit}");
    let taken = gate.unlabels("ada", 7, LABEL);
    told(&mut gate, taken).await;
    rejected(gate, "evidence-edited").await;
}

#[tokio::test]
async fn a_label_that_means_nothing_makes_no_work() {
    let mut gate = judged(Gate::world().pull(edit())).await;
    let set = gate.labels("ada", 7, "nice");
    told(&mut gate, set).await;
    assert_eq!(gate.runs(7).len(), 1);
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_label_that_is_taken_away_while_it_is_judged_lets_nothing_in() {
    let mut gate = waiting(world()).await;
    let review = gate.reviews("mia", 7, "APPROVED");
    gate.deliver(review).await;
    let asking = Held::default();
    gate.forge.once(Route::PullCommits, Fault::HoldBefore(asking.clone()));
    let work = gate.start_work();
    asking.arrived().await;
    let _never_delivered = gate.unlabels("ada", 7, LABEL);
    asking.release();
    gate.finish(work).await;
    rejected(gate, "evidence-edited").await;
}

// The label of a lone maintainer.

#[tokio::test]
async fn a_lone_maintainers_own_label_lets_in_the_head_that_it_was_set_on() {
    let mut gate = judged(by_label().pull(edit().by("mia"))).await;
    let set = gate.labels("mia", 7, LABEL);
    told(&mut gate, set).await;
    assert_eq!(
        gate.check_run(7),
        "queued > in_progress > completed/success\nEvidence let in by mia: 1 fixture file",
        "{}",
        gate.told()
    );
    let pushed = gate.push(&pr(7).writes("tests/fixtures/users.json", "one more\n"));
    told(&mut gate, pushed).await;
    assert_eq!(gate.verdict(7), "completed/action_required");
    assert!(gate.report(7).contains("mia let an earlier head in"), "{}", gate.report(7));
    let taken = gate.unlabels("mia", 7, LABEL);
    told(&mut gate, taken).await;
    let set = gate.labels("mia", 7, LABEL);
    told(&mut gate, set).await;
    assert_eq!(gate.verdict(7), "completed/success", "{}", gate.told());
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_label_of_somebody_without_the_role_only_asks() {
    let mut gate = judged(by_label().pull(edit())).await;
    gate.has_role("rita", ("write", "write"));
    let set = gate.labels("rita", 7, LABEL);
    told(&mut gate, set).await;
    still_waits(gate, "rita (set the label; the role is write, and maintain is needed)").await;
}

#[tokio::test]
async fn a_label_whose_delivery_is_lost_lets_nothing_in() {
    let mut gate = judged(by_label().pull(edit().by("mia"))).await;
    let _lost = gate.labels("mia", 7, LABEL);
    let comment = gate.says("mia", 7, "/rescore");
    told(&mut gate, Happening::Commented(comment)).await;
    still_waits(gate, "waits for an approval of this head").await;
}

#[tokio::test]
async fn a_label_that_somebody_else_set_again_is_not_the_maintainers_any_more() {
    let mut gate = judged(by_label().pull(edit().by("mia"))).await;
    let set = gate.labels("mia", 7, LABEL);
    told(&mut gate, set).await;
    assert_eq!(gate.verdict(7), "completed/success");
    let (_lost, _too) = (gate.unlabels("rita", 7, LABEL), gate.labels("rita", 7, LABEL));
    let comment = gate.says("mia", 7, "/rescore");
    told(&mut gate, Happening::Commented(comment)).await;
    still_waits(gate, "waits for an approval of this head").await;
}

#[tokio::test]
async fn under_authority_by_approval_a_label_grants_nothing_whoever_sets_it() {
    let mut gate = judged(Gate::world().pull(edit().by("mia"))).await;
    let set = gate.labels("mia", 7, LABEL);
    told(&mut gate, set).await;
    still_waits(gate, "waits for an approval of this head").await;
}
