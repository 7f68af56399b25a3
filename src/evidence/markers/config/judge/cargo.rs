//! Keys of cargo and nextest.

use super::Side;
use crate::evidence::markers::config::entries::Entry;
use crate::evidence::markers::marker::MarkerKind;

pub(super) fn cargo(entry: &Entry, side: &mut Side) {
    let table = entry.key.first().map_or("", String::as_str);
    let off = entry.value == "false";
    match (table, entry.last()) {
        ("lib" | "test" | "bin" | "example", "test" | "doctest") | ("test" | "lib", "harness") if off => {
            side.mark(MarkerKind::Disabled, entry, format!("[{table}] {} = false", entry.last()));
        }
        ("package" | "autotests", "autotests") if off => side.mark_value(MarkerKind::Disabled, entry),
        ("test", "required-features") => side.mark_value(MarkerKind::Disabled, entry),
        _ => {}
    }
}

pub(super) fn nextest(entry: &Entry, side: &mut Side) {
    match entry.last() {
        "default-filter" => side.mark_value(MarkerKind::Disabled, entry),
        "retries" | "count" | "slow-timeout" | "leak-timeout" | "period" | "terminate-after" | "flaky-result" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        _ => {}
    }
}
