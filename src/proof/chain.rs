//! The records of a repository, one after the other.

use super::{Expected, Refused, Trusted, Verified, verify};
use crate::words::RepositoryId;

/// A record as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// Under which number.
    pub number: u64,
    /// Under which digest.
    pub digest: String,
    /// The envelope's bytes.
    pub envelope: Vec<u8>,
}

/// Where a chain breaks, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {number}: {why}")]
pub struct Broken {
    /// The first record that does not fit.
    pub number: u64,
    /// What is wrong with it.
    pub why: String,
}

/// A walk along one repository's records, from the first.
#[derive(Debug)]
pub struct Walk<'a> {
    trusted: &'a [Trusted],
    repository: RepositoryId,
    last: Option<(u64, String)>,
}

impl<'a> Walk<'a> {
    /// At the beginning.
    pub fn new(repository: RepositoryId, trusted: &'a [Trusted]) -> Self {
        Self { trusted, repository, last: None }
    }

    /// Number and digest of the last record that was reached.
    pub fn reached(&self) -> Option<&(u64, String)> {
        self.last.as_ref()
    }

    /// Goes to the next record: it must hold by itself, be of this repository, bear the next number and name the one before it.
    pub fn step(&mut self, next: &Linked) -> Result<Verified, Broken> {
        let number = self.last.as_ref().map_or(1, |(number, _)| number + 1);
        let broken = |why: String| Broken { number, why };
        if next.number != number {
            return Err(broken(format!("it is missing; the next one that is there is {}", next.number)));
        }
        let expected = Expected { repository: Some(self.repository.to_string()), head: None };
        let verified =
            verify(&next.envelope, self.trusted, &expected).map_err(|why: Refused| broken(why.to_string()))?;
        let previous = self.last.as_ref().map(|(_, digest)| digest);
        if verified.number != number {
            return Err(broken(format!("it was signed as record {}", verified.number)));
        }
        if verified.previous.as_ref() != previous {
            let or_none = |digest: Option<&String>| digest.map_or_else(|| "none".to_owned(), Clone::clone);
            let (names, before) = (or_none(verified.previous.as_ref()), or_none(previous));
            return Err(broken(format!("it names {names} as the record before it, which is {before}")));
        }
        if verified.digest != next.digest {
            return Err(broken(format!("it is kept under the digest {}, and has {}", next.digest, verified.digest)));
        }
        self.last = Some((number, verified.digest.clone()));
        Ok(verified)
    }
}
