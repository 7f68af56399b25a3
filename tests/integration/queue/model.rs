//! Any sequence of calls, held against what must always be true.

use std::collections::BTreeMap;

use evidence_gate::delivery::Stored;
use evidence_gate::queue::{Fenced, Generation, Lease, Queue as _, Settled, Superseded};
use evidence_gate::words::Verdict;
use proptest::prelude::*;
use tokio::runtime::Runtime;

use super::cast::{Hook, House, LEASE, at, closed, opened, pushed, reopened, retargeted};

#[derive(Clone, Debug)]
enum Step {
    Store { pull: u64, kind: u8 },
    Redeliver { which: usize, new_id: bool },
    Claim,
    Pass { seconds: i64 },
    Settle { which: usize, how: u8 },
    Publish { which: usize },
    Heartbeat { which: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (1_u64..=3, 0_u8..8).prop_map(|(pull, kind)| Step::Store { pull, kind }),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(which, new_id)| Step::Redeliver { which, new_id }),
        5 => Just(Step::Claim),
        3 => prop_oneof![Just(1_i64), Just(15), Just(61)].prop_map(|seconds| Step::Pass { seconds }),
        3 => (any::<usize>(), 0_u8..5).prop_map(|(which, how)| Step::Settle { which, how }),
        3 => any::<usize>().prop_map(|which| Step::Publish { which }),
        1 => any::<usize>().prop_map(|which| Step::Heartbeat { which }),
    ]
}

/// What the story knows about one pull request. Moments are numbers of steps.
#[derive(Default)]
struct PullFacts {
    /// The last trigger that asks for a look, unless a closing came after it.
    wanted_since: Option<u64>,
    /// The last trigger that makes a running evaluation stale.
    stale_since: Option<u64>,
    generation: Option<Generation>,
}

struct Held {
    lease: Lease,
    taken: u64,
    /// By the clock of the story; a heartbeat moves it.
    expires: i64,
    ended: bool,
}

struct Story {
    house: House,
    now: i64,
    step: u64,
    sent: Vec<(String, Hook)>,
    pulls: BTreeMap<u64, PullFacts>,
    held: Vec<Held>,
}

impl Story {
    async fn new() -> Self {
        let (sent, pulls, held) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self { house: House::new().await, now: 0, step: 0, sent, pulls, held }
    }

    async fn play(&mut self, step: &Step) {
        self.step += 1;
        match *step {
            Step::Store { pull, kind } => self.store(pull, kind).await,
            Step::Redeliver { which, new_id } => self.redeliver(which, new_id).await,
            Step::Claim => drop(self.claim().await),
            Step::Pass { seconds } => self.now += seconds,
            Step::Settle { which, how } => self.settle(which, how).await,
            Step::Publish { which } => self.publish(which).await,
            Step::Heartbeat { which } => self.heartbeat(which).await,
        }
        self.at_most_one_queued_and_one_running_job_per_pull_request().await;
    }

    async fn store(&mut self, pull: u64, kind: u8) {
        let make = match kind {
            0 => opened,
            1 => reopened,
            2 => closed,
            3 => retargeted,
            _ => pushed,
        };
        let hook = make(pull, 'a', self.now).saying(self.step.to_string());
        let id = format!("step-{}", self.step);
        let answer = self.house.try_store(hook.under(&id)).await.unwrap();
        let facts = self.pulls.entry(pull).or_default();
        match (hook.action == "closed", answer) {
            (true, Stored::Ignored(_)) => (facts.wanted_since, facts.stale_since) = (None, Some(self.step)),
            (true, Stored::Coalesced) => facts.wanted_since = Some(self.step),
            // A closing is queued as one more look where it meets a reopening that runs.
            (true, Stored::Queued) | (false, Stored::Queued | Stored::Coalesced) => {
                facts.wanted_since = Some(self.step);
                facts.stale_since = Some(self.step);
            }
            (_, other) => panic!("a new delivery came out as {other:?}"),
        }
        self.sent.push((id, hook));
    }

    async fn redeliver(&mut self, which: usize, new_id: bool) {
        if self.sent.is_empty() {
            return;
        }
        let (id, hook) = self.sent[which % self.sent.len()].clone();
        let id = if new_id { format!("replay-{}", self.step) } else { id };
        let answer = self.house.try_store(hook.under(&id)).await.unwrap();
        match (new_id, answer) {
            (false, Stored::Duplicate) => {}
            // What had failed for good is tried again.
            (false, Stored::Queued) | (true, Stored::Queued | Stored::Coalesced) => {
                self.pulls.entry(hook.pull).or_default().wanted_since = Some(self.step);
            }
            (_, other) => panic!("a redelivery came out as {other:?}"),
        }
    }

    async fn claim(&mut self) -> Option<usize> {
        let lease = self.house.claim(self.now).await?;
        let pull = lease.job.trigger.pull.0;
        for other in self.held.iter().filter(|other| other.lease.job.trigger.pull.0 == pull && !other.ended) {
            assert!(other.expires <= self.now, "pull request {pull} is worked on already");
        }
        let facts = self.pulls.entry(pull).or_default();
        assert!(facts.generation.is_none_or(|before| before < lease.generation), "generations grow");
        facts.generation = Some(lease.generation);
        let expires = self.now + i64::try_from(LEASE.as_secs()).unwrap();
        self.held.push(Held { lease, taken: self.step, expires, ended: false });
        Some(self.held.len() - 1)
    }

    /// Whether this lease was neither settled nor taken over.
    fn stands(&self, index: usize) -> bool {
        let (before, rest) = self.held.split_at(index + 1);
        let mine = &before[index];
        let pull = mine.lease.job.trigger.pull;
        !mine.ended && rest.iter().all(|later| later.lease.job.trigger.pull != pull)
    }

    async fn settle(&mut self, which: usize, how: u8) {
        if self.held.is_empty() {
            return;
        }
        let index = which % self.held.len();
        let end = match how {
            0 => Settled::Dead { why: "no".to_owned() },
            1 | 2 => Settled::Retry { not_before: at(self.now + 15), why: "later".to_owned() },
            _ => Settled::Done,
        };
        let stands = self.stands(index);
        let looked = end == Settled::Done || matches!(end, Settled::Dead { .. });
        let fenced = self.house.queue.settle(&self.held[index].lease, end, at(self.now)).await.unwrap();
        assert_eq!(fenced == Fenced::Held, stands);
        if stands {
            self.held[index].ended = true;
            if looked {
                self.looked_at(index);
            }
        }
    }

    /// Whatever was asked for before this lease was taken is answered by it.
    fn looked_at(&mut self, index: usize) {
        let Held { lease, taken, .. } = &self.held[index];
        let facts = self.pulls.entry(lease.job.trigger.pull.0).or_default();
        if facts.wanted_since.is_some_and(|since| since <= *taken) {
            facts.wanted_since = None;
        }
    }

    async fn publish(&mut self, which: usize) {
        if self.held.is_empty() {
            return;
        }
        let index = which % self.held.len();
        let lease = self.held[index].lease.clone();
        let facts = self.pulls.entry(lease.job.trigger.pull.0).or_default();
        let stale = facts.stale_since.is_some_and(|since| since > self.held[index].taken);
        let answer = self.house.queue.begin_post(&lease, Verdict::Review, b"{}").await.unwrap();
        assert_eq!(answer == Superseded::Current, self.stands(index) && !stale, "{lease:?}");
        if answer == Superseded::Current {
            assert_eq!(self.house.queue.posted(&lease).await.unwrap(), Fenced::Held);
        }
    }

    async fn heartbeat(&mut self, which: usize) {
        if self.held.is_empty() {
            return;
        }
        let index = which % self.held.len();
        let fenced = self.house.queue.heartbeat(&self.held[index].lease, at(self.now), LEASE).await.unwrap();
        assert_eq!(fenced == Fenced::Held, self.stands(index));
        if fenced == Fenced::Held {
            self.held[index].expires = self.now + i64::try_from(LEASE.as_secs()).unwrap();
        }
    }

    async fn at_most_one_queued_and_one_running_job_per_pull_request(&self) {
        let sql = "SELECT count(*) FROM jobs WHERE state != 'dead' GROUP BY pull, state HAVING count(*) > 1";
        let more: Vec<i64> = sqlx::query_scalar(sql).fetch_all(&mut self.house.by_hand().await).await.unwrap();
        assert_eq!(more, [0_i64; 0]);
    }

    /// Works until nothing is left, an hour at a time: then nothing that was asked for may be unanswered.
    async fn drain(&mut self) {
        for _ in 0..50 {
            self.step += 1;
            self.now += 3600;
            while let Some(index) = self.claim().await {
                self.looked_at(index);
                self.house.done(&self.held[index].lease, self.now).await;
                self.held[index].ended = true;
            }
            let (queued, running, _) = self.house.counts().await;
            if (queued, running) == (0, 0) {
                break;
            }
        }
        for (pull, facts) in &self.pulls {
            assert_eq!(facts.wanted_since, None, "the last trigger of pull request {pull} is lost");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_no_trigger_is_lost_and_no_pull_request_is_worked_on_twice(
        steps in prop::collection::vec(step(), 1..50),
    ) {
        Runtime::new().unwrap().block_on(async {
            let mut story = Story::new().await;
            for step in &steps {
                story.play(step).await;
            }
            story.drain().await;
        });
    }
}
