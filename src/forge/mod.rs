//! The only owner of octocrab and of a forge's HTTP: one interface, two forges.
//!
//! Deliberately absent: no judgement, and no other words than the forge's facts. A value that a forge may invent tomorrow
//! becomes an error that names it, never the commonest known value.

mod clock;
mod door;
mod github;
mod https;
mod inspect;
mod interface;
mod surroundings;

pub use clock::Clock;
pub use door::{Door, Person};
pub use github::{
    ConvertError, GitHub, GitHubDoor, GitHubSettings, GitHubSettingsError, NewApp, Pace, convert_manifest,
};
pub use https::{HttpsAnswer, HttpsError, HttpsRequest, Issuers, send};
pub use inspect::{BranchRules, Inspected, Installed, Registration, RequiredCheck, Webhook};
pub use interface::{
    Account, Annotation, AnnotationLevel, Button, Conclusion, Forge, ForgeError, NewRun, Output, PostedRun, Pull,
    PullCommit, PullState, Remote, Review, ReviewState, RunUpdate,
};
pub use surroundings::{Budget, LogEntry, LogPage, OpenPull, Reaction, Surroundings};
