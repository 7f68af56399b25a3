//! A commit that two pull requests share: the check run is one, so the worse verdict counts (R34).

use super::conclusion::conclusion;
use super::render::fallback;
use super::{Posting, buttons, output};
use crate::forge::{Conclusion, Output, RunUpdate};
use crate::score::Record;
use crate::words::{PullNumber, Verdict};

impl Posting {
    /// Renders a record on a commit that is also the head of another pull request with a worse verdict: that one is what the run
    /// concludes with, and the record of this one is below it. Without a worse one this is [`Posting::of`].
    pub fn beside(record: &Record, rules_page: &str, worse: Option<(PullNumber, Verdict)>) -> Self {
        let Some((pull, verdict)) = worse.filter(|(_, verdict)| *verdict > record.verdict) else {
            return Self::of(record, rules_page);
        };
        let conclusion = match verdict {
            Verdict::Reject => Conclusion::Failure,
            Verdict::Hold | Verdict::Unscored => Conclusion::ActionRequired,
            Verdict::Review => conclusion(record),
        };
        let title = format!("{}: #{pull} has this commit too", verdict.as_str().to_uppercase());
        let why = format!(
            "Pull request #{pull} has the same head commit, and its verdict is {verdict}. One commit has one check run, so the \
             worse verdict counts for both. This pull request by itself is {}.\n\n",
            record.verdict
        );
        let own = output(record, rules_page);
        let over = |own: Output| Output { title: title.clone(), summary: why.clone() + &own.summary, text: own.text };
        let update = RunUpdate::Completed {
            conclusion,
            output: super::render::within(over(own)),
            annotations: super::annotations(record),
            fallback: over(fallback(record)),
            buttons: buttons(),
            details: None,
        };
        Self::whole(record.head.clone(), conclusion, update)
    }
}
