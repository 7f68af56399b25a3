//! Markdown -> command: exact words on a line of their own, and nowhere else (R73).
//!
//! The text is a stranger's. It can ask for work; there is no command that sets a verdict (R76).

use std::ops::Range;

use pulldown_cmark::{Event as Piece, Parser, Tag};
use serde::{Deserialize, Serialize};

use crate::words::HeadSha;

/// What a comment asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// A new evaluation; of this head and no other, where one is named.
    Rescore {
        /// The head that whoever wrote it had seen.
        head: Option<HeadSha>,
    },
    /// The findings of the present verdict, and what to do about each.
    Explain,
    /// The list of commands.
    Help,
    /// Ours by its first word, and none that we know.
    Unknown {
        /// The line, cut.
        said: String,
        /// The command that is spelled most like it.
        nearest: Option<String>,
    },
}

/// The first words by which a line is ours.
const RESCORE: &str = "/rescore";
const NAMED: &str = "/evidence-gate";

/// Every whole command.
const KNOWN: [&str; 4] = ["/rescore", "/evidence-gate rescore", "/evidence-gate explain", "/evidence-gate help"];

/// The most characters that are kept of a line which is no command.
const LONGEST: usize = 60;

/// The first command of a comment, written in `CommonMark`. A line counts when it is a whole line of a paragraph that stands in
/// nothing else (no quote, list or table) and holds no code, HTML, link or emphasis, and when its first word is exactly ours.
pub fn command(markdown: &str) -> Option<Command> {
    let places = Places::of(markdown);
    places.paragraphs.iter().flat_map(|paragraph| lines(markdown, paragraph)).find_map(|line| {
        let text = &markdown[line.clone()];
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let plain = || !places.marked.iter().any(|mark| mark.start < line.end && line.start < mark.end);
        (words.first().is_some_and(|first| [RESCORE, NAMED].contains(first)) && plain()).then(|| read(&words))
    })
}

fn read(words: &[&str]) -> Command {
    match words {
        [RESCORE] | [NAMED, "rescore"] => Command::Rescore { head: None },
        [RESCORE, sha] | [NAMED, "rescore", sha] if sha.len() == 40 && sha.parse::<HeadSha>().is_ok() => {
            Command::Rescore { head: sha.parse().ok() }
        }
        [NAMED, "explain"] => Command::Explain,
        [NAMED, "help"] => Command::Help,
        _ => unknown(words),
    }
}

fn unknown(words: &[&str]) -> Command {
    let said: String = words.join(" ").chars().take(LONGEST).collect();
    let mut near: Vec<(usize, &str)> =
        KNOWN.iter().map(|known| (strsim::damerau_levenshtein(&said, known), *known)).collect();
    near.sort_unstable();
    let nearest = near.first().filter(|(steps, _)| *steps <= 4).map(|(_, known)| (*known).to_owned());
    Command::Unknown { said, nearest }
}

/// Where commands may stand, and where they may not.
struct Places {
    paragraphs: Vec<Range<usize>>,
    marked: Vec<Range<usize>>,
}

impl Places {
    fn of(markdown: &str) -> Self {
        let mut places = Self { paragraphs: Vec::new(), marked: Vec::new() };
        let mut depth = 0_usize;
        for (piece, range) in Parser::new(markdown).into_offset_iter() {
            match piece {
                Piece::Start(Tag::Paragraph) if depth == 0 => {
                    places.paragraphs.push(range);
                    depth += 1;
                }
                Piece::Start(tag) => {
                    if !matches!(tag, Tag::Paragraph) {
                        places.marked.push(range);
                    }
                    depth += 1;
                }
                Piece::End(_) => depth = depth.saturating_sub(1),
                Piece::Text(_) | Piece::SoftBreak | Piece::HardBreak => {}
                _ => places.marked.push(range),
            }
        }
        places
    }
}

/// The lines of a part of a text, without their ends.
fn lines<'a>(text: &'a str, part: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let mut at = part.start;
    text[part.clone()].split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..start + line.trim_end().len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

    const RESCORED: Option<Command> = Some(Command::Rescore { head: None });

    #[test]
    fn each_command_is_a_whole_line_with_exact_words() {
        assert_eq!(command("/rescore"), RESCORED);
        assert_eq!(command("Thanks!\n/rescore\nbye"), RESCORED);
        assert_eq!(command("Thanks!\n\n  /rescore  \r\n"), RESCORED);
        assert_eq!(command("/evidence-gate rescore"), RESCORED);
        assert_eq!(command(&format!("/rescore {SHA}")), Some(Command::Rescore { head: SHA.parse().ok() }));
        assert_eq!(command("/evidence-gate explain"), Some(Command::Explain));
        assert_eq!(command("/evidence-gate help\n/rescore"), Some(Command::Help), "the first one counts");
    }

    #[test]
    fn what_is_shown_and_not_said_is_no_command() {
        for text in [
            "`/rescore`",
            "```\n/rescore\n```",
            "    /rescore",
            "> /rescore",
            "> as you said\n/rescore",
            "- /rescore",
            "1. /rescore",
            "# /rescore",
            "<!--\n/rescore\n-->",
            "<details>\n/rescore\n</details>",
            "<b>x</b> \n[a]: <b>\n\n\\/rescore",
            "&#47;rescore",
            "*\n/rescore*",
            "[x\n/rescore](https://example.com)",
            "please /rescore",
            "/rescored",
            "/Rescore",
            "/evidence-gates rescore",
            "",
        ] {
            assert_eq!(command(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_wrong_word_behind_our_name_is_answered_with_the_nearest_command() {
        let unknown = |said: &str, nearest: Option<&str>| {
            Some(Command::Unknown { said: said.to_owned(), nearest: nearest.map(ToOwned::to_owned) })
        };
        assert_eq!(
            command("/evidence-gate rescroe"),
            unknown("/evidence-gate rescroe", Some("/evidence-gate rescore"))
        );
        assert_eq!(command("/rescore now"), unknown("/rescore now", Some("/rescore")));
        assert_eq!(command("/evidence-gate approve everything"), unknown("/evidence-gate approve everything", None));
        let short = command("/rescore abc1234");
        assert!(matches!(short, Some(Command::Unknown { .. })), "an abbreviated sha is no sha: {short:?}");
    }

    #[test]
    fn a_long_line_is_cut() {
        let Some(Command::Unknown { said, .. }) = command(&format!("/rescore {}", "é".repeat(9_000))) else {
            panic!("an unknown command")
        };
        assert_eq!(said.chars().count(), LONGEST);
    }
}
