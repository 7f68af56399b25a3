//! Text that must fit a number of bytes.

/// A text that grows line by line and never past its limit, so that nothing is ever cut in the middle of a code span.
pub(super) struct Page {
    text: String,
    limit: usize,
}

impl Page {
    /// A text that begins with `opening` and takes at most `limit` bytes.
    pub(super) fn new(opening: impl Into<String>, limit: usize) -> Self {
        Self { text: opening.into(), limit }
    }

    /// Adds `piece` if `piece` and `reserve` bytes more still fit.
    fn fits(&mut self, piece: &str, reserve: usize) -> bool {
        let fits = self.text.len() + piece.len() + reserve <= self.limit;
        if fits {
            self.text.push_str(piece);
        }
        fits
    }

    /// Adds as many pieces as fit, at most `most`, and for the rest one line that says how many are not shown.
    pub(super) fn list(
        &mut self,
        pieces: impl ExactSizeIterator<Item = String>,
        most: usize,
        omitted: impl Fn(usize) -> String,
    ) {
        let total = pieces.len();
        let reserve = omitted(total).len();
        let shown = pieces.take(most).take_while(|piece| self.fits(piece, reserve)).count();
        if shown < total {
            self.text.push_str(&omitted(total - shown));
        }
    }

    /// The text.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// At most `limit` bytes of a text, cut between characters, with the number of bytes left out at its end (R42).
pub(super) fn cut(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let note = |omitted: usize| format!("\n\n… {omitted} bytes omitted");
    let kept = text.floor_char_boundary(limit.saturating_sub(note(text.len()).len()));
    format!("{}{}", &text[..kept], note(text.len() - kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_does_not_fit_says_how_many_are_missing_and_keeps_the_limit() {
        let mut page = Page::new("", 60);
        page.list((0..100).map(|n| format!("line {n}\n")), 50, |n| format!("{n} omitted\n"));
        let text = page.into_text();
        assert!(text.len() <= 60);
        assert_eq!(text, "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\n94 omitted\n");
    }

    #[test]
    fn a_list_that_fits_says_nothing_more() {
        let mut page = Page::new("", 100);
        page.list(["a\n", "b\n"].into_iter().map(str::to_owned), 50, |n| format!("{n} omitted\n"));
        assert_eq!(page.into_text(), "a\nb\n");
    }

    #[test]
    fn a_text_is_cut_by_bytes_between_characters() {
        let text = "ä".repeat(50_000);
        let short = cut(text, 65_000);
        assert!(short.len() <= 65_000);
        assert!(short.ends_with("bytes omitted"), "{}", &short[short.len() - 40..]);
        assert_eq!(cut("short".into(), 65_000), "short");
    }
}
