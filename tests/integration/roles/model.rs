//! The central promise under any sequence of events: a success is only ever posted, and at quiet only ever stands, for what its record
//! was made of; and at quiet every open pull request has exactly one current result (R104).
#![expect(clippy::disallowed_methods, reason = "proptest's own variable says how many sequences a long run plays")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tokio::runtime::Runtime;

use crate::dsl::{Change, Fault, Gate, Held, NARROW_POLICY, POLICY, POLICY_PATH, Route, opened, pr, reopened};
use crate::fake_forge::{GreenPull, Happening, Signed};

const LABEL: &str = "evidence-edit";

/// Sequences in the suite; `PROPTEST_CASES` asks for another number.
const IN_THE_SUITE: u32 = 3;

/// What a change touches, and so what it must be judged as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Product under both policies.
    Product,
    /// Product under the wide policy, and of no class under the narrow one.
    Engine,
    /// Evidence.
    Fixture,
}

/// What becomes of the delivery that tells of a step.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Now,
    Twice,
    Later,
    Never,
}

#[derive(Clone, Debug)]
enum Happens {
    Push { pull: u64, kind: Kind, force: bool },
    Retarget { pull: u64 },
    Policy { main: bool, narrow: bool },
    OtherBasePush { main: bool },
    CloseOrReopen { pull: u64 },
    Review { pull: u64, yes: bool },
    Dismiss { pull: u64 },
    Label { pull: u64 },
    Share { pull: u64 },
    Draft { pull: u64 },
    Command { pull: u64, by_a_reader: bool },
    ReRun { pull: u64 },
}

#[derive(Clone, Debug)]
enum Step {
    Happens(Happens, Fate),
    DeliverLate {
        which: usize,
        again: bool,
    },
    Work,
    /// The worker is killed while a request of this kind stands at the forge.
    Killed {
        route: usize,
    },
    /// Something happens, and is told of, while a request of this kind stands at the forge.
    Meanwhile {
        route: usize,
        happens: Happens,
    },
    ForgesClock {
        minutes: i64,
    },
}

/// Where a worker is stopped: before it looks at the pull request for the last time.
const STOPS: [Route; 4] = [Route::CreateRun, Route::Git, Route::Pull, Route::BranchTip];

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![3 => Just(Kind::Product), 3 => Just(Kind::Engine), 2 => Just(Kind::Fixture)]
}

fn happens() -> impl Strategy<Value = Happens> {
    let pull = 7_u64..=8;
    prop_oneof![
        5 => (pull.clone(), kind(), any::<bool>()).prop_map(|(pull, kind, force)| Happens::Push { pull, kind, force }),
        4 => pull.clone().prop_map(|pull| Happens::Retarget { pull }),
        4 => (any::<bool>(), any::<bool>()).prop_map(|(main, narrow)| Happens::Policy { main, narrow }),
        2 => any::<bool>().prop_map(|main| Happens::OtherBasePush { main }),
        2 => pull.clone().prop_map(|pull| Happens::CloseOrReopen { pull }),
        3 => (pull.clone(), any::<bool>()).prop_map(|(pull, yes)| Happens::Review { pull, yes }),
        1 => pull.clone().prop_map(|pull| Happens::Dismiss { pull }),
        3 => pull.clone().prop_map(|pull| Happens::Label { pull }),
        1 => pull.clone().prop_map(|pull| Happens::Share { pull }),
        1 => pull.clone().prop_map(|pull| Happens::Draft { pull }),
        2 => (pull.clone(), any::<bool>()).prop_map(|(pull, by_a_reader)| Happens::Command { pull, by_a_reader }),
        1 => pull.prop_map(|pull| Happens::ReRun { pull }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let fate =
        prop_oneof![4 => Just(Fate::Now), 1 => Just(Fate::Twice), 2 => Just(Fate::Later), 2 => Just(Fate::Never)];
    prop_oneof![
        8 => (happens(), fate).prop_map(|(happens, fate)| Step::Happens(happens, fate)),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(which, again)| Step::DeliverLate { which, again }),
        4 => Just(Step::Work),
        1 => (0..STOPS.len()).prop_map(|route| Step::Killed { route }),
        2 => ((0..STOPS.len()), happens()).prop_map(|(route, happens)| Step::Meanwhile { route, happens }),
        1 => prop_oneof![Just(20_i64), Just(65)].prop_map(|minutes| Step::ForgesClock { minutes }),
    ]
}

struct Story {
    gate: Gate,
    /// What each head touches.
    heads: BTreeMap<String, BTreeSet<Kind>>,
    /// What each pull request touches now.
    touched: BTreeMap<u64, BTreeSet<Kind>>,
    late: Vec<Signed>,
    count: u64,
}

fn file(kind: Kind, pull: u64) -> String {
    match kind {
        Kind::Product => format!("src/of_{pull}.py"),
        Kind::Engine => format!("engine/of_{pull}.dat"),
        Kind::Fixture => format!("tests/fixtures/of_{pull}.json"),
    }
}

impl Story {
    async fn new() -> Self {
        let change = |pull: u64| pr(pull).writes(file(Kind::Product, pull), "x = 0\n");
        let mut gate = Gate::world()
            .pull(change(7))
            .pull(change(8))
            .set("WORK__LEASE", "2s")
            .set("WORK__CONCURRENCY", "1")
            .start()
            .await;
        gate.commit_to("release", &pr(1).writes("release.txt", "1\n"));
        gate.forge.state().watch_greens = true;
        let mut story = Self { gate, heads: BTreeMap::new(), touched: BTreeMap::new(), late: Vec::new(), count: 0 };
        for pull in [7, 8] {
            story.touched.insert(pull, BTreeSet::from([Kind::Product]));
            story.note_head(pull);
            story.gate.deliver(opened(pull)).await;
        }
        story
    }

    fn note_head(&mut self, pull: u64) {
        self.heads.insert(self.gate.head(pull), self.touched[&pull].clone());
    }

    async fn play(&mut self, step: &Step) {
        self.count += 1;
        match step {
            Step::Happens(happens, fate) => {
                let Some(told) = self.happen(happens) else { return };
                let signed = self.gate.sign(&told);
                match fate {
                    Fate::Now => self.send(&signed).await,
                    Fate::Twice => {
                        self.send(&signed).await;
                        self.send(&signed.replayed()).await;
                    }
                    Fate::Later => self.late.push(signed),
                    Fate::Never => {}
                }
            }
            Step::DeliverLate { which, again } => self.deliver_late(*which, *again).await,
            Step::Work => self.gate.drain_through_retries().await,
            Step::Killed { route } => self.work_stopped_at(STOPS[*route], None).await,
            Step::Meanwhile { route, happens } => self.work_stopped_at(STOPS[*route], Some(happens)).await,
            Step::ForgesClock { minutes } => {
                self.gate.forge.state().ahead += jiff::SignedDuration::from_mins(*minutes);
            }
        }
    }

    async fn send(&self, signed: &Signed) {
        let status = self.gate.send(signed).await;
        assert!((200..300).contains(&status), "a delivery was not taken: {status}");
    }

    async fn deliver_late(&mut self, which: usize, again: bool) {
        if self.late.is_empty() {
            return;
        }
        let which = which % self.late.len();
        let signed = if again { self.late[which].clone() } else { self.late.remove(which) };
        self.send(&signed).await;
    }

    /// Starts a worker and stops it at a request. Where none comes, the worker ends by itself.
    async fn work_stopped_at(&mut self, route: Route, meanwhile: Option<&Happens>) {
        let held = Held::default();
        self.gate.forge.once(route, Fault::HoldBefore(held.clone()));
        let mut work = self.gate.start_work();
        let hurry = self.gate.hurry().await;
        let stopped = tokio::select! {
            () = held.arrived() => true,
            () = work.over() => false,
        };
        hurry.abort();
        if stopped {
            match meanwhile {
                None => {
                    work.kill().await;
                    held.release();
                    return;
                }
                Some(happens) => {
                    if let Some(told) = self.happen(happens) {
                        let signed = self.gate.sign(&told);
                        self.send(&signed).await;
                    }
                    held.release();
                }
            }
        }
        self.gate.forge.heal();
        self.gate.finish_through_retries(work).await;
    }

    /// Changes the forge's state, and answers what it would tell.
    fn happen(&mut self, happens: &Happens) -> Option<Happening> {
        let n = self.count;
        match *happens {
            Happens::Push { pull, kind, force } => {
                let change: Change = pr(pull).writes(file(kind, pull), format!("x = {n}\n"));
                let touched = self.touched.entry(pull).or_default();
                if force {
                    touched.clear();
                }
                touched.insert(kind);
                let told = if force { self.gate.force_push(&change) } else { self.gate.push(&change) };
                self.note_head(pull);
                Some(told)
            }
            Happens::Retarget { pull } => {
                let branch = if self.gate.pull(pull).base_branch == "main" { "release" } else { "main" };
                Some(self.gate.retarget(pull, branch))
            }
            Happens::Policy { main, narrow } => {
                let text = if narrow { NARROW_POLICY } else { POLICY };
                // A line of its own each time, so that the commit changes something.
                let change = pr(1).writes(POLICY_PATH, format!("# {n}\n{text}"));
                Some(self.gate.push_to(branch(main), &change))
            }
            Happens::OtherBasePush { main } => {
                Some(self.gate.push_to(branch(main), &pr(1).writes("NEWS.md", format!("{n}\n"))))
            }
            Happens::CloseOrReopen { pull } => {
                if self.gate.pull(pull).open {
                    return Some(self.gate.close(pull));
                }
                self.gate.change_pull(pull, |pull| pull.open = true);
                Some(reopened(pull))
            }
            Happens::Review { pull, yes } => {
                Some(self.gate.reviews("mia", pull, if yes { "APPROVED" } else { "CHANGES_REQUESTED" }))
            }
            Happens::Dismiss { pull } => {
                let any = self.gate.forge.state().reviews.iter().any(|review| review.pull == pull);
                any.then(|| self.gate.dismisses("mia", pull))
            }
            Happens::Label { pull } => Some(if self.gate.pull(pull).labels.is_empty() {
                self.gate.labels("ada", pull, LABEL)
            } else {
                self.gate.unlabels("ada", pull, LABEL)
            }),
            Happens::Share { pull } => {
                let other = 15 - pull;
                self.touched.insert(pull, self.touched[&other].clone());
                Some(self.gate.takes_head_of(pull, other))
            }
            Happens::Draft { pull } => {
                self.gate.change_pull(pull, |pull| pull.draft = !pull.draft);
                Some(if self.gate.pull(pull).draft {
                    Happening::ConvertedToDraft(pull)
                } else {
                    Happening::ReadyForReview(pull)
                })
            }
            Happens::Command { pull, by_a_reader } => {
                let comment = self.gate.says(if by_a_reader { "rita" } else { "mia" }, pull, "/rescore");
                Some(Happening::Commented(comment))
            }
            Happens::ReRun { pull } => {
                let run = self.gate.runs(pull).first()?.id;
                Some(Happening::Rerequested { run, by: "mia" })
            }
        }
    }

    fn expected(touched: &BTreeSet<Kind>, pull: &GreenPull) -> &'static str {
        let evidence = touched.contains(&Kind::Fixture);
        let waits = evidence || touched.contains(&Kind::Engine) && !pull.policy.contains("engine/**");
        if evidence && !(pull.labelled && touched.len() == 1) {
            "failure"
        } else if waits && !pull.approved {
            "action_required"
        } else {
            "success"
        }
    }

    fn now(&self, number: u64) -> GreenPull {
        let pull = self.gate.pull(number);
        GreenPull {
            number,
            policy: self.gate.file_at(&pull.base_branch, POLICY_PATH),
            labelled: !pull.labels.is_empty(),
            approved: self.gate.is_approved_by("mia", number),
        }
    }

    /// Whatever was posted as a success was one for the head, the branch, the policy, the label and the approval that the forge had at that
    /// moment; where several pull requests have the head, for one of them at least: the other may never have been told of.
    fn every_green_was_right(&self) {
        let state = self.gate.forge.state();
        for green in &state.greens {
            let touched = &self.heads[&green.head];
            let right = |pull: &GreenPull| Self::expected(touched, pull) == "success";
            let wrong: Vec<u64> = green.pulls.iter().filter(|pull| !right(pull)).map(|pull| pull.number).collect();
            let all = wrong.len() == green.pulls.len() && !wrong.is_empty();
            assert!(!all, "run {} on {} is green for {wrong:?}: {green:?}", green.run, green.head);
        }
    }

    /// Everything that is on its way arrives, and what never will is looked for.
    async fn come_to_rest(&mut self) {
        for signed in std::mem::take(&mut self.late) {
            self.send(&signed).await;
        }
        self.gate.drain_through_retries().await;
        self.gate.make_old().await;
        self.gate.reconcile().await;
        self.gate.drain_through_retries().await;
    }

    fn every_open_pull_request_has_its_one_result(&self) {
        for pull in [7, 8] {
            let shown = self.gate.pull(pull);
            if !shown.open {
                continue;
            }
            // One commit has one check run, and the worse verdict counts for all who have it.
            let open = [7, 8].into_iter().filter(|other| {
                let other = self.gate.pull(*other);
                other.open && other.head == shown.head
            });
            let words = open.map(|other| Self::expected(&self.touched[&other], &self.now(other)));
            let worst =
                words.max_by_key(|word| ["success", "action_required", "failure"].iter().position(|w| w == word));
            let expected = format!("completed/{}", worst.unwrap());
            assert_eq!(self.gate.verdict(pull), expected, "#{pull} on {}{}", shown.base_branch, self.gate.told());
        }
    }
}

fn branch(main: bool) -> &'static str {
    if main { "main" } else { "release" }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(IN_THE_SUITE),
        max_shrink_iters: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn no_sequence_of_events_leaves_or_posts_a_success_that_its_record_does_not_bear(
        steps in proptest::collection::vec(step(), 4..14)
    ) {
        Runtime::new().unwrap().block_on(async {
            let mut story = Story::new().await;
            for step in &steps {
                story.play(step).await;
                story.every_green_was_right();
            }
            story.come_to_rest().await;
            story.every_green_was_right();
            story.every_open_pull_request_has_its_one_result();
            story.gate.look_at_all_runs();
            story.gate.end().await;
        });
    }
}
