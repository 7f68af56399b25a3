//! `evidence-gate work`: takes jobs, has each judged, publishes the answer. Holds forge credentials and opens no port.

mod evaluate;
mod failure;
mod worker;

pub(super) use worker::{Until, Worker};
