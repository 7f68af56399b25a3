//! What a run says when it ends without an answer.

use crate::forge::{Conclusion, Output, RunUpdate};

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
    }
}
