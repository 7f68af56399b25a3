//! The receiver beside what teams run today, on one machine, in turns: `benches/receiver/run.sh`.
//!
//! Every server gets the same deliveries: a recorded `pull_request` payload of 24 kB, each with a body and a delivery id of its own,
//! signed before it is sent, over 64 connections that are kept open. Then the receiver is killed with `kill -9` under load, and
//! every delivery that it had acknowledged must be in its database.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench starts servers itself, prints its figures and fails by panicking"
)]

mod deliveries;
mod load;
mod server;

use std::collections::BTreeMap;
use std::time::Duration;

use evidence_gate::queue::{SqliteOptions, SqliteQueue};
use evidence_gate::words::ForgeKind;

use deliveries::Deliveries;
use load::Run;
use server::{Kind, Server};

const CONNECTIONS: usize = 64;
const WARM_UP: Duration = Duration::from_secs(2);
const MEASURED: Duration = Duration::from_secs(8);
const KILLS: usize = 3;

/// `cargo bench --bench receiver -- [--rounds N] [--only ours,probot]`
struct Asked {
    rounds: usize,
    kinds: Vec<Kind>,
}

fn asked() -> Option<Asked> {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --all-targets` starts this too, and has no time for it.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return None;
    }
    let value = |name: &str| arguments.iter().skip_while(|argument| *argument != name).nth(1);
    let kinds = Kind::ALL.into_iter().filter(|kind| value("--only").is_none_or(|only| only.contains(kind.word())));
    let rounds = value("--rounds").map_or(5, |rounds| rounds.parse().unwrap());
    Some(Asked { rounds, kinds: kinds.collect() })
}

fn main() {
    let Some(Asked { rounds, kinds }) = asked() else { return };
    let deliveries = Deliveries::new();
    let length = deliveries.length();
    println!(
        "{CONNECTIONS} connections, payload of {length} bytes, median of {rounds} rounds of {MEASURED:?} in turns\n"
    );
    let mut runs: BTreeMap<Kind, Vec<Run>> = BTreeMap::new();
    for round in 1..=rounds {
        for kind in &kinds {
            let server = Server::start(*kind, deliveries.secret());
            load::run(&server, &deliveries, CONNECTIONS, WARM_UP);
            let run = load::run(&server, &deliveries, CONNECTIONS, MEASURED);
            println!("round {round}: {:<44} {run}", kind.name());
            assert_eq!(run.refused, 0, "{} refused deliveries: {}", kind.name(), server.said());
            runs.entry(*kind).or_default().push(run);
        }
    }
    print_table(&runs);
    if kinds.contains(&Kind::Ours) {
        let lost: usize = (1..=KILLS).map(|round| lost_by_a_kill(round, &deliveries)).sum();
        assert_eq!(lost, 0, "acknowledged deliveries were lost");
    }
}

fn print_table(runs: &BTreeMap<Kind, Vec<Run>>) {
    let median = |runs: &Vec<Run>| {
        let mut runs = runs.clone();
        runs.sort_by(|one, other| one.per_second().total_cmp(&other.per_second()));
        runs.swap_remove(runs.len() / 2)
    };
    let ours = runs.get(&Kind::Ours).map(|runs| median(runs).per_second());
    println!("\n| receiver | deliveries/s | p50 ms | p99 ms | slowest ms | processor us each | evidence-gate is |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (kind, runs) in runs {
        let run = median(runs);
        let (name, rate, cost) = (kind.name(), run.per_second(), run.server_micros());
        let (p50, p99, slowest) = (run.quantile(0.5), run.quantile(0.99), run.quantile(1.0));
        let times = ours.map_or(String::new(), |ours| format!("{:.1} times", ours / rate));
        println!("| {name} | {rate:.0} | {p50:.1} | {p99:.1} | {slowest:.1} | {cost:.0} | {times} |");
    }
    println!();
}

/// Kills the receiver in the middle of its work and counts what it had acknowledged and does not have.
fn lost_by_a_kill(round: usize, deliveries: &Deliveries) -> usize {
    let mut server = Server::start(Kind::Ours, deliveries.secret());
    let run = load::run_until_killed(&mut server, deliveries, CONNECTIONS, Duration::from_secs(2));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let lost = runtime.block_on(async {
        let queue = SqliteQueue::open(server.data_dir(), SqliteOptions::default()).await.unwrap();
        let mut lost = 0;
        for id in &run.acknowledged {
            let kept = queue.delivery(ForgeKind::Github, &id.parse().unwrap()).await.unwrap();
            lost += usize::from(kept.is_none_or(|kept| kept.body.is_none()));
        }
        lost
    });
    println!("kill -9, round {round}: {} acknowledged, {lost} lost", run.acknowledged.len());
    lost
}
