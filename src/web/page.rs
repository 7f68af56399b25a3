//! The frame of every page, and the small pieces that all of them use.

use maud::{DOCTYPE, Markup, html};

use crate::score::{elided, visible};
use crate::words::Verdict;

/// The one style sheet. Its address holds its digest, so that it may be cached for good.
pub(super) const STYLE: &str = include_str!("style.css");

/// The icon of the pages.
pub(super) const ICON: &str = include_str!("icon.svg");

/// The most characters of a text from outside.
const MOST_TEXT: usize = 4_000;

/// Who looks, as far as the frame shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Visitor {
    /// Who is signed in.
    pub(super) name: Option<String>,
    /// Whether the queue is shown to them.
    pub(super) operator: bool,
    /// Whether anybody can sign in at all.
    pub(super) can_sign_in: bool,
}

/// A whole page.
pub(super) fn page(title: &str, visitor: &Visitor, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex, nofollow";
                title { (outside(title)) " · evidence-gate" }
                link rel="stylesheet" href=(style_address());
                link rel="icon" type="image/svg+xml" href="/icon.svg";
            }
            body {
                a class="skip" href="#content" { "Skip to content" }
                header class="site" {
                    p class="name" { a href="/" { "evidence-gate" } }
                    nav aria-label="Site" {
                        @if visitor.name.is_some() { a href="/" { "Repositories" } }
                        @if visitor.operator { a href="/queue" { "Queue" } }
                        a href="/rules" { "Rules" }
                        @match &visitor.name {
                            Some(name) => form method="post" action="/sign-out" {
                                button type="submit" { "Sign out " (outside(name)) }
                            },
                            None => @if visitor.can_sign_in { a href="/sign-in" { "Sign in" } },
                        }
                    }
                }
                main id="content" tabindex="-1" { (content) }
                footer { p { "Made by evidence-gate " (env!("CARGO_PKG_VERSION")) ". Times are UTC." } }
            }
        }
    }
}

/// Where the style sheet is.
pub(super) fn style_address() -> String {
    format!("/style-{}.css", style_digest())
}

/// The first digits of the style sheet's digest.
pub(super) fn style_digest() -> &'static str {
    use sha2::{Digest as _, Sha256};
    static DIGEST: std::sync::LazyLock<String> =
        std::sync::LazyLock::new(|| hex::encode(Sha256::digest(STYLE))[..16].to_owned());
    &DIGEST
}

/// Text from outside: on one line, with nothing in it that hides or reorders, of bounded length, and apart from what stands around it
/// where it runs from right to left. What the page's own language makes of `<` and `&` is the business of the markup.
pub(super) fn outside(text: &str) -> Markup {
    let shown = elided(&visible(text), MOST_TEXT);
    if shown.is_ascii() {
        html! { (shown) }
    } else {
        html! { bdi { (shown) } }
    }
}

/// The same as code.
pub(super) fn code(text: &str) -> Markup {
    html! { code { (elided(&visible(text), MOST_TEXT)) } }
}

/// A verdict as a word in its colour.
pub(super) fn badge(verdict: Verdict) -> Markup {
    html! { span class={ "verdict " (verdict.as_str()) } { (verdict.as_str()) } }
}

/// What a verdict means, in a sentence or two.
pub(super) fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Review => "No rule objects: a person may now review the product diff.",
        Verdict::Hold => "A person must look at paths or facts that the gate does not judge.",
        Verdict::Unscored => {
            "An observer is missing, so there is no score. This is no pass, and no fault of the product."
        }
        Verdict::Reject => "Evidence was edited, or a live observer failed.",
    }
}

/// A rule as a link to what it means, where it is one of ours.
pub(super) fn rule(id: &str) -> Markup {
    let ours = crate::score::all_rules().any(|rule| rule.id == id);
    if ours {
        html! { a href={ "/rules#" (id) } { (id) } }
    } else {
        code(id)
    }
}

/// A list that is folded away where it is long. `what` is its name with the count.
pub(super) fn folded(what: &str, long: bool, content: &Markup) -> Markup {
    html! {
        @if long {
            details { summary { (what) } (content) }
        } @else {
            h3 { (what) }
            (content)
        }
    }
}
