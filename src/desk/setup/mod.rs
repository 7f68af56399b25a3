//! `evidence-gate setup`: registers the GitHub App from the manifest, and writes down what GitHub tells once.
//!
//! `place` is where files go, `page` what a person sees, `site` the way to GitHub and back. The way back carries a state that was made
//! for this one registration, and the code that it brings works once.
//!
//! Deliberately absent: a secret on a page, on the terminal or in the configuration file.

mod args;
mod page;
mod place;
mod run;
mod site;

pub use args::SetupArgs;
pub use run::setup;
