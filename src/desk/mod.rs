//! What a person runs on the command line.
