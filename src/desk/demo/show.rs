//! The demonstration itself: opens the pull requests, does what the stories say, and watches the check runs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::args::DemoArgs;
use super::forge::{Forge, MIA, Run};
use super::house::House;
use super::lack::{self, Lack};
use super::serve::Served;
use super::site::Site;
use super::stories::{self, Runs, STORIES, Story, Then};
use super::told;
use crate::desk::Failure;
use crate::words::Verdict;

/// After this long without all verdicts something is wrong.
const LONGEST: Duration = Duration::from_mins(5);

/// Shows everything, and returns the exit code.
pub fn demo(args: &DemoArgs, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Ours(format!("cannot start the runtime: {error}")))?
        .block_on(shown(args, clock))
}

async fn shown(args: &DemoArgs, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let listening = |error: std::io::Error| Failure::Ours(format!("cannot listen for signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(listening)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(listening)?;
    let house = House::make(args.keep.as_deref())?;
    let (forge, registered) = Forge::start(&house.repositories(), clock).await?;
    let forge = Arc::new(forge);
    let site = Site::bind(args.port).await?;
    house.configure(&forge, &registered, site.address())?;
    stories::found(&forge)?;
    let mut served = Served::start(&house)?;
    let without = lack::look().await;
    let page = site.open(Arc::clone(&forge), without.clone());
    let ended = tokio::select! {
        ended = run(args, &forge, &house, &mut served, page.address(), without.as_ref()) => ended,
        _ = interrupt.recv() => Ok(0),
        _ = terminate.recv() => Ok(0),
    };
    drop(page);
    served.stop().await;
    ended
}

async fn run(
    args: &DemoArgs,
    forge: &Forge,
    house: &House,
    served: &mut Served,
    address: &str,
    without: Option<&Lack>,
) -> Result<u8, Failure> {
    told::line(&format!("The demonstration is on {address}\n"))?;
    if let Some(lack) = without {
        told::line(&format!(
            "What a pull request brings cannot be run on this machine, and never is outside a sandbox:\n  {}\n\
             What needs a run will be unscored, and says so.\n",
            crate::score::visible(&lack.told())
        ))?;
    }
    forge.set_receiver(served.receiver(house).await?);
    tokio::select! {
        failure = served.ended() => Err(failure),
        ended = told_as_it_comes(args, forge, address, without) => ended,
    }
}

async fn told_as_it_comes(
    args: &DemoArgs,
    forge: &Forge,
    address: &str,
    without: Option<&Lack>,
) -> Result<u8, Failure> {
    let mut changes = forge.changes();
    forge.deliver(super::forge::Happening::Ping).await?;
    for story in &STORIES {
        story.open(forge).await?;
    }
    let mut courses: Vec<Course<'_>> = STORIES.iter().map(|story| Course::new(story, without)).collect();
    let stories = follow(forge, &mut courses, &mut changes);
    let late = |_| Failure::Ours(format!("not every verdict came within {} s", LONGEST.as_secs()));
    tokio::time::timeout(LONGEST, stories).await.map_err(late)??;
    told::table(&courses)?;
    if args.once {
        return Ok(u8::from(courses.iter().any(|course| !course.surprises.is_empty())));
    }
    told::what_to_try(address)?;
    let mut seen: BTreeSet<u64> = forge.state().runs.keys().copied().collect();
    loop {
        for (number, run, verdict) in verdicts(forge) {
            if seen.insert(run.id) {
                told::verdict(number, verdict, run.title.as_deref().unwrap_or_default())?;
            }
        }
        wait(&mut changes).await?;
    }
}

/// Tells each verdict when it comes, and takes the step that its story has next, until all stories are told.
async fn follow(forge: &Forge, courses: &mut [Course<'_>], changes: &mut watch::Receiver<u64>) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    while !courses.iter().all(Course::is_over) {
        for (number, run, verdict) in verdicts(forge) {
            let Some(course) = courses.iter_mut().find(|course| course.story.number == number && !course.is_over())
            else {
                continue;
            };
            if !seen.insert(run.id) {
                continue;
            }
            told::verdict(number, verdict, run.title.as_deref().unwrap_or_default())?;
            let step = course.takes(verdict, &run);
            match step {
                None => {}
                Some(Then::Approve) => forge.approve(number, MIA).await?,
                Some(Then::Retarget(branch)) => forge.retarget(number, branch).await?,
            }
        }
        if !courses.iter().all(Course::is_over) {
            wait(changes).await?;
        }
    }
    Ok(())
}

async fn wait(changes: &mut watch::Receiver<u64>) -> Result<(), Failure> {
    changes.changed().await.map_err(|_| Failure::Ours("the forge ended".to_owned()))
}

/// For each pull request the newest run on its head, where that run is a verdict.
fn verdicts(forge: &Forge) -> Vec<(u64, Run, Verdict)> {
    let state = forge.state();
    let newest = state.pulls.values().filter_map(|pull| Some((pull.number, state.runs_on(&pull.head).next()?)));
    newest.filter_map(|(number, run)| Some((number, run.clone(), verdict_of(run)?))).collect()
}

/// The verdict of a run; `None` for one that waits, or that only covers an older one.
pub(super) fn verdict_of(run: &Run) -> Option<Verdict> {
    let title = run.title.as_deref().unwrap_or_default();
    let said = |word: &str| title.starts_with(word) && run.external_id.is_some() && !title.ends_with(": superseded");
    match run.conclusion.as_deref()? {
        "success" => Some(Verdict::Review),
        "failure" => Some(Verdict::Reject),
        _ if said("HOLD") => Some(Verdict::Hold),
        _ if said("UNSCORED") => Some(Verdict::Unscored),
        _ => None,
    }
}

/// How far a story has got.
pub(super) struct Course<'a> {
    pub(super) story: &'a Story,
    /// What this machine lacks.
    without: Option<&'a Lack>,
    /// Every verdict so far.
    pub(super) verdicts: Vec<Verdict>,
    /// What was not as expected.
    pub(super) surprises: Vec<String>,
}

impl<'a> Course<'a> {
    fn new(story: &'a Story, without: Option<&'a Lack>) -> Self {
        Self { story, without, verdicts: Vec::new(), surprises: Vec::new() }
    }

    fn is_over(&self) -> bool {
        self.verdicts.len() > self.story.then.len()
    }

    /// Takes note of a verdict, and says what is done next.
    fn takes(&mut self, verdict: Verdict, run: &Run) -> Option<Then> {
        let at = self.verdicts.len();
        let (expected, rule) = self.expected(at);
        let named = rule.is_empty() || run.summary.as_deref().is_some_and(|text| text.contains(&format!("[{rule}](")));
        if verdict != expected || !named {
            let rule = if rule.is_empty() { String::new() } else { format!(" with {rule}") };
            self.surprises.push(format!("expected {expected}{rule}, and {verdict} came"));
        }
        self.verdicts.push(verdict);
        self.story.then.get(at).copied()
    }

    /// Where nothing can run, what would run is unscored; the rest is as everywhere.
    fn expected(&self, at: usize) -> (Verdict, &'static str) {
        let (verdict, rule) = self.story.expected[at];
        let needs_a_run = self.story.runs == Runs::InSandbox && rule != "evidence-edited";
        match self.without {
            Some(lack) if needs_a_run => (Verdict::Unscored, lack.rule()),
            Some(_) | None => (verdict, rule),
        }
    }
}
