//! Every repository that somebody may see, by installation; and what is shown to whoever is not signed in.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::chart::VERDICTS;
use super::page::{Visitor, outside, page};
use super::repository::name_of;
use crate::queue::KnownRepository;
use crate::words::InstallationId;

/// The page at the root for whoever is signed in. `left_out` repositories were not asked about.
pub(super) fn overview(known: &[KnownRepository], left_out: usize, visitor: &Visitor) -> Markup {
    let mut installations: BTreeMap<Option<InstallationId>, Vec<&KnownRepository>> = BTreeMap::new();
    for repository in known {
        installations.entry(repository.installation).or_default().push(repository);
    }
    page(
        "Repositories",
        visitor,
        &html! {
            h1 { "Repositories" }
            @if known.is_empty() {
                p { "No repository that you may read has been judged yet. It appears here after its first verdict." }
            } @else {
                p { "Verdicts published in the last 90 days." }
            }
            @for (installation, repositories) in &installations { (one(*installation, repositories)) }
            @if left_out > 0 { p class="note" { (left_out) " repositories that were judged longer ago are not listed." } }
        },
    )
}

fn one(installation: Option<InstallationId>, repositories: &[&KnownRepository]) -> Markup {
    let title = match installation {
        Some(id) => format!("Installation {id}"),
        None => "Without an installation".to_owned(),
    };
    let total: u64 = repositories.iter().flat_map(|repository| repository.verdicts).sum();
    let unscored: u64 = repositories.iter().map(|repository| repository.verdicts[2]).sum();
    let share = (unscored * 100).checked_div(total).unwrap_or(0);
    html! {
        section {
            h2 { (title) }
            p class="quiet" { (counted(repositories.len(), "repository", "repositories")) ", " (total) " verdicts, " (share) " % unscored" }
            table {
                thead { tr {
                    th scope="col" { "Repository" }
                    @for verdict in VERDICTS { th scope="col" class="number" { (verdict.as_str()) } }
                    th scope="col" class="wide" { "Last judged" }
                } }
                tbody { @for repository in repositories {
                    tr {
                        td { a href=(address(repository)) { (outside(&name_of(repository.key, repository.name.as_deref()))) } }
                        @for count in repository.verdicts { td class="number" { (count) } }
                        td class="wide" { (repository.newest.strftime("%Y-%m-%d %H:%M")) }
                    }
                } }
            }
        }
    }
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

fn address(repository: &KnownRepository) -> String {
    format!("/repositories/{}/{}", repository.key.forge.as_str(), repository.key.id)
}

/// The page at the root for everybody else.
pub(super) fn welcome(visitor: &Visitor) -> Markup {
    page(
        "Verdicts on pull requests",
        visitor,
        &html! {
            h1 { "Verdicts on pull requests" }
            p { "A pull request may change the product. It may not change the evidence that decides whether the product still works." }
            p { "The " em { "Details" } " link of a check run opens the page of its verdict." }
            @if visitor.can_sign_in { p { a class="button" href="/sign-in" { "Sign in" } } }
            p { a href="/rules" { "What each rule means" } }
        },
    )
}
