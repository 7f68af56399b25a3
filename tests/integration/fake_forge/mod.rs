//! A small GitHub that holds state and speaks HTTP.
