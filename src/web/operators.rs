//! What waits and what failed for good, for operators.

use jiff::Timestamp;
use maud::{Markup, html};

use super::page::{Visitor, code, outside, page};
use crate::queue::{DeadErrand, Depth, Job};

/// What the page is made of.
pub(super) struct Work<'a> {
    pub(super) depth: Depth,
    /// Jobs that wait or run, oldest first, with whether they run.
    pub(super) live: &'a [(Job, bool)],
    /// Jobs that failed for good, with the last error.
    pub(super) letters: &'a [(Job, String)],
    /// Errands that failed for good: what, after how many tries, why.
    pub(super) errands: &'a [DeadErrand],
    pub(super) now: Timestamp,
}

/// The whole page.
pub(super) fn work(of: &Work<'_>, visitor: &Visitor) -> Markup {
    page(
        "Queue",
        visitor,
        &html! {
            h1 { "Queue" }
            ul class="tiles" {
                li { strong { (of.depth.queued) } "queued" }
                li { strong { (of.depth.running) } "running" }
                li { strong { (of.depth.dead) } "failed for good" }
                li { strong { (age(of.depth.oldest_seconds)) } "the oldest waits" }
            }
            section aria-labelledby="live" {
                h2 id="live" { "Waiting and running" }
                @if of.live.is_empty() { p { "Nothing waits." } } @else {
                    table {
                        thead { tr {
                            th scope="col" { "Pull request" } th scope="col" { "State" } th scope="col" class="number" { "Tries" }
                            th scope="col" { "Since" }
                        } }
                        tbody { @for (job, runs) in of.live { tr {
                            td { (pull(job)) } td { @if *runs { "running" } @else { "queued" } }
                            td class="number" { (job.attempt) } td { (since(job, of.now)) }
                        } } }
                    }
                }
            }
            section aria-labelledby="letters" {
                h2 id="letters" { "Failed for good" }
                @if of.letters.is_empty() && of.errands.is_empty() { p { "Nothing failed for good." } }
                @if !of.letters.is_empty() {
                    p { "Each of these has said so on its pull request, as unscored. " code { "evidence-gate queue retry JOB" } " tries one again." }
                    table {
                        thead { tr {
                            th scope="col" class="number" { "Job" } th scope="col" { "Pull request" } th scope="col" class="number" { "Tries" }
                            th scope="col" { "Last error" }
                        } }
                        tbody { @for (job, why) in of.letters { tr {
                            td class="number" { (job.id.0) } td { (pull(job)) } td class="number" { (job.attempt) } td { (outside(why)) }
                        } } }
                    }
                }
                @if !of.errands.is_empty() {
                    table {
                        caption { "Errands" }
                        thead { tr {
                            th scope="col" { "Errand" } th scope="col" class="number" { "Tries" } th scope="col" { "Last error" }
                        } }
                        tbody { @for DeadErrand { id: _, key: what, tries, why } in of.errands { tr {
                            td { (code(what)) } td class="number" { (tries) } td { (outside(why)) }
                        } } }
                    }
                }
            }
        },
    )
}

fn pull(job: &Job) -> Markup {
    html! { (outside(job.trigger.repository.name.as_str())) " #" (job.trigger.pull) }
}

fn since(job: &Job, now: Timestamp) -> Markup {
    let seconds = u64::try_from(now.duration_since(job.queued).as_secs()).unwrap_or_default();
    html! { (age(seconds)) }
}

fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}
