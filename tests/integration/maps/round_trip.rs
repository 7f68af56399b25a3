//! Generated maps: what the index answers is what sets of pairs say.

use std::collections::{BTreeMap, BTreeSet};

use evidence_gate::maps::{FileSurface, Index, Map, Surface};
use proptest::prelude::*;

use super::{Plain, index, json, read};

const FILES: [&str; 3] = ["src/a.py", "src/b c.py", "src/é.py"];
const TESTS: [&str; 7] = [
    "t.py::test_a",
    "t.py::test_a[1]",
    "t.py::test_a[x::y|z w]",
    "t.py::test_ab",
    "t.py::TestC::test_a",
    "u.py::test_b[\n\"]",
    "u.py::test_c",
];

fn plain_maps() -> impl Strategy<Value = Plain> {
    let lines = prop::collection::btree_set(1_u32..40, 0..20);
    let files = prop::collection::btree_map(prop::sample::select(&FILES[..]).prop_map(str::to_owned), lines, 0..3);
    prop::collection::btree_map(prop::sample::select(&TESTS[..]).prop_map(str::to_owned), files, 0..7)
}

fn freezes() -> impl Strategy<Value = Vec<String>> {
    let id = prop::sample::select(&["t.py::test_a", "t.py::test_a[1]", "t.py", "u.py::test_c|run", "no.py::test"][..]);
    prop::collection::vec(id.prop_map(str::to_owned), 0..4)
}

fn takes(frozen: &str, id: &str) -> bool {
    let frozen = frozen.strip_suffix("|run").unwrap_or(frozen);
    id == frozen || (!frozen.contains('[') && id.starts_with(&format!("{frozen}[")))
}

/// What several maps of one commit say, test by test: any of them, and all of those in which the test ran a line.
fn united(maps: &[Plain]) -> (Plain, Plain, BTreeSet<String>) {
    let (mut any, mut all) = (Plain::new(), Plain::new());
    let mut jitter = BTreeSet::new();
    for test in maps.iter().flat_map(BTreeMap::keys) {
        let runs: Vec<&BTreeMap<String, BTreeSet<u32>>> = maps
            .iter()
            .filter_map(|map| map.get(test))
            .filter(|files| files.values().any(|lines| !lines.is_empty()))
            .collect();
        for file in FILES {
            let said: Vec<BTreeSet<u32>> = runs.iter().map(|run| run.get(file).cloned().unwrap_or_default()).collect();
            let union: BTreeSet<u32> = said.iter().flatten().copied().collect();
            let common: BTreeSet<u32> =
                union.iter().copied().filter(|line| said.iter().all(|lines| lines.contains(line))).collect();
            if union != common {
                jitter.insert(test.clone());
            }
            any.entry(test.clone()).or_default().insert(file.to_owned(), union);
            all.entry(test.clone()).or_default().insert(file.to_owned(), common);
        }
    }
    (any, all, jitter)
}

/// The answer by sets of lines.
fn slow(maps: &[Plain], frozen: &[String]) -> Surface {
    let (any, all, jitter) = united(maps);
    let named: BTreeSet<&String> = maps.iter().flat_map(BTreeMap::values).flat_map(BTreeMap::keys).collect();
    let mut files = BTreeMap::new();
    for path in named {
        let mut file = FileSurface::default();
        for test in any.keys() {
            let is_frozen = frozen.iter().any(|id| takes(id, test));
            if is_frozen {
                for line in &any[test][path] {
                    file.frozen.entry(*line).or_default().push(test.clone());
                }
            } else {
                file.live.extend(&all[test][path]);
            }
        }
        files.insert(path.clone(), file);
    }
    let mut unknown: Vec<String> = Vec::new();
    for id in frozen {
        if !any.keys().any(|test| takes(id, test)) && !unknown.contains(id) {
            unknown.push(id.clone());
        }
    }
    Surface { files, unknown, jitter: jitter.into_iter().collect(), partial: false }
}

fn ask(index: &Index, frozen: &[String]) -> Surface {
    index.look(FILES.into_iter(), frozen).unwrap()
}

proptest! {
    #[test]
    fn the_index_of_any_map_answers_as_plain_sets_do(map in plain_maps(), frozen in freezes()) {
        prop_assert_eq!(ask(&index(&json(&map)), &frozen), slow(&[map], &frozen));
    }

    #[test]
    fn united_maps_answer_with_the_union_for_frozen_tests_and_the_intersection_for_live_ones(
        maps in prop::collection::vec(plain_maps(), 1..4), frozen in freezes(),
    ) {
        let read = maps.iter().map(|map| ("shard".to_owned(), read(&json(map)).unwrap())).collect();
        let index = Index::in_memory("united", Map::united(read).unwrap()).unwrap();
        prop_assert_eq!(ask(&index, &frozen), slow(&maps, &frozen));
    }

    #[test]
    fn every_line_of_a_map_is_read_once(map in plain_maps()) {
        let expected: BTreeSet<(&str, &str, u32)> = map.iter().flat_map(|(test, files)| {
            files.iter().flat_map(move |(file, lines)| lines.iter().map(move |line| (test.as_str(), file.as_str(), *line)))
        }).collect();
        let read = read(&json(&map)).unwrap();
        prop_assert_eq!(read.triples(), expected);
    }
}
