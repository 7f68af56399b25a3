//! What a person runs on the command line.
//!
//! Deliberately absent: judgement. `score` asks `pipeline.rs`, as the worker does, and prints what `report/` renders.

mod audit;
mod cache;
mod coverage;
mod demo;
mod doctor;
mod failure;
mod freeze;
mod lock;
mod loopback;
mod manifest;
mod out;
mod place;
mod policy;
mod queue;
mod replay;
mod sandbox;
mod schema;
mod score;
mod setup;

pub use audit::{AuditArgs, AuditFormat, AuditKind, audit};
pub use coverage::{ConvertArgs, CoverageCommand, InspectArgs, InspectFormat, coverage};
pub use demo::{DemoArgs, demo};
pub use doctor::{DoctorArgs, doctor};
pub use failure::Failure;
pub use freeze::{AddArgs, FreezeCommand, HowArgs, LedgerArgs, PriceArgs, SeenArgs, SignatureArgs, freeze};
pub use lock::{LockCommand, lock};
pub use policy::{PolicyCommand, checked, explained, policy};
pub use queue::{QueueArgs, QueueCommand, queue};
pub use replay::{ReplayArgs, replay};
pub use sandbox::{SandboxCommand, sandbox};
pub use schema::{SchemaCommand, schema};
pub use score::{Format, ScoreArgs, score};
pub use setup::{SetupArgs, setup};
