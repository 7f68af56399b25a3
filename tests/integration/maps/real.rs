//! The maps of real suites.

use std::collections::BTreeSet;
use std::io::Read as _;

use evidence_gate::maps::{Index, read_map_file};
use serde_json::Value;

use super::{Plain, sample};

const MAPS: [&str; 5] = ["click", "go-csv", "jinja2", "js-qs", "rust-strsim"];

fn plain(name: &str) -> Plain {
    let mut text = String::new();
    let packed = std::fs::read(sample(&format!("{name}.coverage_by_test.json.gz"))).unwrap();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn stats(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(sample(&format!("{name}.stats.json"))).unwrap()).unwrap()
}

#[test]
fn every_real_map_has_the_triples_that_its_bytes_say() {
    for name in MAPS {
        let map = read_map_file(&sample(&format!("{name}.coverage_by_test.json.gz"))).unwrap();
        let plain = plain(name);
        let triples = map.triples();
        let mut expected = BTreeSet::new();
        for (test, files) in &plain {
            for (file, lines) in files {
                expected.extend(lines.iter().map(|line| (test.as_str(), file.as_str(), *line)));
            }
        }
        assert!(triples == expected, "{name}");
        assert_eq!(triples.len() as u64, stats(name)["triples"].as_u64().unwrap(), "{name}");
        assert_eq!(map.test_count() as u64, stats(name)["tests"].as_u64().unwrap(), "{name}");
    }
}

#[test]
fn the_index_of_every_real_map_gives_each_line_to_the_tests_that_ran_it() {
    for name in MAPS {
        let index = Index::read(&sample(&format!("{name}.coverage_by_test.json.gz"))).unwrap();
        let plain = plain(name);
        // Every fifth test is frozen by its own name; a function's name would take its parameters along.
        let frozen: Vec<String> = plain.keys().step_by(5).filter(|id| id.ends_with(']')).cloned().collect();
        let surface = index.look(index.files(), &frozen).unwrap();
        assert!(surface.unknown.is_empty(), "{name}");
        for (path, file) in &surface.files {
            let (mut live, mut held) = (BTreeSet::new(), BTreeSet::new());
            for (test, files) in &plain {
                let lines = files.get(path).into_iter().flatten().copied();
                if frozen.contains(test) {
                    held.extend(lines.map(|line| (line, test.as_str())));
                } else {
                    live.extend(lines);
                }
            }
            let found: BTreeSet<(u32, &str)> =
                file.frozen.iter().flat_map(|(line, ids)| ids.iter().map(|id| (*line, id.as_str()))).collect();
            assert!(found == held, "{name} {path}");
            assert!(file.live.iter().eq(live), "{name} {path}");
        }
        assert_eq!(surface.files.len() as u64, stats(name)["files"].as_u64().unwrap(), "{name}");
    }
}
