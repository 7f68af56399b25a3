//! Text from outside, as Markdown that shows it and does nothing else.

use crate::score::{elided, visible};

/// The most characters of a name in a report. The record keeps all of it.
const MOST_NAME: usize = 240;

/// A name in a code span: mentions, references, links and HTML have no meaning there. The fence is longer than any run of backticks
/// in the name. <https://spec.commonmark.org/0.31.2/#code-spans>
pub fn code(name: &str) -> String {
    let shown = elided(&visible(name), MOST_NAME);
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let edge = |c: char| c == '`' || c == ' ';
    let blank = shown.bytes().all(|b| b == b' ');
    let pad = if !blank && (shown.starts_with(edge) || shown.ends_with(edge)) { " " } else { "" };
    match shown.as_str() {
        "" => "(empty)".to_owned(),
        shown => format!("{fence}{pad}{shown}{pad}{fence}"),
    }
}

/// The same for a cell of a table, where a bar would end the cell even inside a code span.
/// <https://github.github.com/gfm/#tables-extension->
pub fn cell(name: &str) -> String {
    code(name).replace('|', "\\|")
}

/// A sentence in which names may stand. What is between two backticks, and every word that is not plainly a word, becomes code;
/// so a name is readable, and none can make a heading, a link, a mention or HTML.
pub(super) fn prose(sentence: &str) -> String {
    let parts: Vec<&str> = sentence.split('`').collect();
    let balanced = parts.len() % 2 == 1;
    if !balanced {
        return words(sentence);
    }
    let mut out = String::with_capacity(sentence.len());
    for (at, part) in parts.iter().enumerate() {
        let piece = match at % 2 {
            0 => words(part),
            _ if part.is_empty() => continue,
            _ => code(part),
        };
        // Two fences side by side would be one longer fence.
        if out.ends_with('`') && piece.starts_with('`') {
            out.push(' ');
        }
        out.push_str(&piece);
    }
    out
}

fn words(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    let core = word.trim_start_matches(['(', '"']);
    let opening = &word[..word.len() - core.len()];
    let core = core.trim_end_matches(['.', ',', ';', ':', ')', '"', '?', '!']);
    let closing = &word[opening.len() + core.len()..];
    if is_plain(core) { word.to_owned() } else { format!("{opening}{}{closing}", code(core)) }
}

/// Letters, digits, dashes and apostrophes, or a number: nothing that Markdown or a forge gives a meaning to.
fn is_plain(word: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '%' | '=');
    word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '\'')) && !word.starts_with("www")
        || word.chars().all(number)
        || matches!(word, "/" | "->" | "+" | "=")
}

#[cfg(test)]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for some of a parser's many events")]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;

    /// What a reader sees of a piece of Markdown, if nothing in it is more than text and code.
    fn seen(markdown: &str) -> Result<String, String> {
        let mut seen = String::new();
        for event in Parser::new_ext(&format!("x {markdown}"), Options::all()) {
            match event {
                Event::Text(text) | Event::Code(text) => seen.push_str(&text),
                Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => {}
                other => return Err(format!("{other:?}")),
            }
        }
        Ok(seen.strip_prefix("x ").map(str::to_owned).unwrap_or(seen))
    }

    #[test]
    fn a_name_full_of_markdown_is_shown_as_it_is() {
        for name in [
            "a`b",
            "``",
            "`a`",
            " lead",
            "trail ",
            "![x](http://e)",
            "<img src=x onerror=alert(1)>",
            "@everyone/#1",
            "a|b",
            "a\\|b",
            "*a* _b_ ~c~ $d$",
            "&lt;",
        ] {
            assert_eq!(seen(&code(name)).as_deref(), Ok(name), "{}", code(name));
        }
    }

    #[test]
    fn a_newline_in_a_name_cannot_leave_the_span() {
        assert_eq!(code("a\n\n# b"), "`a\\x0a\\x0a# b`");
    }

    #[test]
    fn a_sentence_shows_its_names_as_code_and_its_words_as_words() {
        assert_eq!(
            prose("A fixture (tests/fixtures/fees.json) was modified, ratio=0.40, 2 of 5 lines."),
            "A fixture (`tests/fixtures/fees.json`) was modified, `ratio=0.40`, 2 of 5 lines."
        );
        assert_eq!(prose("Run `git restore -- x` again."), "Run `git restore -- x` again.");
    }

    #[test]
    fn a_hostile_name_in_a_sentence_is_code_and_nothing_else() {
        for name in
            ["@team", "#12", "<b>x</b>", "[a](b)", "www.example.org", "http://e/", "a`b", "`a", "**x**", ":tada:"]
        {
            let sentence = prose(&format!("The file {name} was edited."));
            let shown = seen(&sentence).unwrap();
            assert_eq!(shown, format!("The file {name} was edited."), "{sentence}");
            let outside: String = sentence.split('`').step_by(2).collect();
            assert!(!outside.contains(['@', '#', '<', '[', '*', '/']), "{sentence}");
        }
    }

    #[test]
    fn spans_side_by_side_do_not_run_into_each_other() {
        assert_eq!(seen(&prose("a/b`c`")).as_deref(), Ok("a/b c"));
        assert_eq!(seen(&prose("`<i>``<b>`")).as_deref(), Ok("<i> <b>"));
    }

    proptest::proptest! {
        #[test]
        fn no_sentence_means_more_than_text_and_code(sentence in "[ -~]{0,60}|[`<>@#a|\\\\ *_\\[\\]()!.:/-]{0,60}") {
            proptest::prop_assert!(seen(&prose(&sentence)).is_ok(), "{} from {sentence}", prose(&sentence));
            proptest::prop_assert!(seen(&code(&sentence)).is_ok());
        }
    }

    #[test]
    fn a_bar_in_a_table_stays_inside_its_cell() {
        let table = format!("| a |\n|---|\n| {} |\n", cell("x|y`z"));
        let cells = Parser::new_ext(&table, Options::ENABLE_TABLES)
            .filter_map(|event| match event {
                Event::Code(text) => Some(text.to_string()),
                _ => None,
            })
            .collect::<Vec<_>>();
        assert_eq!(cells, ["x|y`z"]);
    }
}
