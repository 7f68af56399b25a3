//! What the bot says in its one comment on a pull request. No line of it is a command (R74).

use super::budget::cut;
use super::markdown::code;
use super::output;
use crate::event::Command;
use crate::score::{Record, visible};
use crate::words::{HeadSha, Role};

/// What our comment begins with, so that it is found again.
pub const MARKER: &str = "<!-- evidence-gate: the one comment -->";

/// The most bytes of a comment; the forge takes 65,536 characters.
const MOST: usize = 60_000;

/// What is answered.
#[derive(Clone, Copy, Debug)]
pub enum Reply<'a> {
    /// The list of commands.
    Help,
    /// The findings of the present verdict; `None`: there is none yet.
    Explain(Option<&'a Record>),
    /// A line that begins like a command and is none.
    Unknown {
        /// The line.
        said: &'a str,
        /// The command that is spelled most like it.
        nearest: Option<&'a str>,
    },
    /// A command that names a head which is not the head.
    Superseded {
        /// The head that was named.
        named: &'a HeadSha,
        /// The head.
        head: &'a HeadSha,
    },
}

/// The whole text of the comment. `who` wrote the command.
pub fn reply(reply: Reply<'_>, who: &str, rules_page: &str) -> String {
    let text = match reply {
        Reply::Help => help(),
        Reply::Explain(Some(record)) => {
            let shown = output(record, rules_page);
            format!("**{}**\n\n{}", visible(&shown.title).replace(['*', '<', '@'], " "), shown.summary)
        }
        Reply::Explain(None) => "There is no verdict on this pull request yet.\n".to_owned(),
        Reply::Unknown { said, nearest } => {
            let near = nearest.map_or_else(String::new, |near| format!(" Did you mean {}?", code(near)));
            format!("{} is no command.{near}\n\n{}", code(said), help())
        }
        Reply::Superseded { named, head } => format!(
            "Superseded: the command names {}, and the head of this pull request is {}. Nothing was done.\n",
            code(named.id().as_str()),
            code(head.id().as_str())
        ),
    };
    cut(format!("{MARKER}\nFor {}:\n\n{text}", code(who)), MOST)
}

fn help() -> String {
    "Each command is a line of its own in a new comment:\n\n\
     - `/rescore`: judge this pull request again; with a full commit id behind it, only if that is still the head\n\
     - `/evidence-gate rescore`: the same\n\
     - `/evidence-gate explain`: the findings of the present verdict, and what to do about each\n\
     - `/evidence-gate help`: this list\n\n\
     No command sets a verdict.\n"
        .to_owned()
}

/// One line for the audit log.
pub fn said(command: &Command) -> String {
    match command {
        Command::Rescore { head: None } => "rescore".to_owned(),
        Command::Rescore { head: Some(head) } => format!("rescore {head}"),
        Command::Explain => "explain".to_owned(),
        Command::Help => "help".to_owned(),
        Command::Unknown { said, .. } => format!("unknown: {}", visible(said)),
    }
}

/// Why a command was refused, for the audit log.
pub fn lacks(role: Option<Role>, least: Role) -> String {
    role.map_or_else(
        || format!("no role where {least} is asked for"),
        |role| format!("{role} where {least} is asked for"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::command;

    #[test]
    fn nothing_that_the_bot_writes_is_a_command() {
        let (one, other): (HeadSha, HeadSha) =
            ("a".repeat(40).parse().expect("a sha"), "b".repeat(40).parse().expect("a sha"));
        let replies = [
            Reply::Help,
            Reply::Explain(None),
            Reply::Unknown { said: "/rescore\n/rescore", nearest: Some("/rescore") },
            Reply::Unknown { said: "/evidence-gate ``x", nearest: None },
            Reply::Superseded { named: &one, head: &other },
        ];
        for answer in replies {
            let text = reply(answer, "ada", "https://example.com");
            assert_eq!(command(&text), None, "{text}");
            assert!(text.starts_with(MARKER));
        }
    }
}
