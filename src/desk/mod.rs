//! What a person runs on the command line.
//!
//! Deliberately absent: judgement. `score` asks `pipeline.rs`, as the worker does, and prints what `report/` renders.

mod audit;
mod cache;
mod completions;
mod corpus;
mod coverage;
mod demo;
mod doctor;
mod failure;
mod freeze;
mod init;
mod keys;
mod lint;
mod lock;
mod loopback;
mod manifest;
mod out;
mod place;
mod policy;
mod queue;
mod replay;
mod report;
mod sandbox;
mod schema;
mod score;
mod setup;
mod simulate;
mod verify;

pub use audit::{AuditArgs, AuditCommand, AuditFormat, AuditKind, audit};
pub use completions::{Completions, CompletionsArgs, completions};
pub use corpus::{CorpusCommand, corpus};
pub use coverage::{ConvertArgs, CoverageCommand, InspectArgs, InspectFormat, ListArgs, PushArgs, coverage};
pub use demo::{DemoArgs, demo};
pub use doctor::{DoctorArgs, doctor};
pub use failure::Failure;
pub use freeze::{AddArgs, FreezeCommand, HowArgs, LedgerArgs, PriceArgs, SeenArgs, SignatureArgs, freeze};
pub use init::{InitArgs, init};
pub use keys::{KeysArgs, KeysCommand, KeysFormat, keys};
pub use lint::{LintArgs, LintFormat};
pub use lock::{LockCommand, lock};
pub use policy::{PolicyCommand, checked, explained, policy};
pub use queue::{QueueArgs, QueueCommand, queue};
pub use replay::{ReplayArgs, replay};
pub use report::{ReportArgs, report};
pub use sandbox::{SandboxCommand, sandbox};
pub use schema::{SchemaCommand, schema};
pub use score::{Format, ScoreArgs, score};
pub use setup::{SetupArgs, setup};
pub use simulate::{SimulateArgs, SimulateFormat, simulate};
pub use verify::{KeyArgs, VerifyArgs, VerifyFormat, verify};
