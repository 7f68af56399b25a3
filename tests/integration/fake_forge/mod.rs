//! A small GitHub that holds state and speaks HTTP.

pub mod git_http;
