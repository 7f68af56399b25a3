//! Real git, real repositories in temporary folders, and a real git server on loopback.
#![expect(clippy::disallowed_methods, reason = "the repositories under test are made with git itself")]

mod compare;
mod export;
mod mirror;
mod read;
mod repo;
