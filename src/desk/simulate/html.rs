//! A judged history as one page that can be opened from disk: no script, nothing that is loaded.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::ask::History;
use super::outcome::{Outcome, Simulated};
use super::summary::{Summary, share};
use super::text::{headline, notes};
use crate::report::RULES_PAGE;
use crate::score::{elided, visible};
use crate::words::Verdict;

/// How many paths are shown.
const MOST_PATHS: usize = 40;

/// The most characters of a name.
const MOST_NAME: usize = 400;

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1b1f24; --page: #ffffff; --quiet: #57606a; --line: #d0d7de; --card: #f6f8fa; \
--review: #1a7f37; --hold: #9a6700; --unscored: #8250df; --reject: #cf222e; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --page: #0d1117; --quiet: #9198a1; --line: #3d444d; \
--card: #151b23; --review: #3fb950; --hold: #d29922; --unscored: #ab7df8; --reject: #f85149; --link: #79c0ff; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 64rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } a { color: var(--link); }
p.said { font-size: 1.15rem; } .quiet { color: var(--quiet); }
.bar { display: flex; height: 1.4rem; border-radius: .3rem; overflow: hidden; margin: 1rem 0 .5rem; border: 1px solid var(--line); }
.bar span { display: block; } .review-bar { background: var(--review); } .hold-bar { background: var(--hold); }
.unscored-bar { background: var(--unscored); } .reject-bar { background: var(--reject); }
.review { color: var(--review); } .hold { color: var(--hold); } .unscored { color: var(--unscored); } .reject { color: var(--reject); }
b.verdict { font-weight: 600; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: .9em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: .3rem; padding: .4rem .7rem; margin: .4rem 0; background: var(--card); }
summary { cursor: pointer; } summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); }
";

/// The numbers over all changes, then each change with its findings.
pub(super) fn html(history: &History) -> String {
    let summary = Summary::of(history);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "evidence-gate: what a policy would have said" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { "What " (code(&history.policy)) " would have said" }
                    p.said { (headline(history, &summary)) }
                    (numbers(&summary))
                    (reasons(&summary))
                    (paths(&summary))
                    (levers(history, &summary))
                    h2 { "Every change" }
                    @for change in &history.changes { (one(change)) }
                    @for note in notes(history) { p.quiet { (note) } }
                }
            }
        }
    };
    page.into_string()
}

/// Text from outside: on one line, without signs that hide or reorder.
fn plain(text: &str) -> String {
    elided(&visible(text), MOST_NAME)
}

fn code(text: &str) -> Markup {
    html! { code { (plain(text)) } }
}

fn verdict(verdict: Verdict) -> Markup {
    html! { b class=(format!("verdict {verdict}")) { (verdict.as_str()) } }
}

fn numbers(summary: &Summary<'_>) -> Markup {
    html! {
        @if summary.judged > 0 {
            div.bar aria-hidden="true" {
                @for (of, count) in &summary.verdicts {
                    span class=(format!("{of}-bar")) style=(format!("flex-grow: {count}")) {}
                }
            }
            div.wide { table {
                tr { th { "verdict" } th.n { "changes" } th.n { "share" } }
                @for (of, count) in &summary.verdicts {
                    tr { td { (verdict(*of)) } td.n { (count) } td.n { (share(*count, summary.judged)) } }
                }
            } }
        }
    }
}

fn reasons(summary: &Summary<'_>) -> Markup {
    html! {
        @if !summary.reasons.is_empty() {
            h2 { "Why the others would have waited" }
            p.quiet { "One change may have several reasons. Alone: for no other reason." }
            div.wide { table {
                tr { th { "rule" } th { "verdict" } th.n { "changes" } th.n { "alone" } }
                @for reason in &summary.reasons {
                    tr {
                        td { a href=(format!("{RULES_PAGE}#{}", reason.rule)) { (reason.rule) } }
                        td { (verdict(reason.verdict)) } td.n { (reason.changes) } td.n { (reason.alone) }
                    }
                }
            } }
        }
    }
}

fn paths(summary: &Summary<'_>) -> Markup {
    html! {
        @if !summary.paths.is_empty() {
            h2 { "Most often in the way" }
            div.wide { table {
                tr { th { "path" } th.n { "changes" } th { "rule" } th { "what lets it pass" } }
                @for path in summary.paths.iter().take(MOST_PATHS) {
                    tr { td { (code(path.path)) } td.n { (path.changes) } td { (path.rule) } td { (plain(&path.advice)) } }
                }
            } }
            @if summary.paths.len() > MOST_PATHS {
                p.quiet { "And " (summary.paths.len() - MOST_PATHS) " more paths." }
            }
        }
    }
}

fn levers(history: &History, summary: &Summary<'_>) -> Markup {
    html! {
        @if !summary.levers.is_empty() {
            h2 { "Lines of the policy that would let more pass by themselves" }
            div.wide { table {
                tr { th { "line" } th { "where" } th.n { "more" } }
                @for (lever, changes) in &summary.levers {
                    tr { td { (code(&lever.to_string())) } td { (plain(&lever.place(&history.policy_text))) } td.n { "+" (changes) } }
                }
                tr { td { "all of them together" } td {} td.n { "+" (summary.with_all_levers) } }
            } }
        }
    }
}

fn one(simulated: &Simulated) -> Markup {
    let Simulated { change, outcome, took } = simulated;
    html! {
        details {
            summary {
                @match outcome.verdict() {
                    Some(of) => (verdict(of)),
                    None => b.verdict { "not judged" },
                }
                " " (code(change.commit.short())) " " (plain(&change.subject))
            }
            @if let Outcome::NotJudged(why) = outcome { p { (plain(why)) } }
            @for finding in outcome.objections() {
                p { (verdict(finding.verdict)) " " (code(&finding.rule)) ": " (plain(&finding.message)) br; span.quiet { "Next: " (plain(&finding.next)) } }
            }
            p.quiet { (format!("{:.2} s", took.as_secs_f32())) }
        }
    }
}
