//! One thing that was looked at.

use std::fmt::Write as _;

use serde::Serialize;

use crate::score::visible;

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// It works, and could be better or safer.
    Warning,
    /// Verdicts are not made, not seen, or do not count.
    Fault,
}

/// What was seen, and what is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    /// `here`, `app`, or the repository.
    pub(super) about: String,
    /// What was looked at, in one word or two.
    pub(super) check: &'static str,
    /// How it is.
    pub(super) state: State,
    /// What was seen.
    pub(super) said: String,
    /// The next step; empty where nothing is to be done.
    pub(super) next: String,
}

/// Makes the lines about one thing.
#[derive(Clone, Debug)]
pub(super) struct About(pub(super) String);

impl About {
    pub(super) fn ok(&self, check: &'static str, said: impl Into<String>) -> Line {
        self.line(check, State::Ok, said, "")
    }

    pub(super) fn warning(&self, check: &'static str, said: impl Into<String>, next: impl Into<String>) -> Line {
        self.line(check, State::Warning, said, next)
    }

    pub(super) fn fault(&self, check: &'static str, said: impl Into<String>, next: impl Into<String>) -> Line {
        self.line(check, State::Fault, said, next)
    }

    fn line(&self, check: &'static str, state: State, said: impl Into<String>, next: impl Into<String>) -> Line {
        Line { about: self.0.clone(), check, state, said: said.into(), next: next.into() }
    }
}

/// The lines for a person: by what they are about, each with its next step below it.
pub(super) fn shown(lines: &[Line]) -> String {
    let mut text = String::new();
    let mut about = "";
    for Line { about: of, check, state, said, next } in lines {
        if of != about {
            about = of;
            writeln!(text, "{}", visible(about)).expect("writing to a String cannot fail");
        }
        let mark = match state {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Fault => "fault",
        };
        writeln!(text, "  {mark:8} {check:14} {}", visible(said)).expect("writing to a String cannot fail");
        if !next.is_empty() {
            writeln!(text, "  {:8} {:14} next: {}", "", "", visible(next)).expect("writing to a String cannot fail");
        }
    }
    let count = |state| lines.iter().filter(|line| line.state == state).count();
    let (faults, warnings) = (count(State::Fault), count(State::Warning));
    let words = |number: usize, one: &str| if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") };
    writeln!(text, "{}, {}", words(faults, "fault"), words(warnings, "warning"))
        .expect("writing to a String cannot fail");
    text
}
