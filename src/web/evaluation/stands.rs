//! What the verdict stands for and falls with.

use maud::{Markup, html};
use sha2::{Digest as _, Sha256};

use super::{Evaluation, moment};
use crate::web::page::{code, outside};

/// Commits, digests and the record itself.
pub(super) fn stands(of: &Evaluation<'_>) -> Markup {
    let record = of.record;
    let digests = &record.digests;
    let known = |value: &Option<String>| html! { @match value { Some(value) => (code(value)), None => "none" } };
    let product = format!("{} {}", record.product.name, record.product.version);
    html! {
        section aria-labelledby="stands" {
            h2 id="stands" { "What this verdict stands for" }
            p { "When one of these changes, the verdict no longer counts and the change is judged anew." }
            table class="digests" { tbody {
                tr { th scope="row" { "Base" } td { (code(&record.base)) " (" (outside(&record.base_ref)) ")" } }
                tr { th scope="row" { "Head" } td { (code(&record.head)) } }
                tr { th scope="row" { "Merge base" } td { (known(&record.merge_base)) } }
                tr { th scope="row" { "Merged tree" } td { (known(&record.merged_tree)) } }
                tr { th scope="row" { "Policy" } td { (known(&digests.policy)) } }
                tr { th scope="row" { "Freeze ledger" } td { (known(&digests.ledger)) } }
                tr { th scope="row" { "Fixture lock" } td { (known(&digests.lock)) } }
                tr { th scope="row" { "Oracles" } td { (known(&digests.oracles)) } }
                tr { th scope="row" { "Coverage map" } td { (known(&digests.map)) } }
            } }
        }
        section aria-labelledby="record" {
            h2 id="record" { "The record" }
            p {
                "Everything on this page, and what had no room on it, stands in "
                a href=(of.record_address) download="" { "the record" }
                " (JSON, " (of.bytes.len()) " bytes). " code { "evidence-gate replay FILE" } " judges it once more on your own machine."
            }
            table class="digests" { tbody {
                tr { th scope="row" { "sha256" } td { (code(&hex::encode(Sha256::digest(of.bytes)))) } }
                tr { th scope="row" { "Evaluation" } td { (code(&of.past.id.to_string())) } }
                tr { th scope="row" { "Judged by" } td { (outside(&product)) " on " (outside(&record.run.runner)) } }
                tr { th scope="row" { "Judged from" } td { (moment(&record.run.started)) " to " (moment(&record.run.finished)) } }
            } }
        }
    }
}
