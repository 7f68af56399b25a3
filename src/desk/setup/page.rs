//! What a person sees: two steps, and what comes after them. No script is needed.

use maud::{DOCTYPE, Markup, html};
use url::Url;

use super::args::Addresses;
use super::place::Written;
use crate::desk::manifest::Manifest;
use crate::score::visible;

/// How it looks: by day and by night, on a desk and on a phone.
pub(super) const STYLE: &str = include_str!("page.css");

/// What the first step asks for, and what was wrong with the last answer.
pub(super) struct Asked<'a> {
    pub(super) name: &'a str,
    pub(super) webhook: &'a str,
    pub(super) wrong: Option<&'static str>,
}

/// The first step.
pub(super) fn ask(asked: &Asked<'_>, addresses: &Addresses) -> Markup {
    frame(
        "Register the GitHub App",
        &html! {
            h1 { "Register the GitHub App" }
            p.step { "Step 1 of 2: a name, and where webhooks go" }
            @if let Some(wrong) = asked.wrong { p.wrong role="alert" { (wrong) } }
            form method="post" action="/" {
                label for="name" { "Name of the App" }
                input id="name" name="name" value=(asked.name) maxlength="34" required autocomplete="off";
                label for="webhook" { "Webhook address" }
                input id="webhook" name="webhook" type="url" value=(asked.webhook) placeholder="https://gate.example.com/webhooks/github"
                    required autocomplete="off" aria-describedby="hint";
                p.hint id="hint" { "Where GitHub reaches the receiver. It can be changed in the App's settings at any time." }
                button { "Next" }
            }
            (asks_for())
            p.hint { "GitHub: " code { (addresses.git.host_str().unwrap_or_default()) } }
        },
    )
}

/// The second step: one button, which posts the manifest to GitHub.
pub(super) fn lead(action: &Url, manifest: &str, organization: Option<&str>) -> Markup {
    frame(
        "Go to GitHub",
        &html! {
            h1 { "Register the GitHub App" }
            p.step { "Step 2 of 2: confirm on GitHub" }
            p {
                "GitHub shows the App once more"
                @match organization {
                    Some(name) => { ", for the organization " strong { (name) } "," }
                    None => { ", for your own account," }
                }
                " makes its key and its webhook secret, and sends you back here. Both are written to files that only you can read."
            }
            form method="post" action=(action) {
                input type="hidden" name="manifest" value=(manifest);
                button { "Register on " (action.host_str().unwrap_or("GitHub")) }
            }
            p { a href="/" { "Back" } }
            (asks_for())
        },
    )
}

/// Everything is written down.
pub(super) fn done(written: &Written) -> Markup {
    let config = written.config.display().to_string();
    frame(
        "Registered",
        &html! {
            h1 { "The App is registered" }
            p { strong { (visible(&written.slug)) } " is yours. Key and secrets are in files beside " code { (visible(&config)) } "." }
            ol {
                li { a href=(written.install) rel="noreferrer" { "Install it" } " on the repositories to be gated." }
                li { "Start receiver and worker:" pre { "evidence-gate serve --config " (visible(&config)) } }
                li { "See whether all is well:" pre { "evidence-gate doctor --config " (visible(&config)) } }
            }
            p.hint { "This page has done its work; you can close it." }
        },
    )
}

/// One sentence, and the way back to the beginning.
pub(super) fn refused(why: &str) -> Markup {
    frame(
        "Not registered",
        &html! { h1 { "Not registered" } p.wrong role="alert" { (visible(why)) } p { a href="/" { "Begin again" } } },
    )
}

/// What the App asks for, as GitHub will show it.
fn asks_for() -> Markup {
    let manifest = Manifest::of_this_version();
    let events: Vec<String> = manifest.events().into_iter().collect();
    html! {
        details {
            summary { "What the App asks for" }
            table {
                tr { th { "Permission" } th { "Level" } }
                @for (name, level) in manifest.permissions() { tr { td { (name.replace('_', " ")) } td { (level) } } }
            }
            p { "Events: " (events.join(", ").replace('_', " ")) }
        }
    }
}

fn frame(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " - evidence-gate setup" }
                link rel="stylesheet" href="/style.css";
            }
            body { main { (body) } }
        }
    }
}
