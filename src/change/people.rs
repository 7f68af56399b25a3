//! Whose work the commits of a change are, by their own word.

use super::error::GitError;
use super::git::Git;
use crate::words::{HeadSha, MergeBase, ObjectId};

/// A name and an address as they stand in a commit. The author's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The address; empty where there is none.
    pub email: String,
}

/// Who signed a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The commit.
    pub commit: ObjectId,
    /// Its author.
    pub author: Signature,
    /// Who committed it.
    pub committer: Signature,
    /// Everybody whom a line `Co-authored-by:` of its message names, wherever in the message it stands.
    pub co_authors: Vec<Signature>,
}

const CO_AUTHOR: &str = "co-authored-by:";

impl Git {
    /// Who signed the commits that the head has and the merge base has not; bytes that are no UTF-8 replaced.
    pub fn signed(&self, merge_base: &MergeBase, head: &HeadSha) -> Result<Vec<Signed>, GitError> {
        let doing = "reading whose commits these are";
        let ended = self
            .call(doing)
            .args(["rev-list", "--no-commit-header", "--format=%H%x00%an%x00%ae%x00%cn%x00%ce%x00%B%x00"])
            .args([head.id().as_str(), "--not", merge_base.id().as_str()])
            .run(b"")?;
        if ended.code != Some(0) {
            return Err(ended.into_error(doing));
        }
        let text = String::from_utf8_lossy(&ended.stdout);
        let fields: Vec<&str> = text.split('\0').collect();
        let unreadable = |why: &str| GitError::Unreadable { doing, why: why.to_owned() };
        let (commits, rest) = fields.as_chunks::<6>();
        if rest.iter().any(|rest| !rest.trim().is_empty()) {
            return Err(unreadable("a commit is cut off"));
        }
        commits
            .iter()
            .map(|[id, author, author_email, committer, committer_email, message]| {
                Ok(Signed {
                    commit: id.trim().parse().map_err(|_| unreadable("a commit has no id"))?,
                    author: Signature::new(author, author_email),
                    committer: Signature::new(committer, committer_email),
                    co_authors: message.lines().filter_map(co_author).collect(),
                })
            })
            .collect()
    }
}

impl Signature {
    fn new(name: &str, email: &str) -> Self {
        Self { name: name.trim().to_owned(), email: email.trim().to_owned() }
    }
}

fn co_author(line: &str) -> Option<Signature> {
    let line = line.trim();
    let key = line.get(..CO_AUTHOR.len())?;
    if !key.eq_ignore_ascii_case(CO_AUTHOR) {
        return None;
    }
    let value = &line[CO_AUTHOR.len()..];
    Some(match value.split_once('<') {
        Some((name, email)) => Signature::new(name, email.split('>').next().unwrap_or_default()),
        None => Signature::new(value, ""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_co_author_is_found_however_the_line_is_written() {
        let of = |line| co_author(line).map(|found| (found.name, found.email));
        let mia = Some(("Mia M".to_owned(), "mia@example.com".to_owned()));
        assert_eq!(of("Co-authored-by: Mia M <mia@example.com>"), mia);
        assert_eq!(of("  CO-AUTHORED-BY:Mia M<mia@example.com> "), mia);
        assert_eq!(of("co-authored-by: Mia M <mia@example.com"), mia);
        assert_eq!(of("Co-authored-by: Mia"), Some(("Mia".to_owned(), String::new())));
        assert_eq!(of("Reviewed-by: Mia M <mia@example.com>"), None);
        assert_eq!(of("Grüße aus Köln, Mia"), None);
    }
}
