//! What freezes cost, on real suites and by hand; the figures are those that were counted apart from this program.

use evidence_gate::maps::{Index, Map, Reach, inspect, price, read_import_lines, read_map_file};
use serde_json::Value;

use super::{ids, index, sample};

fn map(name: &str) -> Map {
    read_map_file(&sample(&format!("{name}.coverage_by_test.json.gz"))).unwrap()
}

fn figures(file: &str) -> Value {
    serde_json::from_slice(&std::fs::read(sample(file)).unwrap()).unwrap()
}

#[test]
fn real_suites_have_the_lines_with_one_observer_that_were_counted() {
    for name in ["click", "go-csv", "jinja2", "js-qs", "rust-strsim"] {
        let stats = figures(&format!("{name}.stats.json"));
        let found = inspect(&Index::in_memory(name, map(name)).unwrap()).unwrap();
        assert_eq!(found.all.covered, stats["covered_lines"].as_u64().unwrap(), "{name}");
        assert_eq!(found.all.one_observer, stats["lines_by_exactly_one_test"].as_u64().unwrap(), "{name}");
        assert_eq!(u64::from(found.tests), stats["tests"].as_u64().unwrap(), "{name}");
    }
    for name in ["click", "jinja2"] {
        let mut map = map(name);
        let file = format!("{name}.import_lines.json");
        read_import_lines(&file, std::fs::File::open(sample(&file)).unwrap(), &mut map).unwrap();
        let found = inspect(&Index::in_memory(name, map).unwrap()).unwrap();
        let stats = figures(&format!("{name}.stats.json"));
        assert_eq!(found.all.one_observer, stats["same_excluding_import_lines"].as_u64().unwrap(), "{name}");
        assert_eq!(found.all.import, stats["import_context_lines"].as_u64().unwrap(), "{name}");
    }
}

/// `t.py::test_x` of `t.py::test_x[3]`: the first bracket behind the last `::` before it.
fn function(id: &str) -> &str {
    let Some(first) = id.find('[') else { return id };
    &id[..first]
}

#[test]
fn freezing_a_test_or_a_function_of_a_real_suite_costs_what_was_counted() {
    let holes = figures("holes.stats.json");
    for name in ["go-csv", "js-qs", "rust-strsim"] {
        let map = map(name);
        let mut tests: Vec<String> = map.triples().iter().map(|(test, ..)| (*test).to_owned()).collect();
        tests.dedup();
        let all = map.test_count();
        let index = Index::in_memory(name, map).unwrap();
        let priced = price(&index, &[], &tests, Reach::Function).unwrap();
        let lines: Vec<u64> = priced.each.iter().map(evidence_gate::maps::Cost::line_count).collect();
        let stats = &holes[name];
        if stats["test_functions"] == stats["tests"] {
            assert_eq!(lines.iter().max().copied(), stats["single_nodeid_max"].as_u64(), "{name}");
            let with_hole = lines.iter().filter(|lines| **lines > 0).count();
            let number = |count: usize| f64::from(u32::try_from(count).unwrap());
            let share = (1000.0 * number(with_hole) / number(all)).round() / 1000.0;
            assert_eq!(Some(share), stats["single_nodeid_with_hole"].as_f64(), "{name}");
        }
    }
    let map = map("jinja2");
    let mut functions: Vec<String> = map.triples().iter().map(|(test, ..)| function(test).to_owned()).collect();
    functions.sort();
    functions.dedup();
    assert_eq!(Some(functions.len() as u64), holes["jinja2"]["test_functions"].as_u64());
    let index = Index::in_memory("jinja2", map).unwrap();
    let priced = price(&index, &[], &functions, Reach::Function).unwrap();
    assert!(priced.unknown.is_empty());
    assert_eq!(
        priced.each.iter().map(evidence_gate::maps::Cost::line_count).max(),
        holes["jinja2"]["whole_function_max"].as_u64()
    );
    assert_eq!((priced.before, priced.after), (4498, 0));
}

#[test]
fn a_line_that_two_freezes_watch_is_lost_only_to_both() {
    let index = index(br#"{"a": {"x.py": [1, 2, 3], "y.py": [1]}, "b": {"x.py": [3, 4]}, "c": {"x.py": [4]}}"#);
    let priced = price(&index, &[], &ids(&["a", "b", "none"]), Reach::Function).unwrap();
    assert_eq!(priced.each.iter().map(evidence_gate::maps::Cost::line_count).collect::<Vec<_>>(), [3, 0, 0]);
    assert_eq!(priced.each[0].files, ["y.py"]);
    assert_eq!(priced.together.line_count(), 4);
    assert_eq!((priced.before, priced.after, priced.unknown), (5, 1, ids(&["none"])));

    let on_top = price(&index, &ids(&["a"]), &ids(&["b"]), Reach::Function).unwrap();
    assert_eq!((on_top.before, on_top.after, on_top.each[0].line_count()), (2, 1, 1));
    assert!((on_top.share_left() - 0.5).abs() < f64::EPSILON);
}

#[test]
fn lines_that_run_at_import_are_lost_by_no_freeze() {
    let index = index(br#"{"schema": 2, "tests": {"a": {"x.py": "1-3"}}, "import": {"x.py": "1"}}"#);
    let priced = price(&index, &[], &ids(&["a"]), Reach::Function).unwrap();
    assert_eq!((priced.before, priced.after, priced.each[0].line_count()), (2, 0, 2));
}
