//! Pages for people: the shipped program shows what stories have put into its store.

mod browser;
mod hostile;
mod links;
mod sign_in;

use crate::dsl::{Gate, World};

/// A gate with pages.
fn world() -> World {
    Gate::world().set("WEB__PUBLIC_URL", "https://gate.example.org").set("WEB__LISTEN", "127.0.0.1:0")
}
