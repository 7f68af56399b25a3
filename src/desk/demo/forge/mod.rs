//! A small GitHub: one repository, its pull requests, and the part of the API that the worker calls, on loopback.
//!
//! It keeps the forge's own rules where a demonstration could be fooled without them: JWTs of the App are verified, tokens expire and
//! are as narrow as they were asked for, annotations are appended batch by batch, and a completed check run is never reopened.
//!
//! Deliberately absent: faults, other repositories, and whatever no request of the worker asks for. Facts:
//! <https://docs.github.com/en/rest>

mod answer;
mod api;
mod auth;
mod checks;
mod git;
mod hooks;
mod people;
mod server;
mod shapes;
mod state;
mod store;

pub(super) use hooks::Happening;
pub(super) use people::{ADA, AGENT, MIA, person};
pub(super) use server::{APP, Forge, Registered};
pub(super) use state::{Comment, Pull, Review, Run, State};
pub(super) use store::Edit;
