//! evidence-gate: a pull request may change the product, and not the evidence that decides whether the product still works.
//!
//! The rooms stand in the order in which the data passes through them. A room may use earlier rooms and never later ones;
//! `tests/integration/rooms.rs` reads every `crate::` path and fails on an arrow that points the wrong way.

pub mod words;

pub mod config;

pub mod delivery;

pub mod event;

pub mod queue;

pub mod forge;

pub mod change;

pub mod policy;

pub mod classes;

pub mod maps;

pub mod sandbox;

pub mod evidence;

pub mod score;

pub mod proof;

pub mod report;

pub mod web;

pub mod pipeline;

pub mod desk;

pub mod roles;
