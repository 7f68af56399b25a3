//! What an oracle may know.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::ledger::LedgerFacts;
use super::lock::LockFacts;
use crate::change::{Blob, BytePath, Change, PathChange, Twin};
use crate::classes::Classifier;
use crate::evidence::Analysis;
use crate::evidence::surface::SurfaceFacts;
use crate::policy::{Class, Policy};
use crate::words::ObjectId;

/// All that an oracle may know. `pipeline.rs` collects it; oracles only read it.
pub struct Facts<'a> {
    /// The rules of the base branch's tip, or the operator's; the defaults where [`Facts::rules_from`] says that there are none.
    pub policy: &'a Policy,
    /// Where the rules came from.
    pub rules_from: &'a RulesFrom,
    /// The classes of `policy`, for paths that are in no row: twins, and targets of symbolic links.
    pub classifier: &'a Classifier,
    /// The exact shas and every row.
    pub change: &'a Change,
    /// How base and head are related. Without one common ancestor there is nothing to count from: `change.rows` is empty then,
    /// and `change.merge_base` means nothing.
    pub comparison: &'a Comparison,
    /// What came of merging head into base.
    pub merge: &'a Merge,
    /// The rows again, each with its class.
    pub rows: &'a [ClassedRow<'a>],
    /// What the tree of the base tip holds where the change has, or points to, the same name or a name that folds to it. Looked up
    /// for every path of [`paths_to_look_up`](super::paths_to_look_up), in any order.
    pub twins: &'a [Twin],
    /// Contents of the blobs that oracles asked for.
    pub blobs: &'a Blobs,
    /// What the contents of the changed files say of tests: [`super::analyse`] of the same rows and blobs.
    pub analysis: &'a Analysis,
    /// The fixture lock, and the trees that it is held against.
    pub lock: &'a LockFacts,
    /// The freeze ledger, and what its entries are bound to.
    pub ledger: &'a LedgerFacts,
    /// What changed in the product line by line, and what the coverage map says of it.
    pub surface: &'a SurfaceFacts,
    /// The day, in UTC.
    pub today: Date,
}

/// A row and what it is.
#[derive(Clone, Debug)]
pub struct ClassedRow<'a> {
    /// The row.
    pub row: &'a PathChange,
    /// Its class: of all names that the row touches, the first in the order of matching.
    pub class: Class,
}

/// Where the rules came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RulesFrom {
    /// Read from here: the file at the tip of the base branch, or the operator's copy. A text for people.
    Read(String),
    /// Neither the base branch's tip nor the operator has a policy.
    Nowhere,
    /// There is one, and it cannot be read: where it is, and the error in one line.
    Unreadable {
        /// Where it is.
        origin: String,
        /// What is wrong with it.
        why: String,
    },
}

/// How the tips of base and head are related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They have one best common ancestor.
    One,
    /// They have no common ancestor, or the history that was fetched does not reach it.
    None,
    /// They have several best common ancestors, as criss-cross merges make.
    Several(Vec<ObjectId>),
}

/// What came of merging head into the base tip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// `change.merged_tree` is the tree.
    Clean,
    /// They change the same places: the paths in conflict, as git names them.
    Conflicts(Vec<BytePath>),
    /// git could not make the tree: why, in one line.
    Failed(String),
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
