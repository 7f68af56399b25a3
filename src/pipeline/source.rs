//! Where what a repository lacks comes from.

use std::collections::BTreeSet;

use super::collect::Source;
use crate::change::{Git, GitError, Mirror, Want};
use crate::forge::Remote;
use crate::words::ObjectId;

/// A repository that is here as far as it ever will be.
pub(super) struct Whole;

impl Source for Whole {
    fn blobs(&mut self, _wanted: &BTreeSet<ObjectId>) -> Result<(), GitError> {
        Ok(())
    }

    fn deeper(&mut self) -> Result<Option<Git>, GitError> {
        Ok(None)
    }
}

/// A mirror, and the forge's repository that it is a mirror of.
pub(super) struct Mirrored<'a> {
    mirror: &'a Mirror,
    remote: &'a Remote,
    base: &'a Want,
    /// How many commits the next step asks for; at last for all, and then for no more.
    steps: std::vec::IntoIter<Option<u32>>,
}

impl<'a> Mirrored<'a> {
    pub(super) fn new(mirror: &'a Mirror, remote: &'a Remote, base: &'a Want) -> Self {
        Self { mirror, remote, base, steps: vec![Some(1_000), Some(10_000), None].into_iter() }
    }
}

impl Source for Mirrored<'_> {
    fn blobs(&mut self, wanted: &BTreeSet<ObjectId>) -> Result<(), GitError> {
        self.mirror.ensure_blobs(self.remote, wanted)
    }

    fn deeper(&mut self) -> Result<Option<Git>, GitError> {
        self.steps.next().map(|depth| self.mirror.deepen(self.remote, self.base, depth)).transpose()
    }
}
