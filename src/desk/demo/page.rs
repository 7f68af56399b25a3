//! The pages: all pull requests, one of them, and the rules.

use maud::{DOCTYPE, Markup, html};

use super::buttons::BUTTONS;
use super::forge::{Comment, Pull, Review, Run, State, person};
use super::markdown::rendered;
use super::show::verdict_of;
use super::site::Shown;
use super::stories::{STORIES, Story};
use crate::score::visible;
use crate::words::Verdict;

/// How it looks: by day and by night, on a desk and on a phone.
pub(super) const STYLE: &str = include_str!("page.css");

const RULES: &str = include_str!("../../../docs/rules.md");

/// All pull requests with the newest verdict of each.
pub(super) fn list(shown: &Shown) -> Markup {
    let state = shown.forge.state();
    let waits = state.pulls.values().any(|pull| is_waiting(&state, pull));
    frame(
        "Pull requests",
        waits,
        &html! {
            h1 { "Pull requests of example/till" }
            p {
                "A till, a coding agent, and a gate. Every verdict here was asked for by a signed webhook, made by the worker from git objects, \
                 and posted as a check run. Open one to read why, and to press its buttons."
            }
            @if let Some(lack) = &shown.without {
                p.notice { strong { "What a pull request brings cannot be run on this machine. " } (visible(&lack.told())) }
            }
            ol.pulls {
                @for pull in state.pulls.values() {
                    li {
                        a href={ "/pulls/" (pull.number) } {
                            span.badge { (badge(&state, pull)) }
                            span.title { "#" (pull.number) " " (pull.title) }
                        }
                        p.small { (pull.author) " wants to merge into " code { (pull.base_branch) } }
                        @if let Some(title) = state.runs_on(&pull.head).next().and_then(|run| run.title.as_ref()) {
                            p.small { (visible(title)) }
                        }
                    }
                }
            }
        },
    )
}

/// One pull request; `None` where there is none with this number.
pub(super) fn pull(shown: &Shown, number: u64) -> Option<Markup> {
    let state = shown.forge.state();
    let pull = state.pulls.get(&number)?;
    let story = STORIES.iter().find(|story| story.number == number);
    let diff = shown.forge.store().diff(&pull.base, &pull.head);
    let runs: Vec<&Run> = state.runs_on(&pull.head).collect();
    let page = html! {
        p.small { a href="/" { "All pull requests" } }
        h1 { span.badge { (badge(&state, pull)) } " #" (pull.number) " " (pull.title) }
        p.small {
            strong { (pull.author) } " wants to merge " code { (pull.head_branch) } " into " code { (pull.base_branch) }
            @for label in &pull.labels { " " span.label { (label) } }
        }
        @if let Some(Story { shows, .. }) = story { p { (shows) } }
        @if let Some(lack) = &shown.without {
            p.notice { strong { "What a pull request brings cannot be run on this machine. " } (visible(&lack.told())) }
        }
        div.buttons {
            @for (name, text) in BUTTONS {
                form method="post" action={ "/pulls/" (number) "/" (name) } { button { (text) } }
            }
        }
        (talk(&state, pull))
        h2 { "Check runs on " code { (short(&pull.head)) } }
        @if runs.is_empty() { p { "None yet." } }
        @for (at, run) in runs.iter().enumerate() { (check_run(run, at == 0)) }
        h2 { "Changes" }
        @match diff {
            Ok(diff) => pre.diff tabindex="0" { @for line in diff.lines() { (diff_line(line)) "\n" } },
            Err(error) => p { (error) },
        }
    };
    Some(frame(&pull.title, is_waiting(&state, pull), &page))
}

/// What each rule means, as in the project's own documentation.
pub(super) fn rules() -> Markup {
    frame("Rules", false, &html! { p.small { a href="/" { "All pull requests" } } (rendered(RULES)) })
}

/// A page that says one sentence.
pub(super) fn nothing(why: &str) -> Markup {
    frame("Not done", false, &html! { h1 { "Not done" } p { (visible(why)) } p { a href="/" { "All pull requests" } } })
}

/// While somebody waits for a verdict the page loads itself anew; no script is needed for it.
fn frame(title: &str, waits: bool, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if waits { meta http-equiv="refresh" content="2"; }
                title { (title) " - evidence-gate demo" }
                link rel="stylesheet" href="/style.css";
            }
            body { main { (body) } }
        }
    }
}

fn is_waiting(state: &State, pull: &Pull) -> bool {
    state.runs_on(&pull.head).next().is_none_or(|run| verdict_of(run).is_none())
}

fn badge(state: &State, pull: &Pull) -> Markup {
    let word = state.runs_on(&pull.head).next().and_then(verdict_of).map_or("waiting", Verdict::as_str);
    html! { span class=(word) { (word) } }
}

fn check_run(run: &Run, newest: bool) -> Markup {
    let verdict = verdict_of(run);
    let word = verdict.map_or("waiting", Verdict::as_str);
    html! {
        details open[newest] {
            summary {
                span.badge { span class=(word) { (run.conclusion.as_deref().unwrap_or(&run.status)) } } " "
                (visible(run.title.as_deref().unwrap_or("queued")))
                @if !newest { span.small { " (an earlier run)" } }
            }
            div.report {
                @for markdown in [&run.summary, &run.text].into_iter().flatten() { (rendered(markdown)) }
                @if !run.annotations.is_empty() {
                    h3 { "Annotations (" (run.annotations.len()) ")" }
                    ul {
                        @for one in &run.annotations {
                            li {
                                code { (visible(one["path"].as_str().unwrap_or_default())) } " line " (one["start_line"]) ": "
                                @for line in one["message"].as_str().unwrap_or_default().lines() { (visible(line)) " " }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Reviews and comments, oldest first.
fn talk(state: &State, pull: &Pull) -> Markup {
    let reviews: Vec<&Review> = state.reviews.iter().filter(|review| review.pull == pull.number).collect();
    let comments: Vec<&Comment> = state.comments.values().filter(|comment| comment.pull == pull.number).collect();
    html! {
        @if !reviews.is_empty() || !comments.is_empty() { h2 { "Conversation" } }
        @for review in reviews {
            p.said {
                strong { (review.author) } " (" (role(review.author)) ") approved " code { (short(&review.commit)) }
                @if review.commit != pull.head { ", which is no longer the head" }
            }
        }
        @for comment in comments {
            div.said {
                strong { (comment.author) } ": " (rendered(&comment.body))
                @for reaction in &comment.reactions { span.label { "reaction: " (reaction) } " " }
            }
        }
    }
}

fn role(login: &str) -> &'static str {
    person(login).map_or("nobody", |person| person.role.1)
}

fn diff_line(line: &str) -> Markup {
    let class = match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd' | b'i', ..] => "file",
        [b'+', ..] => "added",
        [b'-', ..] => "removed",
        [b'@', ..] => "place",
        _ => "same",
    };
    html! { span class=(class) { (visible(line)) } }
}

fn short(sha: &str) -> &str {
    sha.get(..10).unwrap_or(sha)
}
