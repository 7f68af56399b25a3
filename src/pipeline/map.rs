//! The coverage map of the merge base, or of the nearest commit before it that has one.

use jiff::civil::Date;

use super::collect::{Fetch, Held};
use super::policy::Rules;
use super::{PipelineError, Question};
use crate::change::{Change, Git};
use crate::evidence::ledger::LedgerFacts;
use crate::evidence::surface::{MapFacts, SurfaceFacts, any_judged, frozen_tests};
use crate::evidence::{Blobs, ClassedRow};

/// What decides whether a map is needed, and what it is asked.
pub(super) struct Asked<'a> {
    pub(super) rules: &'a Rules,
    pub(super) change: &'a Change,
    pub(super) rows: &'a [ClassedRow<'a>],
    pub(super) blobs: &'a Blobs,
    pub(super) ledger: &'a LedgerFacts,
    pub(super) today: Date,
}

pub(super) fn collect(
    _git: &Git,
    _question: &Question,
    asked: &Asked<'_>,
    _fetch: Fetch<'_>,
) -> Result<Held<SurfaceFacts>, PipelineError> {
    let frozen = frozen_tests(asked.ledger, asked.today);
    let map = if frozen.is_empty() || !any_judged(asked.rows) {
        MapFacts::NotNeeded
    } else {
        MapFacts::Absent { tried: "none".to_owned() }
    };
    let _ = asked.rules;
    let _ = asked.change;
    let facts = SurfaceFacts::without_map(map, asked.rows, asked.blobs);
    Ok(Held { facts, digest: None })
}
