//! What tests a file holds, and what a change did to them, by grammar.
//!
//! [`Inventory`] lists the tests, helpers, imports, hooks and statements of one side of a file; [`compare`] says which of them are
//! unchanged token for token. Deliberately absent: no path decides anything here, and no diff is read.

mod compare;
mod inventory;
mod lang;
mod names;
mod weaken;

pub use compare::{Judgement, Note, Pair, Side, compare};
pub use inventory::{Inventory, Item, Kind, Scope};
pub use names::{Aliases, dotted};

pub(in crate::evidence) use lang::{
    CPP_TESTS, c_sharp_attributes, jvm_annotations, php_attributes, php_chain_root, ruby_call, rust_attribute,
    script_path,
};
pub(in crate::evidence) use names::unquoted;
