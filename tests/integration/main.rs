//! One integration binary; files are named as the rooms.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    unreachable_pub,
    missing_docs,
    reason = "a test fails by panicking, and documents itself by its name"
)]

mod change;
mod classes;
mod cli;
mod corpus;
mod counterparts;
mod delivery;
mod demo;
mod docs;
mod doctor;
mod dsl;
mod event;
mod evidence;
mod fake_forge;
mod forge;
mod formats;
mod init;
mod issuer;
mod lane;
mod ledger;
mod lint;
mod lock;
mod maps;
mod markers;
mod pipeline;
mod policy;
mod proof;
mod property;
mod queue;
mod report;
mod roles;
mod rooms;
#[cfg(target_os = "linux")]
mod sandbox;
mod score;
mod setup;
mod simulate;
mod surface;
mod web;
mod working_copy;
