//! See the room of this name. Every story runs on a real file; time is what the story says it is.

mod cast;
mod deliveries;
mod evaluations;
mod faults;
mod leases;
mod letters;
mod model;
mod waiting;
