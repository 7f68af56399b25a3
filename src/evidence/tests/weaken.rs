//! What became weaker in a rewritten test. It tells a person where to look and changes no verdict.

use super::compare::Note;
use super::inventory::{Inventory, Item};

pub(super) fn compare(_: &Inventory<'_>, _: &Item<'_>, _: &Inventory<'_>, _: &Item<'_>) -> Vec<Note> {
    Vec::new()
}
