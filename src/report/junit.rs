//! Record -> JUnit XML, for machines that show test reports.

use std::fmt::Write as _;

use crate::score::{Record, visible};
use crate::words::Verdict;

/// One suite: a case for the verdict, and one for each finding. Reject and hold are failures, unscored is an error, since there is no
/// score; what only reports passes.
pub fn junit(record: &Record) -> String {
    let of = |wanted: &[Verdict]| {
        let findings = record.findings.iter().filter(|finding| wanted.contains(&finding.verdict)).count();
        findings + usize::from(wanted.contains(&record.verdict))
    };
    let (tests, failures, errors) =
        (record.findings.len() + 1, of(&[Verdict::Reject, Verdict::Hold]), of(&[Verdict::Unscored]));
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\"");
    let mut page = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"evidence-gate\" {counts}>\n  \
         <testsuite name=\"evidence-gate\" {counts} timestamp=\"{}\">\n",
        text(&record.run.started)
    );
    case(&mut page, "verdict", record.verdict, &record.title, &said_of(record));
    for finding in &record.findings {
        let places: Vec<String> = finding.locations.iter().map(place).collect();
        let body = [vec![finding.message.clone()], places, vec![format!("Next: {}", finding.next)]].concat();
        case(&mut page, &finding.rule, finding.verdict, &finding.message, &body);
    }
    page.push_str("  </testsuite>\n</testsuites>\n");
    page
}

fn said_of(record: &Record) -> Vec<String> {
    vec![record.title.clone(), format!("base {}", record.base), format!("head {}", record.head)]
}

fn place(at: &crate::score::LocationRow) -> String {
    match at.line {
        Some(line) => format!("{}:{line}", at.path),
        None => at.path.clone(),
    }
}

fn case(page: &mut String, name: &str, verdict: Verdict, message: &str, body: &[String]) {
    let element = match verdict {
        Verdict::Review => None,
        Verdict::Unscored => Some("error"),
        Verdict::Hold | Verdict::Reject => Some("failure"),
    };
    let opening = format!("    <testcase classname=\"evidence-gate\" name=\"{}\"", text(name));
    let written = match element {
        None => writeln!(page, "{opening}/>"),
        Some(element) => {
            let lines: Vec<String> = body.iter().map(|line| text(line)).collect();
            let (message, lines) = (text(message), lines.join("\n"));
            writeln!(
                page,
                "{opening}>\n      <{element} type=\"{verdict}\" message=\"{message}\">{lines}</{element}>\n    </testcase>"
            )
        }
    };
    written.expect("writing to a String cannot fail");
}

/// Text in an element or an attribute. What XML cannot hold is gone before, since it is shown by its number.
fn text(of: &str) -> String {
    let mut out = String::with_capacity(of.len());
    for sign in visible(of).chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            sign => out.push(sign),
        }
    }
    out
}
