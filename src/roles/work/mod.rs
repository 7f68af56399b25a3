//! `evidence-gate work`: takes jobs, has each judged, publishes the answer. Holds forge credentials and opens no port.

mod errand;
mod evaluate;
mod exhibit;
mod failure;
mod house;
mod people;
mod question;
mod reviews;
mod shared;
mod sign;
mod worker;

pub(super) use worker::{Until, Worker};
