//! Maps that cannot be trusted, and what the error says.

use evidence_gate::maps::{Grain, Index, Limits, MapError, read_map};
use insta::assert_snapshot;

use super::{gzip, ids, index, read, refusal};

#[test]
fn a_map_with_a_path_that_is_not_the_trees_is_refused() {
    assert_snapshot!(refusal(br#"{"t": {"/build/src/a.py": [1]}}"#), @r#"map.json: an absolute path: "/build/src/a.py"; write paths as they stand in the tree, or name the folder they lie in as `root`"#);
    assert_snapshot!(refusal(br#"{"t": {"src\\a.py": [1]}}"#), @r#"map.json: a path with backslashes: "src\a.py" at line 1 column 19; the format is described in docs/coverage.md"#);
    assert_snapshot!(refusal(br#"{"t": {"../a.py": [1]}}"#), @r#"map.json: a path that leads out of the tree: "../a.py" at line 1 column 17; the format is described in docs/coverage.md"#);
    let rooted = br#"{"tests": {"t": {"/build/src/a.py": "1"}}, "schema": 2, "root": "/build"}"#;
    assert_eq!(read(rooted).unwrap().triples().into_iter().collect::<Vec<_>>(), [("t", "src/a.py", 1)]);
}

#[test]
fn a_map_with_a_line_that_no_file_has_is_refused() {
    assert_snapshot!(refusal(br#"{"t": {"a.py": [0]}}"#), @r#"map.json: file "a.py": there is no line 0: lines are counted from 1 at line 1 column 18; the format is described in docs/coverage.md"#);
    assert_snapshot!(refusal(br#"{"t": {"a.py": [4000001]}}"#), @r#"map.json: file "a.py": line 4000001 is beyond 4000000, more than a file can have at line 1 column 24; the format is described in docs/coverage.md"#);
    assert_snapshot!(refusal(br#"{"t": {"a.py": [-3]}}"#), @"map.json: invalid value: integer `-3`, expected u64 at line 1 column 19; the format is described in docs/coverage.md");
    assert_snapshot!(refusal(br#"{"schema": 2, "tests": {"t": {"a.py": "1-4294967295"}}}"#), @r#"map.json: file "a.py": line 4294967295 is beyond 4000000, more than a file can have at line 1 column 52; the format is described in docs/coverage.md"#);
}

#[test]
fn a_map_that_names_a_test_or_a_file_twice_is_refused() {
    assert_snapshot!(refusal(br#"{"t": {"a.py": [1]}, "t": {"a.py": [2]}}"#), @r#"map.json: the test "t" stands twice at line 1 column 25; the format is described in docs/coverage.md"#);
    assert_snapshot!(refusal(br#"{"t": {"a.py": [1], "a.py": [2]}}"#), @r#"map.json: the file "a.py" stands twice in one test at line 1 column 32; the format is described in docs/coverage.md"#);
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
    assert_snapshot!(refusal(too_long.as_bytes()), @"map.json: a node id has 9000 bytes, and the most is 8192 at line 1 column 9004; the format is described in docs/coverage.md");
}

#[test]
fn a_map_that_is_cut_off_or_no_map_is_refused() {
    let packed = gzip(br#"{"t": {"a.py": [1]}}"#);
    assert_snapshot!(refusal(&packed[..packed.len() - 6]), @"map.json: it cannot be unpacked: unexpected end of file; the file is cut off or damaged: make it anew and upload it again");
    assert_snapshot!(refusal(br#"{"t": {"a.py": [1]"#), @"map.json: EOF while parsing an object at line 1 column 18; the file is cut off: make it anew and upload it again");
    assert_snapshot!(refusal(b"TN:\nSF:a.c\n"), @"map.json: expected value at line 1 column 1; a coverage map is JSON; `evidence-gate coverage convert` makes one from a tool's own output");
    assert_snapshot!(refusal(br#"{"schema": 3}"#), @"map.json: schema 3 is not known: 2 is at line 1 column 13; the format is described in docs/coverage.md");
    assert_snapshot!(refusal(br#"{"tests": {}}"#), @r#"map.json: `schema` is missing: `"schema": 2` is wanted at line 1 column 13; the format is described in docs/coverage.md"#);
    assert_snapshot!(refusal(br#"{"schema": 2, "test": {}}"#), @r#"map.json: the key "test" is not known: keys are schema, base_sha, tool, root, collected, tests, import, executable, partial at line 1 column 21; the format is described in docs/coverage.md"#);
    assert_snapshot!(refusal(br#"{"schema": 2, "base_sha": "main"}"#), @r#"map.json: base_sha is "main", and a commit's full id in hexadecimal is wanted at line 1 column 33; the format is described in docs/coverage.md"#);
    assert_snapshot!(refusal(br#"{"t": {"a.py": {"1": 1}}}"#), @r#"map.json: invalid type: map, expected the lines of file "a.py", as a list of numbers or as text like "1-3,7" at line 1 column 17; the format is described in docs/coverage.md"#);
}

#[test]
fn a_pack_that_is_cut_off_anywhere_is_never_read_as_a_shorter_map() {
    let map = serde_json::json!({"t": {"a.py": (1..500).collect::<Vec<u32>>()}, "u": {"b.py": [1]}}).to_string();
    for packed in [gzip(map.as_bytes()), zstd::encode_all(map.as_bytes(), 0).unwrap()] {
        assert!(read(&packed).is_ok());
        for cut in 1..packed.len() {
            assert!(read(&packed[..cut]).is_err(), "{cut} of {}", packed.len());
        }
    }
}

#[test]
fn five_gigabytes_that_come_as_five_megabytes_are_not_unpacked() {
    // Unpacked as a stream: what is refused is never in memory.
    let packed = gzip(&vec![b' '; 64 << 20]);
    let limits = Limits { unpacked: 16 << 20, ..Limits::default() };
    let error = read_map("map.json.gz", &packed[..], limits).unwrap_err();
    assert!(matches!(error, MapError::TooLarge { .. }));
    assert_snapshot!(error, @"map.json.gz has too many bytes when unpacked, and the most is 16 MiB; measure the product's own files only, or write the lines as ranges with `coverage convert`");
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
