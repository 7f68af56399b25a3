//! `evidence-gate doctor`: what could keep a verdict from being made, from being seen, or from counting.
//!
//! `here` looks at this machine, `app` at the App as the forge knows it, `branch` at what a repository requires. Each gathers facts
//! and turns them into [`Line`](line::Line)s; the turning is pure.
//!
//! Deliberately absent: repairs, and any secret in a line.

mod app;
mod args;
mod branch;
mod here;
mod line;
mod run;

pub use args::DoctorArgs;
pub use run::doctor;
