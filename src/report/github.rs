//! Record -> workflow commands, which a GitHub Actions runner turns into annotations.
//!
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message>

use super::places::{Placed, placed};
use crate::score::{Record, visible};
use crate::words::Verdict;

/// One command for each place of each finding, worst first, since a runner shows the first ten of a step and level; then the verdict as
/// a line of the log. A command is one line, and whatever a pull request wrote is data in it: the signs that end a value are escaped.
pub fn github(record: &Record) -> String {
    let mut lines: Vec<String> = placed(record).iter().map(command).collect();
    let title = visible(&record.title);
    let said = match record.verdict {
        Verdict::Review => format!("review: {title}"),
        Verdict::Hold | Verdict::Unscored | Verdict::Reject => title,
    };
    lines.push(format!("evidence-gate: {said}"));
    lines.join("\n") + "\n"
}

fn command(placed: &Placed<'_>) -> String {
    let finding = placed.finding;
    let name = match finding.verdict {
        Verdict::Review => "notice",
        Verdict::Hold | Verdict::Unscored => "warning",
        Verdict::Reject => "error",
    };
    let file = property(&placed.path);
    let place = match placed.line {
        Some(line) => format!("file={file},line={line},endLine={}", placed.end_line.unwrap_or(line).max(line)),
        None => format!("file={file}"),
    };
    let title = property(&format!("{} {}", finding.verdict, finding.rule));
    let said = data(&format!("{}. Next: {}", finding.message.trim_end_matches('.'), finding.next));
    format!("::{name} {place},title={title}::{said}")
}

/// What stands behind the second pair of colons.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value between the command's name and the second pair of colons.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
