//! What the terminal shows.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};

use super::show::Course;
use crate::desk::Failure;
use crate::score::visible;
use crate::words::Verdict;

/// Prints a line. Colour goes only where a person looks.
pub(super) fn line(text: &str) -> Result<(), Failure> {
    match writeln!(anstream::stdout().lock(), "{text}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|source| Failure::write("standard output", source)),
    }
}

/// A verdict, in its colour and as wide as the widest.
pub(super) fn coloured(verdict: Verdict) -> String {
    let colour = match verdict {
        Verdict::Review => AnsiColor::Green,
        Verdict::Hold => AnsiColor::Yellow,
        Verdict::Unscored => AnsiColor::Magenta,
        Verdict::Reject => AnsiColor::Red,
    };
    let style = Style::new().fg_color(Some(colour.into())).bold();
    format!("{style}{:8}{style:#}", verdict.as_str())
}

/// One verdict as it arrives.
pub(super) fn verdict(number: u64, verdict: Verdict, title: &str) -> Result<(), Failure> {
    line(&format!("  #{number}  {}  {}", coloured(verdict), visible(title)))
}

/// What was not as it should be, or how many were.
pub(super) fn table(courses: &[Course<'_>]) -> Result<(), Failure> {
    line("")?;
    for course in courses {
        let words: Vec<&str> = course.verdicts.iter().map(|verdict| verdict.as_str()).collect();
        let mark = if course.surprises.is_empty() { "as expected" } else { "NOT AS EXPECTED" };
        line(&format!("  #{}  {:18}  {mark:15}  {}", course.story.number, words.join(", "), course.story.title))?;
        for surprise in &course.surprises {
            line(&format!("      {}", visible(surprise)))?;
        }
    }
    Ok(())
}

/// What a person can do next.
pub(super) fn what_to_try(address: &str) -> Result<(), Failure> {
    line(&format!(
        "\nWhat to try on {address}\n\
         \x20 - read a report: open a pull request; its check runs are below it, the newest first\n\
         \x20 - #6: push another commit, and the approval is gone; approve again, and it is back\n\
         \x20 - #2: approve it as maintainer: an approval releases holds, and never evidence that was edited\n\
         \x20 - any: comment /rescore; the worker answers with a reaction and judges once more\n\
         Ctrl-C ends everything."
    ))
}
