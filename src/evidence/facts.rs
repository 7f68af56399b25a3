//! What an oracle may know.

use std::collections::BTreeMap;

use crate::change::{Blob, Change, PathChange};
use crate::policy::{Class, Policy};
use crate::words::ObjectId;

/// All that an oracle may know. `pipeline.rs` collects it; oracles only read it.
pub struct Facts<'a> {
    /// The rules of the base branch's tip, or the operator's.
    pub policy: &'a Policy,
    /// The exact shas and every row.
    pub change: &'a Change,
    /// The rows again, each with its class.
    pub rows: &'a [ClassedRow<'a>],
    /// Contents of the blobs that oracles asked for.
    pub blobs: &'a Blobs,
}

/// A row and what it is.
#[derive(Clone, Debug)]
pub struct ClassedRow<'a> {
    /// The row.
    pub row: &'a PathChange,
    /// Its class: of all names that the row touches, the first in the order of matching.
    pub class: Class,
}

/// Contents by object id.
#[derive(Clone, Debug, Default)]
pub struct Blobs(pub BTreeMap<ObjectId, Blob>);

impl Blobs {
    /// The content of a blob that was asked for; `None` when nobody asked for it.
    pub fn get(&self, id: &ObjectId) -> Option<&Blob> {
        self.0.get(id)
    }
}
