//! Which commit was last found to fulfil which lock, so that the next run looks only at what changed since.
//!
//! One line in a file beside the known digests, and trusted as they are: whoever can write there can replace this program as well.

use std::path::PathBuf;

use tracing::warn;

use super::whole;
use crate::change::Sha256;
use crate::words::ObjectId;

/// What the line begins with; behind it the sha256 of the lock, and the commit.
const HEAD: &str = "evidence-gate lock fulfilled 1";

/// The file of one repository; without one nothing is remembered.
pub(super) struct Fulfilled(Option<PathBuf>);

impl Fulfilled {
    /// Beside the digests of the repository's blobs.
    pub(super) fn beside(known_digests: Option<&PathBuf>) -> Self {
        Self(known_digests.map(|path| {
            let mut name = path.clone().into_os_string();
            name.push(".fulfilled");
            name.into()
        }))
    }

    /// The commit that was last found to fulfil this very lock.
    pub(super) fn by(&self, lock: &Sha256) -> Option<ObjectId> {
        let text = std::fs::read_to_string(self.0.as_ref()?).ok()?;
        let (sum, commit) = text.strip_prefix(HEAD)?.strip_prefix(' ')?.strip_suffix('\n')?.split_once(' ')?;
        if sum.parse::<Sha256>().ok()? != *lock {
            return None;
        }
        commit.parse().ok()
    }

    /// Remembers it. That it cannot be written is logged: the next run looks at everything again.
    pub(super) fn remember(&self, lock: &Sha256, commit: &ObjectId) {
        let Some(path) = &self.0 else { return };
        if let Err(error) = whole::write(path, &[format!("{HEAD} {lock} {commit}\n").as_bytes()]) {
            warn!(error = %error, "cannot remember in {} that the lock is fulfilled: {error}", path.display());
        }
    }
}
