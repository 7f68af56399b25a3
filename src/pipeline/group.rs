//! A merge group: what it would bring to the branch as a whole, beside what its members were found to be.

use std::path::Path;

use super::{Origin, PipelineError, Question, mirrored};
use crate::change::{Change, PathChange};
use crate::evidence::Finding;
use crate::forge::Remote;
use crate::score::{GROUP_MEMBER, Record};
use crate::words::{ObjectId, PullNumber, Verdict};

/// A pull request that is in a merge group.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its number.
    pub pull: PullNumber,
    /// The record of its own verdict; or why there is none that counts.
    pub record: Result<Box<Record>, String>,
}

/// The commits that a group adds to its branch, along first parents, newest first. Each member's last one is the tip of a ref of the
/// queue's own.
pub fn chain(data_dir: &Path, remote: &Remote, question: &Question) -> Result<Vec<ObjectId>, PipelineError> {
    let (_, _, git) = mirrored(data_dir, remote, question)?;
    Ok(git.first_parents_between(&question.base, &question.head)?)
}

/// What counts of the findings about the group's own diff, and what its members lack.
///
/// A finding about paths was made, and answered, when the member that changes them was judged; it counts here only where no member
/// with a review changes every one of its paths. Width is each member's own.
pub(super) fn findings(origin: &Origin, change: &Change, found: Vec<Finding>) -> Vec<Finding> {
    let Origin::Group { members, .. } = origin else { return found };
    let reviewed: Vec<&Record> = members
        .iter()
        .filter_map(|member| member.record.as_ref().ok())
        .filter(|record| record.verdict == Verdict::Review)
        .map(AsRef::as_ref)
        .collect();
    let by_a_member = |path: &str| {
        reviewed
            .iter()
            .any(|record| record.rows.iter().any(|row| row.path == path || row.old_path.as_deref() == Some(path)))
    };
    let answered = |finding: &Finding| {
        !finding.locations.is_empty() && finding.locations.iter().all(|place| by_a_member(&place.path.to_string()))
    };
    let mut counts: Vec<Finding> =
        found.into_iter().filter(|finding| finding.rule.id != "too-wide" && !answered(finding)).collect();
    for member in members {
        let why = match &member.record {
            Err(why) => why.clone(),
            Ok(record) if record.verdict == Verdict::Review => continue,
            Ok(record) => format!("its own verdict is {}", record.verdict),
        };
        counts.push(Finding::new(
            &GROUP_MEMBER,
            format!("pull request #{} is in this merge group, and {why}", member.pull),
        ));
    }
    if members.is_empty() {
        counts.push(Finding::new(&GROUP_MEMBER, "the pull requests in this merge group cannot be told"));
    }
    let paths = change.rows.iter().flat_map(PathChange::paths).map(ToString::to_string);
    let strange: Vec<String> = paths.filter(|path| !by_a_member(path)).collect();
    if let Some(path) = strange.first().filter(|_| members.iter().all(|member| member.record.is_ok())) {
        counts.push(Finding::new(
            &GROUP_MEMBER,
            format!("{} of the group's paths are of no member that was found, the first is {path}", strange.len()),
        ));
    }
    counts
}
