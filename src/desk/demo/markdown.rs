//! GitHub's Markdown, as far as reports use it -> HTML in which nothing but these elements can stand.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Renders a report. HTML in it is shown as text, images are left out, and a link leads to a web page or to this one.
pub(super) fn rendered(markdown: &str) -> Markup {
    let mut out = String::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events = Parser::new_ext(markdown, options).peekable();
    let (mut in_head, mut heads) = (false, false);
    while let Some(event) = events.next() {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                let next = events.peek();
                out.push_str(&heading(event_level(&event), next));
            }
            Event::Start(Tag::TableHead) => {
                in_head = true;
                out.push_str("<thead><tr>");
            }
            Event::End(TagEnd::TableHead) => {
                in_head = false;
                out.push_str("</tr></thead><tbody>");
            }
            Event::Start(Tag::TableCell) => {
                // A heading that says nothing is none.
                heads = in_head && !matches!(events.peek(), Some(Event::End(TagEnd::TableCell)));
                out.push_str(if heads { "<th>" } else { "<td>" });
            }
            Event::End(TagEnd::TableCell) => out.push_str(if heads { "</th>" } else { "</td>" }),
            Event::Start(tag) => out.push_str(&opening(&tag)),
            Event::End(end) => out.push_str(closing(end)),
            Event::Code(text) => out.push_str(&html! { code { (text) } }.into_string()),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => push_text(&mut out, &text),
            Event::SoftBreak => out.push('\n'),
            Event::HardBreak => out.push_str("<br>"),
            Event::Rule => out.push_str("<hr>"),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                push_text(&mut out, &text);
            }
            Event::TaskListMarker(_) => {}
        }
    }
    PreEscaped(out)
}

fn push_text(out: &mut String, text: &CowStr<'_>) {
    out.push_str(&html! { (text) }.into_string());
}

fn event_level(event: &Event<'_>) -> HeadingLevel {
    match event {
        Event::Start(Tag::Heading { level, .. }) => *level,
        _ => HeadingLevel::H6,
    }
}

/// A heading that is one word has it as its anchor, as the page of the rules needs.
fn heading(level: HeadingLevel, next: Option<&Event<'_>>) -> String {
    let word = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    match next {
        Some(Event::Text(text)) if word(text) => format!("<{level} id=\"{text}\">"),
        _ => format!("<{level}>"),
    }
}

fn opening(tag: &Tag<'_>) -> String {
    let fixed = match tag {
        Tag::Paragraph => "<p>",
        Tag::BlockQuote(_) => "<blockquote>",
        Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => "<pre><code>",
        Tag::List(None) => "<ul>",
        Tag::List(Some(_)) => "<ol>",
        Tag::Item => "<li>",
        Tag::Table(_) => "<div class=\"wide\"><table>",
        Tag::TableRow => "<tr>",
        Tag::Emphasis => "<em>",
        Tag::Strong => "<strong>",
        Tag::Strikethrough => "<s>",
        Tag::Link { dest_url, .. } if leads_somewhere(dest_url) => return opening_link(dest_url),
        Tag::Link { .. } => "<a>",
        _ => "",
    };
    fixed.to_owned()
}

fn leads_somewhere(url: &str) -> bool {
    ["http://", "https://", "#"].iter().any(|start| url.starts_with(start))
}

fn opening_link(url: &str) -> String {
    html! { a href=(url) rel="noreferrer" { "\u{0}" } }.into_string().replace("\u{0}</a>", "")
}

fn closing(end: TagEnd) -> &'static str {
    match end {
        TagEnd::Paragraph => "</p>\n",
        TagEnd::Heading(HeadingLevel::H1) => "</h1>\n",
        TagEnd::Heading(HeadingLevel::H2) => "</h2>\n",
        TagEnd::Heading(HeadingLevel::H3) => "</h3>\n",
        TagEnd::Heading(HeadingLevel::H4) => "</h4>\n",
        TagEnd::Heading(HeadingLevel::H5) => "</h5>\n",
        TagEnd::Heading(HeadingLevel::H6) => "</h6>\n",
        TagEnd::BlockQuote(_) => "</blockquote>\n",
        TagEnd::CodeBlock => "</code></pre>\n",
        TagEnd::List(false) => "</ul>\n",
        TagEnd::List(true) => "</ol>\n",
        TagEnd::Item => "</li>\n",
        TagEnd::Table => "</tbody></table></div>\n",
        TagEnd::TableRow => "</tr>\n",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        TagEnd::Strikethrough => "</s>",
        TagEnd::Link => "</a>",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_report_holds_becomes_an_element() {
        for hostile in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[x](javascript:alert(1))",
            "![x](http://example.com/a.png)",
            "`<b>`",
            "| a |\n|---|\n| <i>b</i> |",
        ] {
            let shown = rendered(hostile).into_string();
            let elements = ["<script", "<img", "<b>", "<i>", "href=\"javascript"];
            assert!(elements.iter().all(|element| !shown.contains(element)), "{hostile}: {shown}");
        }
    }

    #[test]
    fn a_report_keeps_its_shape() {
        let shown =
            rendered("## no-policy\n\n- *one* [rule](http://127.0.0.1:1/rules#x) `a<b`\n\n| a |\n|---|\n| b |\n");
        assert_eq!(
            shown.into_string().replace('\n', ""),
            "<h2 id=\"no-policy\">no-policy</h2><ul><li><em>one</em> <a href=\"http://127.0.0.1:1/rules#x\" rel=\"noreferrer\">rule</a> \
             <code>a&lt;b</code></li></ul><div class=\"wide\"><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr>\
             </tbody></table></div>"
        );
    }
}
