//! The coverage map of the merge base, or of the nearest commit before it that has one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::civil::Date;

use super::collect::{Fetch, Held, LARGEST_BLOB, read_file};
use super::policy::Rules;
use super::{PipelineError, Question};
use crate::change::{Blob, BytePath, Change, Git, Sha256};
use crate::evidence::ledger::LedgerFacts;
use crate::evidence::surface::{MapFacts, ReadMap, SurfaceFacts, any_judged, carried, frozen_tests, old_paths};
use crate::evidence::{Blobs, ClassedRow};
use crate::maps::{FileSurface, Grain, Index, MapError, Shelf, Surface};
use crate::words::{ObjectId, with_causes};

/// A coverage map of the operator's own; it wins over the uploaded ones.
#[derive(Clone, Debug)]
pub struct OperatorsMap {
    origin: String,
    held: Holds,
}

/// What the operator's map is.
#[derive(Clone, Debug)]
enum Holds {
    Index(Arc<Index>),
    TooCoarse(String),
}

impl OperatorsMap {
    /// Reads a map of either format, or an index. What a tool wrote without lines or without tests is a map that is too coarse, and no
    /// error: a rule says so.
    pub fn read(path: &Path) -> Result<Self, MapError> {
        let origin = path.display().to_string();
        let held = match Index::read(path) {
            Ok(index) => Holds::Index(Arc::new(index)),
            Err(error) if error.too_coarse().is_some() => Holds::TooCoarse(without_origin(&error, &origin)),
            Err(error) => return Err(error),
        };
        Ok(Self { origin, held })
    }
}

/// The maps of one repository that a host keeps.
#[derive(Clone, Debug)]
pub struct KnownMaps {
    /// Where their indexes are.
    pub shelf: Shelf,
    /// The map of each commit that has one, by its digest.
    pub by_commit: BTreeMap<ObjectId, Sha256>,
}

/// What decides whether a map is needed, and what it is asked.
pub(super) struct Asked<'a> {
    pub(super) rules: &'a Rules,
    pub(super) change: &'a Change,
    pub(super) rows: &'a [ClassedRow<'a>],
    pub(super) blobs: &'a Blobs,
    pub(super) ledger: &'a LedgerFacts,
    pub(super) today: Date,
}

/// A map that was found, or why there is none.
enum Found {
    Map { origin: String, index: Arc<Index>, commit: Option<ObjectId>, age: u32 },
    Not(MapFacts),
}

/// Nothing is read where nothing asks for a map: no product changes, and no budget of lines is set. Without a live freeze a map that is
/// there still says which changed lines nobody runs.
pub(super) fn collect(
    git: &Git,
    question: &Question,
    asked: &Asked<'_>,
    fetch: Fetch<'_>,
) -> Result<Held<SurfaceFacts>, PipelineError> {
    let frozen = frozen_tests(asked.ledger, asked.today);
    let budget = asked.rules.policy.freeze.max_lines.is_some() && !frozen.is_empty();
    let found = if any_judged(asked.rows) || budget {
        let most = asked.rules.policy.surface.max_map_age;
        find(git, question, asked.change.merge_base.id(), most, fetch)?
    } else {
        Found::Not(MapFacts::NotNeeded)
    };
    let without = |map| Held { facts: SurfaceFacts::without_map(map, asked.rows, asked.blobs), digest: None };
    let (origin, index, commit, age) = match found {
        Found::Not(MapFacts::Absent { .. }) if frozen.is_empty() => return Ok(without(MapFacts::NotNeeded)),
        Found::Not(map) => return Ok(without(map)),
        Found::Map { origin, index, commit, age } => (origin, index, commit, age),
    };
    if let Grain::TooCoarse(why) = index.grain() {
        return Ok(without(MapFacts::TooCoarse { origin, why: (*why).to_owned() }));
    }
    let asked_paths = old_paths(asked.rows);
    let paths = asked_paths.iter().filter_map(|path| path.as_str());
    let reach = asked.rules.policy.freeze.reach;
    let looked = index.look_as_far_as(paths, &frozen, reach).and_then(|surface| {
        let alone =
            if budget { frozen_alone(&index.look_as_far_as(index.files(), &frozen, reach)?) } else { BTreeMap::new() };
        Ok((surface, alone))
    });
    let (mut surface, frozen_alone) = match looked {
        Ok(looked) => looked,
        Err(error) => return Ok(without(MapFacts::Unusable { why: without_origin(&error, &origin), origin })),
    };
    if let (Some(commit), 1..) = (&commit, age) {
        carry(git, commit, asked, &mut surface, fetch)?;
    }
    let digest = Some(index.digest().to_string());
    let map = ReadMap { origin, commit, age, surface, frozen_alone };
    Ok(Held { facts: SurfaceFacts::with_map(map, asked.rows, asked.blobs), digest })
}

/// The map that a question about the merge base would be answered with; `None` where there is none that can be used.
pub(super) fn known(
    git: &Git,
    question: &Question,
    merge_base: &ObjectId,
    most: u32,
    fetch: Fetch<'_>,
) -> Result<Option<Arc<Index>>, PipelineError> {
    Ok(match find(git, question, merge_base, most, fetch)? {
        Found::Map { index, .. } if *index.grain() == Grain::TestsAndLines => Some(index),
        Found::Map { .. } | Found::Not(_) => None,
    })
}

/// The digest of the map that a change with this merge base would be held against now; `None` where there is none that can be used.
pub(super) fn digest_now(
    git: &Git,
    question: &Question,
    merge_base: &ObjectId,
    most: u32,
    fetch: Fetch<'_>,
) -> Result<Option<String>, PipelineError> {
    let known = known(git, question, merge_base, most, fetch)?;
    Ok(known.map(|index| index.digest().to_string()))
}

/// The operator's map, else that of the merge base, else that of the nearest commit before it.
fn find(
    git: &Git,
    question: &Question,
    merge_base: &ObjectId,
    most: u32,
    fetch: Fetch<'_>,
) -> Result<Found, PipelineError> {
    if let Some(OperatorsMap { origin, held }) = &question.map {
        let index = match held {
            Holds::Index(index) => Arc::clone(index),
            Holds::TooCoarse(why) => {
                return Ok(Found::Not(MapFacts::TooCoarse { origin: origin.clone(), why: why.clone() }));
            }
        };
        let Some(named) = index.base_sha() else {
            return Ok(Found::Map { origin: origin.clone(), index, commit: None, age: 0 });
        };
        let unusable = |why: String| Found::Not(MapFacts::Unusable { origin: origin.clone(), why });
        let Ok(commit) = named.parse::<ObjectId>() else {
            return Ok(unusable(format!("it is of `{named}`, which is no full commit id")));
        };
        let wanted = |id: &ObjectId| *id == commit;
        return Ok(match nearest(git, merge_base, most, &wanted, fetch)? {
            Some((commit, age)) => {
                let origin = format!("{origin}{}", age_of(&commit, age));
                Found::Map { origin, index, commit: Some(commit), age }
            }
            None => unusable(format!(
                "it is of {}, which is neither the merge base {} nor one of the {most} commits before it along first parents",
                commit.short(),
                merge_base.short()
            )),
        });
    }
    let tried = || format!("for the merge base {} and {most} commits before it", merge_base.short());
    let Some(KnownMaps { shelf, by_commit }) = question.maps.as_ref().filter(|maps| !maps.by_commit.is_empty()) else {
        return Ok(Found::Not(MapFacts::Absent { tried: tried() }));
    };
    let Some((commit, age)) = nearest(git, merge_base, most, &|id| by_commit.contains_key(id), fetch)? else {
        return Ok(Found::Not(MapFacts::Absent { tried: tried() }));
    };
    let origin = format!("of {}{}", commit.short(), age_of(&commit, age));
    let unusable = |why: String| Found::Not(MapFacts::Unusable { origin: origin.clone(), why });
    Ok(match shelf.find(by_commit[&commit]) {
        Ok(Some(index)) => Found::Map { origin, index: Arc::new(index), commit: Some(commit), age },
        Ok(None) => unusable("its index is not in the data directory".to_owned()),
        Err(error) => unusable(without_origin(&error, &origin)),
    })
}

fn age_of(commit: &ObjectId, age: u32) -> String {
    match age {
        0 => String::new(),
        1 => format!(" (made on {}, 1 commit before the merge base)", commit.short()),
        age => format!(" (made on {}, {age} commits before the merge base)", commit.short()),
    }
}

/// The nearest wanted commit among the merge base and `most` commits before it, and how many that is back. More history is fetched only
/// while none is found.
fn nearest(
    git: &Git,
    merge_base: &ObjectId,
    most: u32,
    wanted: &dyn Fn(&ObjectId) -> bool,
    fetch: Fetch<'_>,
) -> Result<Option<(ObjectId, u32)>, PipelineError> {
    let mut line = git.first_parents(merge_base, most)?;
    loop {
        let found = (0_u32..).zip(&line.commits).find(|(_, commit)| wanted(commit));
        if let Some((age, commit)) = found {
            return Ok(Some((commit.clone(), age)));
        }
        if !line.cut_off || line.commits.len() as u64 > u64::from(most) {
            return Ok(None);
        }
        let Some(deeper) = fetch.deeper()? else { return Ok(None) };
        line = deeper.first_parents(merge_base, most)?;
    }
}

/// Brings what an older commit's map says to the numbers of the merge base.
fn carry(
    git: &Git,
    commit: &ObjectId,
    asked: &Asked<'_>,
    surface: &mut Surface,
    fetch: Fetch<'_>,
) -> Result<(), PipelineError> {
    for (path, known) in &mut surface.files {
        let path = BytePath::new(path.as_str());
        let now = asked.rows.iter().filter_map(|row| row.row.old.as_ref()).find(|side| side.path == path);
        let Some(now) = now else { continue };
        if git.file_at(commit, &path)?.is_some_and(|(_, id)| id == now.blob) {
            continue;
        }
        let then = read_file(git, commit, &path, LARGEST_BLOB, fetch)?;
        *known = match (then, asked.blobs.get(&now.blob)) {
            (Some((_, Blob::Whole(then))), Some(Blob::Whole(now))) => carried(known, &then, now),
            // What cannot be compared changed as far as anybody knows.
            _ => FileSurface::default(),
        };
    }
    Ok(())
}

/// How many lines of all files only frozen tests run, by the tests that run them.
fn frozen_alone(surface: &Surface) -> BTreeMap<Vec<String>, u64> {
    let mut alone: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for file in surface.files.values() {
        for (line, tests) in &file.frozen {
            if !file.live.contains(*line) && !file.import.contains(*line) {
                *alone.entry(tests.clone()).or_default() += 1;
            }
        }
    }
    alone
}

/// The error with its cause on one line, without the name of the map, which the finding has already.
fn without_origin(error: &MapError, origin: &str) -> String {
    let text = with_causes(error);
    let rest = text.strip_prefix(origin).map(|rest| rest.trim_start_matches(':').trim_start());
    rest.unwrap_or(&text).to_owned()
}
