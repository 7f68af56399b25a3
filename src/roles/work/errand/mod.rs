//! Errands: commands, buttons, pushes to a base, merge groups, coverage maps, what was missed. One file each; [`run`] sends each to its own.

mod catch_up;
mod command;
mod freed;
mod group;
mod hanging;
mod installed;
mod label;
mod log;
mod maps;
mod permission;
mod rescore;
mod run;
