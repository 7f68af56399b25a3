//! The processes: receive, work, serve.
