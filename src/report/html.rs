//! Record and picture -> one page that needs nothing else: no script, no address that is loaded.

use std::fmt::Write as _;

use super::freezes;
use super::surface::{Lines, overlap, unobserved};
use crate::evidence::surface::{FilePicture, Observed, Picture, PictureLine, PictureRow};
use crate::score::{Record, elided, visible};
use crate::words::Verdict;

/// The verdict, why, what is next, the lines that lost their observer, and both sides of the changed files with who runs each line.
/// `rules_page` is an address as [`RULES_PAGE`](super::RULES_PAGE).
pub fn html(record: &Record, picture: &Picture, rules_page: &str) -> String {
    let title = text(&record.title);
    let shown = if record.verdict == Verdict::Review { format!("review: {title}") } else { title.clone() };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<h1 class=\"{}\">{shown}</h1>\n",
        record.verdict
    );
    findings(&mut page, record, rules_page);
    ledger(&mut page, record);
    table(&mut page, "Lines that only frozen tests run", &overlap(record), true);
    table(&mut page, "Changed lines that no test runs", &unobserved(record), false);
    if !picture.files.is_empty() {
        page.push_str("<h2>The surface of the changed files</h2>\n");
        page.push_str(LEGEND);
        picture.files.iter().for_each(|file| sides(&mut page, file));
    }
    paths(&mut page, record);
    stands_for(&mut page, record);
    page.push_str("</body>\n</html>\n");
    page
}

const STYLE: &str = "\
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1b1f24; }
h1 { font-size: 1.4rem; padding: .6rem .8rem; border-left: .5rem solid; background: #f4f5f7; }
h1.review { border-color: #1a7f37; } h1.hold { border-color: #9a6700; }
h1.unscored { border-color: #8250df; } h1.reject { border-color: #cf222e; }
h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: 1rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .15rem .5rem; vertical-align: top; }
th { border-bottom: 1px solid #d0d7de; } code, pre, .code td { font: 13px/1.4 ui-monospace, monospace; }
.code { table-layout: fixed; border: 1px solid #d0d7de; } .code td { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0 .4rem; }
.code .n { width: 3.2rem; text-align: right; color: #57606a; } .code .m { width: 1.4rem; text-align: center; font-weight: bold; }
.live { background: #e6f4ea; } .frozen { background: #fbd9d9; } .import { background: #fdeecb; } .nobody { background: #e9e4f7; }
.none { color: #57606a; } .gap td { text-align: center; color: #57606a; background: #f4f5f7; } .legend span { padding: .1rem .5rem; margin-right: .6rem; }
";

const LEGEND: &str = "<p class=\"legend\"><span class=\"live\">a live test runs it</span>\
    <span class=\"frozen\">only frozen tests run it</span><span class=\"import\">runs at import, beside such lines</span>\
    <span class=\"nobody\">no test runs it</span><span class=\"none\">no code</span> \
    <b>\u{2212}</b> and <b>+</b> mark code that changed; left the merge base, right the head.</p>\n";

/// Text from outside: on one line, without signs that hide or reorder, and nothing in it is markup.
fn text(of: &str) -> String {
    escaped(&elided(&visible(of), 4_000))
}

fn escaped(of: &str) -> String {
    let mut out = String::with_capacity(of.len());
    for sign in of.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            sign => out.push(sign),
        }
    }
    out
}

/// Adds a piece; writing to a text cannot fail.
macro_rules! add {
    ($page:expr, $($part:tt)*) => { writeln!($page, $($part)*).expect("writing to a String cannot fail") };
}

fn findings(page: &mut String, record: &Record, rules_page: &str) {
    for finding in &record.findings {
        let rule = text(&finding.rule);
        add!(page, "<h3>{} <a href=\"{}#{rule}\">{rule}</a></h3>", finding.verdict, escaped(rules_page));
        add!(page, "<p>{}</p>\n<p>Next: {}</p>", text(&finding.message), text(&finding.next));
    }
}

fn ledger(page: &mut String, record: &Record) {
    let rows = freezes::freezes(record);
    if rows.is_empty() {
        return;
    }
    add!(
        page,
        "<h2>The freeze ledger's change</h2>\n<table><tr><th></th><th>test</th><th>last day</th><th>price</th></tr>"
    );
    for row in rows {
        let (change, days, price) = (text(&row.change), text(&freezes::days(row)), text(&freezes::price(row)));
        add!(
            page,
            "<tr><td>{change}</td><td><code>{}</code></td><td>{days}</td><td>{price}</td></tr>",
            text(&row.nodeid)
        );
    }
    page.push_str("</table>\n");
    if let Some(share) = freezes::share(record) {
        add!(page, "<p>{}</p>", text(&share));
    }
}

fn table(page: &mut String, heading: &str, files: &std::collections::BTreeMap<&str, Vec<Lines<'_>>>, tests: bool) {
    if files.is_empty() {
        return;
    }
    let column = if tests { "<th>frozen tests</th>" } else { "" };
    add!(page, "<h2>{heading}</h2>\n<table><tr><th>file</th><th>at head</th><th>at the merge base</th>{column}</tr>");
    for (path, runs) in files {
        for run in runs {
            let names: Vec<String> = run.tests.iter().map(|test| format!("<code>{}</code>", text(test))).collect();
            let cell = if tests { format!("<td>{}</td>", names.join("<br>")) } else { String::new() };
            let (head, old) = (run.at_head(), run.at_merge_base());
            add!(page, "<tr><td><code>{}</code></td><td>{head}</td><td>{old}</td>{cell}</tr>", text(path));
        }
    }
    page.push_str("</table>\n");
}

fn sides(page: &mut String, file: &FilePicture) {
    add!(page, "<h3><code>{}</code></h3>", text(&file.path.to_string()));
    if let Some(why) = &file.plain {
        add!(page, "<p>Read as plain lines: {}.</p>", text(why));
    }
    page.push_str("<table class=\"code\">\n");
    for row in &file.rows {
        match row {
            PictureRow::Lines { old, new } => {
                add!(page, "<tr>{}{}</tr>", cells(old.as_ref(), "\u{2212}"), cells(new.as_ref(), "+"));
            }
            PictureRow::LeftOut { lines, frozen_only: 0 } => {
                add!(page, "<tr class=\"gap\"><td colspan=\"6\">{lines} lines without a change</td></tr>");
            }
            PictureRow::LeftOut { lines, frozen_only } => add!(
                page,
                "<tr class=\"gap\"><td colspan=\"6\">{lines} lines without a change, {frozen_only} of them run by frozen tests only</td></tr>"
            ),
        }
    }
    page.push_str("</table>\n");
}

fn cells(line: Option<&PictureLine>, mark: &str) -> String {
    let Some(PictureLine { number, text: says, observed, changed }) = line else {
        return "<td class=\"n\"></td><td class=\"m\"></td><td></td>".to_owned();
    };
    let class = match observed {
        Observed::Live => "live",
        Observed::Import => "import",
        Observed::FrozenOnly => "frozen",
        Observed::Nobody => "nobody",
        Observed::NotCode => "none",
    };
    let mark = if *changed { mark } else { "" };
    // A tab is layout here, and no sign that hides.
    let says = says.replace('\t', "    ");
    format!("<td class=\"n\">{number}</td><td class=\"m\">{mark}</td><td class=\"{class}\">{}</td>", text(&says))
}

fn paths(page: &mut String, record: &Record) {
    add!(page, "<h2>Changed files: {}</h2>\n<table>", record.rows.len());
    for row in &record.rows {
        let (class, status) = (row.class.as_str().replace('_', " "), text(&row.status));
        add!(page, "<tr><td>{class}</td><td>{status}</td><td><code>{}</code></td></tr>", text(&row.path));
    }
    page.push_str("</table>\n");
    if !record.not_observed.is_empty() {
        page.push_str("<h2>Not observed</h2>\n<ul>\n");
        record.not_observed.iter().for_each(|what| add!(page, "<li>{}</li>", text(what)));
        page.push_str("</ul>\n");
    }
}

fn stands_for(page: &mut String, record: &Record) {
    let known = |what: Option<&String>| what.map_or_else(|| "none".to_owned(), |what| text(what));
    let digests = &record.digests;
    page.push_str("<h2>What this verdict stands for</h2>\n<table>\n");
    for (name, value) in [
        ("base", text(&record.base)),
        ("head", text(&record.head)),
        ("merge base", known(record.merge_base.as_ref())),
        ("merged tree", known(record.merged_tree.as_ref())),
        ("policy", known(digests.policy.as_ref())),
        ("freeze ledger", known(digests.ledger.as_ref())),
        ("fixture lock", known(digests.lock.as_ref())),
        ("coverage map", known(digests.map.as_ref())),
    ] {
        add!(page, "<tr><td>{name}</td><td><code>{value}</code></td></tr>");
    }
    page.push_str("</table>\n");
}
