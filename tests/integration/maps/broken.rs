//! Maps that cannot be trusted, and what the error says.

use evidence_gate::maps::{Grain, Index, Limits, MapError, read_map};
use insta::assert_snapshot;

use super::{gzip, ids, index, read, refusal};

#[test]
fn a_map_with_a_path_that_is_not_the_trees_is_refused() {
    assert_snapshot!(refusal(br#"{"t": {"/build/src/a.py": [1]}}"#), @"");
    assert_snapshot!(refusal(br#"{"t": {"src\\a.py": [1]}}"#), @"");
    assert_snapshot!(refusal(br#"{"t": {"../a.py": [1]}}"#), @"");
    let rooted = br#"{"tests": {"t": {"/build/src/a.py": "1"}}, "schema": 2, "root": "/build"}"#;
    assert_eq!(read(rooted).unwrap().triples().into_iter().collect::<Vec<_>>(), [("t", "src/a.py", 1)]);
}

#[test]
fn a_map_with_a_line_that_no_file_has_is_refused() {
    assert_snapshot!(refusal(br#"{"t": {"a.py": [0]}}"#), @"");
    assert_snapshot!(refusal(br#"{"t": {"a.py": [4000001]}}"#), @"");
    assert_snapshot!(refusal(br#"{"t": {"a.py": [-3]}}"#), @"");
    assert_snapshot!(refusal(br#"{"schema": 2, "tests": {"t": {"a.py": "1-4294967295"}}}"#), @"");
}

#[test]
fn a_map_that_names_a_test_or_a_file_twice_is_refused() {
    assert_snapshot!(refusal(br#"{"t": {"a.py": [1]}, "t": {"a.py": [2]}}"#), @"");
    assert_snapshot!(refusal(br#"{"t": {"a.py": [1], "a.py": [2]}}"#), @"");
    let phases = br#"{"t|setup": {"a.py": [1]}, "t|run": {"a.py": [2]}, "u": {"a.py": [2]}}"#;
    let surface = index(phases).look(["a.py"].into_iter(), &ids(&["t"])).unwrap();
    assert_eq!(surface.files["a.py"].frozen.keys().copied().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(surface.files["a.py"].live.iter().collect::<Vec<_>>(), [2]);
}

#[test]
fn strange_ids_are_names_like_any_other() {
    let long = "x".repeat(4_000);
    for id in ["a | b", "a b", "a\nb", "t.py::test[a::b|run]", long.as_str()] {
        let map = serde_json::json!({ id: {"a.py": [3]} }).to_string();
        let surface = index(map.as_bytes()).look(["a.py"].into_iter(), &ids(&[id])).unwrap();
        assert_eq!(surface.files["a.py"].frozen[&3], [id]);
        assert!(surface.unknown.is_empty() && surface.files["a.py"].live.is_empty());
    }
    let too_long = serde_json::json!({ "x".repeat(9_000): {"a.py": [3]} }).to_string();
    assert_snapshot!(refusal(too_long.as_bytes()), @"");
}

#[test]
fn a_map_that_is_cut_off_or_no_map_is_refused() {
    let packed = gzip(br#"{"t": {"a.py": [1]}}"#);
    assert_snapshot!(refusal(&packed[..packed.len() - 6]), @"");
    assert_snapshot!(refusal(br#"{"t": {"a.py": [1]"#), @"");
    assert_snapshot!(refusal(b"TN:\nSF:a.c\n"), @"");
    assert_snapshot!(refusal(br#"{"schema": 3}"#), @"");
    assert_snapshot!(refusal(br#"{"tests": {}}"#), @"");
    assert_snapshot!(refusal(br#"{"schema": 2, "test": {}}"#), @"");
    assert_snapshot!(refusal(br#"{"schema": 2, "base_sha": "main"}"#), @"");
    assert_snapshot!(refusal(br#"{"t": {"a.py": {"1": 1}}}"#), @"");
}

#[test]
fn five_gigabytes_that_come_as_five_megabytes_are_not_unpacked() {
    // Unpacked as a stream: what is refused is never in memory.
    let packed = gzip(&vec![b' '; 64 << 20]);
    let limits = Limits { unpacked: 16 << 20, ..Limits::default() };
    let error = read_map("map.json.gz", &packed[..], limits).unwrap_err();
    assert!(matches!(error, MapError::TooLarge { .. }));
    assert_snapshot!(error, @"");
}

#[test]
fn a_map_without_tests_or_lines_is_too_coarse() {
    assert_eq!(*index(br#"{"schema": 2, "tests": {}}"#).grain(), Grain::TooCoarse("it names no test"));
    assert_eq!(*index(br#"{"t": {}}"#).grain(), Grain::TooCoarse("no test of it has a line"));
    assert_eq!(*index(br#"{"t": {"a.py": [1]}}"#).grain(), Grain::TestsAndLines);
}

#[test]
fn a_test_that_was_collected_and_ran_no_line_is_known() {
    let map = index(br#"{"schema": 2, "collected": ["t.py::a", "t.py::b"], "tests": {"t.py::a": {"a.py": "1"}}}"#);
    let surface = map.look(["a.py"].into_iter(), &ids(&["t.py::b", "t.py::c"])).unwrap();
    assert_eq!(surface.unknown, ["t.py::c"]);
}

#[test]
fn a_damaged_index_is_an_error_and_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.egmap");
    let mut bytes = Vec::new();
    Index::write(read(br#"{"t": {"a.py": [1, 2, 9]}, "u": {"a.py": [2]}}"#).unwrap(), &mut bytes).unwrap();
    for cut in 8..bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        assert!(Index::read(&path).is_err(), "{cut}");
    }
    std::fs::write(&path, &bytes).unwrap();
    let surface = Index::read(&path).unwrap().look(["a.py"].into_iter(), &ids(&["t"])).unwrap();
    assert_eq!(surface.files["a.py"].live.iter().collect::<Vec<_>>(), [2]);
}
