//! Text from outside, made safe to show.

use std::fmt::Write;

/// The same text with nothing in it that acts instead of showing: control characters come out as `\xNN`, marks that reorder or
/// hide text as `\u{..}`, and `##[` can no longer begin a command in the log of a GitHub Actions run (R47). Not reversible, and not
/// for judging.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0'..='\x1f' | '\x7f' => write!(shown, "\\x{:02x}", u32::from(c)),
            c if hides(c) => write!(shown, "\\u{{{:x}}}", u32::from(c)),
            '[' if shown.ends_with("##") => {
                shown.pop();
                shown.write_str("\\x23[")
            }
            c => shown.write_char(c),
        }
        .expect("writing to a String cannot fail");
    }
    shown
}

/// Whether a character draws nothing of its own, or changes the order in which its neighbours are drawn.
/// <https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing>
fn hides(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' // C1 controls
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' // zero width, left-to-right and right-to-left marks
        | '\u{2028}'..='\u{202e}' // separators, embeddings and overrides
        | '\u{2060}'..='\u{206f}' // invisible operators, isolates
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}') // tags, variation selectors
}

/// The same text in at most `most` characters: its middle gives way to `…`, since a path tells most at its two ends.
pub fn elided(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let head = kept / 3;
    let tail = kept - head;
    text.chars().take(head).chain(['…']).chain(text.chars().skip(length - tail)).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_bidi_marks_become_their_numbers() {
        assert_eq!(visible("a\nb\tc\x1b[31m"), "a\\x0ab\\x09c\\x1b[31m");
        assert_eq!(visible("evil\u{202e}gpj.rs"), "evil\\u{202e}gpj.rs");
        assert_eq!(visible("C1 \u{9b}31m"), "C1 \\u{9b}31m");
    }

    #[test]
    fn ordinary_text_of_any_script_stays_as_it_is() {
        let text = "src/größe/数据/مرحبا.rs #1 @you `x` | \\";
        assert_eq!(visible(text), text);
    }

    #[test]
    fn an_old_style_workflow_command_is_broken_wherever_it_stands() {
        assert_eq!(visible("x##[error]y"), "x#\\x23[error]y");
        assert_eq!(visible("###["), "##\\x23[");
    }

    #[test]
    fn a_long_text_keeps_both_ends_and_the_limit() {
        assert_eq!(elided("abcdefghij", 10), "abcdefghij");
        assert_eq!(elided("abcdefghijk", 7), "ab…hijk");
        for most in 0..12 {
            assert!(elided("äöüßäöüßäöüß", most).chars().count() <= most);
        }
    }
}
