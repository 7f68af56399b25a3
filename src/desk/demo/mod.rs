//! `evidence-gate demo`: the whole product on one machine, with no account and no network.
//!
//! The order of the files is the way of a demonstration: [`forge`] is a small forge that keeps GitHub's rules; `stories` are the pull
//! requests and what is expected of them; `house` makes the folder, the example repository and the configuration; `serve` starts this
//! very program as receiver and worker; `show` opens the pull requests, watches and tells; `page` and `buttons` are the page.
//!
//! Deliberately absent: a verdict of its own. Whatever the demonstration shows was sent as a signed webhook, judged by the worker, and
//! posted as a check run.

mod args;
mod buttons;
mod forge;
mod house;
mod lack;
mod markdown;
mod page;
mod serve;
mod show;
mod site;
mod stories;
mod told;

pub use args::DemoArgs;
pub use show::demo;
