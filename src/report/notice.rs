//! What a run says when it ends without an answer.

use crate::forge::{Conclusion, Output, RunUpdate};

/// What stands over a verdict that no longer holds, until the next one is there (R32).
pub fn revoked(why: &str) -> Output {
    Output {
        title: "UNSCORED: the earlier verdict no longer holds".to_owned(),
        summary: format!(
            "The earlier verdict no longer holds: {why}. The pull request is in the queue to be judged again."
        ),
        text: None,
    }
}

/// Ends a run whose answer nobody waits for any more: blocking, with the reason.
pub fn superseded(why: &str) -> RunUpdate {
    let output = Output {
        title: "UNSCORED: superseded".to_owned(),
        summary: format!("This evaluation was not finished: {why}."),
        text: None,
    };
    RunUpdate::Completed {
        conclusion: Conclusion::ActionRequired,
        output: output.clone(),
        annotations: Vec::new(),
        fallback: output,
        buttons: Vec::new(),
        details: None,
    }
}
