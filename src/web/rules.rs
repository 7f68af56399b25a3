//! The page of every rule, where the links of findings lead.

use maud::{Markup, html};

use super::page::{Visitor, badge, page};
use crate::score::all_rules;

/// Every rule with what it means, one anchor each.
pub(super) fn rules(visitor: &Visitor) -> Markup {
    page(
        "Rules",
        visitor,
        &html! {
            h1 { "Rules" }
            p {
                "Every finding names one of these rules. The worst finding's verdict is the verdict: reject, then unscored, then hold, then review. "
                "A policy may soften or sharpen some of them; the record says which verdict a finding had."
            }
            @for rule in all_rules() {
                article class="finding" {
                    h2 class="rule" id=(rule.id) { (rule.id) " " (badge(rule.verdict)) }
                    p { strong { "When: " } (ticked(rule.when)) }
                    p { strong { "Innocent when: " } (ticked(rule.innocent)) }
                    p { strong { "Next: " } (ticked(rule.next)) }
                }
            }
        },
    )
}

/// A sentence of ours with code between back-ticks.
fn ticked(sentence: &str) -> Markup {
    html! {
        @for (at, part) in sentence.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
