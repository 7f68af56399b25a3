//! A busy repository: many pull requests on one base, and a repository that moves.

use crate::dsl::{Gate, World, opened, pr};
use crate::fake_forge::Happening;

/// Their numbers.
fn many() -> std::ops::Range<u64> {
    100..140
}

fn crowd() -> World {
    many().fold(Gate::world(), |world, number| world.pull(pr(number).writes(format!("src/of_{number}.py"), "x = 1\n")))
}

#[tokio::test]
async fn a_ledger_that_changes_under_forty_pull_requests_takes_every_green_back_and_judges_each_once_more() {
    let mut gate = crowd().set("WORK__CONCURRENCY", "4").start().await;
    for number in many() {
        gate.deliver(opened(number)).await;
    }
    gate.drain().await;
    assert!(many().all(|number| gate.verdict(number) == "completed/success"));
    let pushed = gate.push_to("main", &pr(1).writes("freeze_ledger.json", "{\"schema\": 2, \"freezes\": {}}\n"));
    gate.deliver(pushed).await;
    gate.drain().await;
    for number in many() {
        let stations: Vec<String> = gate.runs(number).iter().map(|run| run.stations.join(" > ")).collect();
        assert_eq!(
            stations,
            [
                "queued > in_progress > completed/success",
                "completed/action_required",
                "queued > in_progress > completed/success"
            ],
            "#{number}"
        );
    }
    gate.end().await;
}

#[tokio::test]
async fn a_repository_that_is_renamed_keeps_its_verdicts_and_goes_on_under_the_new_name() {
    let mut gate = Gate::with(pr(7).modifies("src/a.py")).await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    gate.rename_repository("gadgets");
    gate.deliver(Happening::Renamed { from: "widgets".to_owned() }).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 1, "the verdict stands{}", gate.told());
    let audit = gate.audit(&["--kind", "verdict"]).await;
    assert!(audit.contains("acme/widgets"), "{audit}");
    let comment = gate.says("mia", 7, "/rescore");
    gate.deliver(Happening::Commented(comment)).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 2, "{}", gate.told());
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}
