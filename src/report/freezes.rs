//! What the evidence lane does to the freeze ledger, freeze by freeze, in words.

use crate::score::{FreezeRow, LaneSurface, Record};

/// The rows, where there are any.
pub(super) fn freezes(record: &Record) -> &[FreezeRow] {
    record.lane.as_ref().map_or(&[], |lane| &lane.freezes)
}

/// `until 2026-10-05`, `2026-10-05 to 2026-11-01`, or `-` where there is no day.
pub(super) fn days(row: &FreezeRow) -> String {
    match (row.before.as_deref(), row.after.as_deref()) {
        (None, None) => "-".to_owned(),
        (Some(before), None) => format!("was until {before}"),
        (None, Some(after)) => format!("until {after}"),
        (Some(before), Some(after)) if before == after => format!("until {after}"),
        (Some(before), Some(after)) => format!("until {before}, now {after}"),
    }
}

/// What a freeze costs, or what is known instead.
pub(super) fn price(row: &FreezeRow) -> String {
    let number = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    match (&row.price, row.change.as_str()) {
        (None, "removed" | "shortened") => "nothing".to_owned(),
        (None, _) => "not known".to_owned(),
        (Some(price), _) if price.lines == 0 => "no line loses its only observer".to_owned(),
        (Some(price), _) => {
            let lines = number(usize::try_from(price.lines).unwrap_or(usize::MAX), "line");
            match price.files.as_slice() {
                [] => format!("{lines} without an observer"),
                [file] => format!("{lines} without an observer, and all of {file}"),
                files => format!("{lines} without an observer, and all of {}", number(files.len(), "file")),
            }
        }
    }
}

/// The share of the covered lines that stays observed.
pub(super) fn share(record: &Record) -> Option<String> {
    let LaneSurface { before, after } = record.lane.as_ref()?.surface?;
    #[expect(clippy::cast_precision_loss, reason = "no tree has more lines than a float can count")]
    let share = if before == 0 { 100.0 } else { after as f64 * 100.0 / before as f64 };
    Some(format!("A live test runs {before} lines before these freezes, and {after} with them ({share:.1} %)."))
}
