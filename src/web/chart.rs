//! Verdicts over time as bars, drawn in the page itself. The same numbers stand in a table beside it.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::Offset;
use maud::{Markup, html};

use crate::queue::Past;
use crate::words::Verdict;

/// How many days are drawn.
const DAYS: i32 = 30;

/// In the order in which they are stacked.
pub(super) const VERDICTS: [Verdict; 4] = [Verdict::Review, Verdict::Hold, Verdict::Unscored, Verdict::Reject];

/// Verdicts of one day, in the order of [`VERDICTS`].
pub(super) type Day = [u32; 4];

/// The days that have a verdict, newest first, among the last thirty.
pub(super) fn days(past: &[Past], today: Date) -> BTreeMap<Date, Day> {
    let first = today.saturating_sub(jiff::Span::new().days(DAYS - 1));
    let mut days: BTreeMap<Date, Day> = BTreeMap::new();
    for one in past {
        let day = Offset::UTC.to_datetime(one.started).date();
        let Some(place) = one.verdict.and_then(|verdict| VERDICTS.iter().position(|of| *of == verdict)) else {
            continue;
        };
        if day >= first && day <= today {
            days.entry(day).or_default()[place] += 1;
        }
    }
    days
}

/// The bars of the last thirty days.
#[expect(clippy::cast_precision_loss, reason = "a drawing; nobody has 2^23 verdicts a day")]
pub(super) fn bars(days: &BTreeMap<Date, Day>, today: Date) -> Markup {
    let most = days.values().map(|day| day.iter().sum::<u32>()).max().unwrap_or(0).max(1) as f32;
    let mut drawn = Vec::new();
    for back in 0..DAYS {
        let date = today.saturating_sub(jiff::Span::new().days(back));
        let Some(day) = days.get(&date) else { continue };
        let x = (DAYS - 1 - back) as f32 * 10.0 + 1.0;
        let mut below = 0.0;
        for (verdict, count) in VERDICTS.iter().zip(day).filter(|(_, count)| **count > 0) {
            let height = *count as f32 / most * 90.0;
            let y = 95.0 - below - height;
            below += height;
            drawn.push(html! {
                rect class={ "bar-" (verdict.as_str()) } x=(x) y=(format!("{y:.2}")) width="8" height=(format!("{height:.2}")) {}
            });
        }
    }
    html! {
        svg class="bars" viewBox="0 0 300 100" preserveAspectRatio="none" role="img" aria-label="Verdicts of each of the last 30 days; the table below has the numbers" {
            line class="axis" x1="0" y1="95.5" x2="300" y2="95.5" {}
            @for bar in &drawn { (bar) }
        }
    }
}
