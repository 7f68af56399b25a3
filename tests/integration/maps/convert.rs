//! What tools write, converted or refused by name. The samples are the tools' own output.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evidence_gate::maps::{About, Asked, Converted, Index, MapError, convert, line_ranges, read_map};
use insta::assert_snapshot;
use sqlx::{ConnectOptions as _, Connection as _};

use super::sample;

fn asked(input: PathBuf, root: &str) -> Asked {
    Asked { inputs: vec![input], roots: vec![root.to_owned()], ..Asked::default() }
}

fn of_sample(name: &str, root: &str) -> Converted {
    convert(&asked(sample("samples").join(name), root)).unwrap()
}

fn refused(name: &str) -> String {
    let error = convert(&asked(sample("samples").join(name), "/build")).unwrap_err();
    assert!(error.too_coarse().is_some(), "{error}");
    error.to_string().rsplit_once("samples/").unwrap().1.to_owned()
}

/// Every test with its lines, file by file; import and executable lines behind them.
fn shown(converted: &Converted) -> String {
    let mut bytes = Vec::new();
    converted.map.write_json(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// What is converted is read again as the same map.
fn comes_back(converted: &Converted) {
    let bytes = shown(converted);
    let again = read_map("again", bytes.as_bytes(), asked(PathBuf::new(), "").limits).unwrap();
    assert_eq!(again.triples(), converted.map.triples());
    assert_eq!(again.about, converted.map.about);
    let mut twice = Vec::new();
    again.write_json(&mut twice).unwrap();
    assert_eq!(bytes.as_bytes(), twice);
}

#[test]
fn the_database_of_coverage_py_gives_its_tests_and_keeps_import_lines_apart() {
    let converted = of_sample("coverage-py-elffile-xdist.sqlite", "/build/packaging-26.4");
    let triples = converted.map.triples();
    assert_eq!(triples.len(), 2452);
    assert_eq!(converted.map.test_count(), 94);
    assert!(triples.contains(&(
        "tests/test_elffile.py::test_elffile_bad_ident[no-magic]",
        "src/packaging/_elffile.py",
        48
    )));
    assert_eq!(converted.map.about.tool.as_deref(), Some("coverage.py 7.17.5"));
    comes_back(&converted);
    let index = Index::in_memory("x", converted.map).unwrap();
    let import: u64 = index.look(index.files(), &[]).unwrap().files.values().map(|file| file.import.len()).sum();
    assert_eq!(import, 748);
}

async fn database(path: &Path, statements: &str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut database = options.connect().await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(statements)).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
}

const SCHEMA: &str = "CREATE TABLE coverage_schema (version integer); CREATE TABLE meta (key text, value text);
    CREATE TABLE file (id integer primary key, path text); CREATE TABLE context (id integer primary key, context text);
    CREATE TABLE line_bits (file_id integer, context_id integer, numbits blob);
    CREATE TABLE arc (file_id integer, context_id integer, fromno integer, tono integer);";

#[tokio::test]
async fn arcs_are_read_as_the_lines_at_their_ends_and_static_contexts_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".coverage");
    let rows = "INSERT INTO meta VALUES ('has_arcs', '1'), ('version', '7.4.0');
        INSERT INTO file VALUES (1, '/build/src/a.py'), (2, '/usr/lib/python3/json.py');
        INSERT INTO context VALUES (1, 'py311'), (2, 'py311|t.py::a[x|y]|run'), (3, 'py311|t.py::a[x|y]|setup'), (4, 'py311|t.py::b|run');
        INSERT INTO arc VALUES (1, 1, -1, 1), (1, 1, 1, 2), (1, 2, -5, 6), (1, 2, 6, 7), (1, 2, 7, -5), (1, 3, 9, 10), (2, 2, 1, 2);";
    database(&path, &format!("{SCHEMA}{rows}")).await;
    let converted = tokio::task::spawn_blocking(move || convert(&asked(path, "/build")).unwrap()).await.unwrap();
    assert_snapshot!(shown(&converted), @r#"
{"schema":2,
"tool":"coverage.py 7.4.0",
"partial":false,
"collected":[
"t.py::a[x|y]",
"t.py::b"],
"tests":{
"t.py::a[x|y]":{"src/a.py":"6-7,9-10"}},
"import":{
"src/a.py":"1-2"},
"executable":{}}
"#);
    assert_eq!(converted.outside, ["/usr/lib/python3/json.py"]);
}

#[tokio::test]
async fn a_database_without_contexts_and_one_of_testmon_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, testmon) = (folder.path().join("plain"), folder.path().join("testmon"));
    let rows = "INSERT INTO file VALUES (1, '/build/a.py'); INSERT INTO context VALUES (1, ''); INSERT INTO line_bits VALUES (1, 1, x'06');";
    database(&plain, &format!("{SCHEMA}{rows}")).await;
    database(&testmon, "CREATE TABLE test_execution (id integer); CREATE TABLE file_fp (id integer);").await;
    let errors = tokio::task::spawn_blocking(move || {
        [plain, testmon].map(|path| convert(&asked(path, "/build")).unwrap_err().to_string())
    });
    let errors = errors.await.unwrap().map(|text| text.rsplit('/').next().unwrap().to_owned());
    assert_snapshot!(errors.join("\n"), @r#"
plain is data of coverage.py without contexts: it counts the lines of all tests together; run `pytest --cov --cov-context=test`
testmon is the database of pytest-testmon: it holds checksums of blocks and no lines; run `pytest --cov --cov-context=test` and convert the file `.coverage`
"#);
}

#[test]
fn the_json_of_coverage_py_with_contexts_gives_tests_import_and_executable_lines() {
    let converted = of_sample("coverage-json-show-contexts.excerpt.json", "/build");
    comes_back(&converted);
    assert_snapshot!(shown(&converted), @r#"
{"schema":2,
"tool":"coverage.py 7.17.5",
"partial":false,
"collected":[
"tests/test_more.py::TestRunningMax::test_maxlen",
"tests/test_recipes.py::RunningWindowSizeTests::test_nonpositive_index"],
"tests":{
"tests/test_more.py::TestRunningMax::test_maxlen":{"more_itertools/recipes.py":"1557"},
"tests/test_recipes.py::RunningWindowSizeTests::test_nonpositive_index":{"more_itertools/recipes.py":"1557"}},
"import":{
"more_itertools/recipes.py":"1"},
"executable":{
"more_itertools/recipes.py":"11,13-19"}}
"#);
}

#[test]
fn lcov_with_test_names_gives_its_tests() {
    let converted = of_sample("lcov-TN-gcov.info", "/build/c");
    comes_back(&converted);
    assert_snapshot!(shown(&converted), @r#"
{"schema":2,
"tool":"lcov",
"partial":false,
"collected":[
"ring_prev_1",
"ring_step_1",
"ring_wrap_1"],
"tests":{
"ring_prev_1":{"ring.c":"9-10,12","t.c":"4-8"},
"ring_step_1":{"ring.c":"2-3,5,7","t.c":"4-6,8"},
"ring_wrap_1":{"ring.c":"2-3,5-6","t.c":"4-5,8"}},
"import":{},
"executable":{
"ring.c":"2-7,9-12",
"t.c":"4-8"}}
"#);
}

#[test]
fn the_folder_of_phpunit_gives_its_tests_with_their_data_sets() {
    let converted = of_sample("phpunit-coverage-xml", "/build/php");
    comes_back(&converted);
    assert_snapshot!(shown(&converted), @r#"
{"schema":2,
"tool":"phpunit 9.6.7",
"partial":false,
"collected":[
"MoneyTest::testEven",
"MoneyTest::testRejects",
"MoneyTest::testUneven with data set \"three\"",
"MoneyTest::testUneven with data set #0"],
"tests":{
"MoneyTest::testEven":{"src/Money.php":"7,10-13,16"},
"MoneyTest::testRejects":{"src/Money.php":"7-8"},
"MoneyTest::testUneven with data set \"three\"":{"src/Money.php":"7,10-14,16"},
"MoneyTest::testUneven with data set #0":{"src/Money.php":"7,10-14,16"}},
"import":{},
"executable":{}}
"#);
    let index = Index::in_memory("x", converted.map).unwrap();
    let all_sets = index.look(["src/Money.php"].into_iter(), &["MoneyTest::testUneven".to_owned()]).unwrap();
    assert_eq!(all_sets.files["src/Money.php"].frozen[&7].len(), 2);
}

#[test]
fn a_report_of_stryker_is_partial_and_proves_only_first_lines_of_mutants() {
    let converted = of_sample("stryker-mutation.json", "/build/app");
    comes_back(&converted);
    assert!(converted.map.about.partial);
    assert_snapshot!(shown(&converted), @r#"
{"schema":2,
"tool":"stryker",
"partial":true,
"collected":[
"jt/slots.test.js::slots counts free",
"jt/slots.test.js::slots next of 1",
"jt/slots.test.js::slots next of 2",
"jt/slots.test.js::slots rejects negative"],
"tests":{
"jt/slots.test.js::slots counts free":{"src/slots.js":"2-3,8-9"},
"jt/slots.test.js::slots next of 1":{"src/slots.js":"13,15-16,18"},
"jt/slots.test.js::slots next of 2":{"src/slots.js":"13,15-16"},
"jt/slots.test.js::slots rejects negative":{"src/slots.js":"2-4"}},
"import":{
"src/slots.js":"20"},
"executable":{}}
"#);
}

#[test]
fn testwise_json_lies_in_a_folder_of_sources() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("testwise.json");
    let text = r#"{"partial": false, "tests": [
        {"uniformPath": "org/shop/PagerTest/firstPage", "duration": 0.025, "result": "PASSED", "paths": [
            {"path": "org/shop", "files": [{"fileName": "Pager.java", "coveredLines": "5,7-9"}]}]},
        {"uniformPath": "org/shop/PagerTest/skipped", "result": "SKIPPED"}]}"#;
    std::fs::write(&report, text).unwrap();
    let mut question = asked(report, "/build");
    question.sources = vec!["src/main/java".to_owned()];
    let converted = convert(&question).unwrap();
    comes_back(&converted);
    assert_snapshot!(shown(&converted), @r#"
{"schema":2,
"tool":"testwise coverage",
"partial":false,
"collected":[
"org/shop/PagerTest/firstPage",
"org/shop/PagerTest/skipped"],
"tests":{
"org/shop/PagerTest/firstPage":{"src/main/java/org/shop/Pager.java":"5,7-9"}},
"import":{},
"executable":{}}
"#);
}

#[test]
fn a_folder_with_a_file_per_test_gives_a_test_per_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let nothing_ran = std::fs::read(sample("samples/go-coverprofile.txt")).unwrap();
    write(
        "go/csvx.TestRead/Simple.out",
        b"mode: set\nexample.org/csvx/reader.go:95.30,97.2 1 1\nexample.org/csvx/reader.go:99.1,99.9 1 0\n",
    );
    write("go/csvx.TestNothing.out", &nothing_ran);
    let converted = convert(&asked(folder.path().join("go"), "example.org/csvx")).unwrap();
    comes_back(&converted);
    assert_eq!(
        converted.map.triples(),
        BTreeSet::from([95, 96, 97].map(|line| ("csvx.TestRead/Simple", "reader.go", line)))
    );
    assert_eq!(converted.map.test_count(), 2);

    let counters = std::fs::read(sample("samples/istanbul-coverage-final.json")).unwrap();
    write("js/test%2Fslots.js::counts free.json", &counters);
    write("js/_import.json", br#"{"/build/app/src/slots.js": {"path": "/build/app/src/slots.js", "statementMap": {"15": {"start": {"line": 20, "column": 0}, "end": {"line": 20, "column": 41}}}, "s": {"15": 1}}}"#);
    let converted = convert(&asked(folder.path().join("js"), "/build/app")).unwrap();
    comes_back(&converted);
    assert_snapshot!(shown(&converted), @r#"
{"schema":2,
"tool":"istanbul",
"partial":false,
"collected":[
"test/slots.js::counts free"],
"tests":{
"test/slots.js::counts free":{"src/slots.js":"3-4,6-9,11,14-16,18,20"}},
"import":{
"src/slots.js":"20"},
"executable":{
"src/slots.js":"3-4,6-9,11,14-16,18,20"}}
"#);

    let trace = |line: u32, hits: u32| {
        format!(r#"{{"line": {line}, "address": [], "length": 1, "stats": {{"Line": {hits}}}}}"#)
    };
    let report = format!(
        r#"{{"files": [{{"path": ["/", "build", "src", "lib.rs"], "content": "", "traces": [{}, {}], "covered": 1, "coverable": 2}}], "coverage": 50.0, "covered": 1, "coverable": 2}}"#,
        trace(4, 0),
        trace(9, 2)
    );
    write("rust/crate::tests::a.json", report.as_bytes());
    let converted = convert(&asked(folder.path().join("rust"), "/build")).unwrap();
    comes_back(&converted);
    assert_eq!(converted.map.triples(), BTreeSet::from([("crate::tests::a", "src/lib.rs", 9)]));
    let excerpt = sample("samples/tarpaulin.excerpt.json");
    assert!(
        convert(&asked(excerpt, "/tmp/domain/work/strsim"))
            .unwrap_err()
            .to_string()
            .contains("no test of it has a line")
    );
}

#[test]
fn output_that_counts_all_tests_together_is_refused_by_name() {
    for lcov in ["lcov-c8.info", "lcov-jest.info", "lcov-node-test.info", "lcov-nyc.info", "lcov-vitest.info"] {
        assert!(refused(lcov).contains("as Jest, c8, nyc, vitest and node write it"), "{lcov}");
    }
    assert_snapshot!(refused("lcov-jest.info"), @"lcov-jest.info is LCOV without test names, as Jest, c8, nyc, vitest and node write it: it counts the lines of all tests together; write istanbul's counters after each test, one file per test, and convert the folder (docs/coverage.md, JavaScript)");
    assert_snapshot!(refused("lcov-coveragepy.info.gz"), @"lcov-coveragepy.info.gz is the LCOV report of coverage.py: it counts the lines of all tests together; run `pytest --cov --cov-context=test` and convert the file `.coverage` itself");
    assert_snapshot!(refused("cobertura-coveragepy.xml.gz"), @"cobertura-coveragepy.xml.gz is the XML report of coverage.py: it counts the lines of all tests together; run `pytest --cov --cov-context=test` and convert the file `.coverage` itself");
    assert_snapshot!(refused("simplecov-resultset.json"), @"simplecov-resultset.json is a result set of SimpleCov: it counts the lines of all tests together; write what Ruby's own Coverage says after each example as a map of `{id: {file: [lines]}}` (docs/coverage.md, Ruby)");
    assert_snapshot!(refused("jacoco-sessions.exec"), @"jacoco-sessions.exec is JaCoCo execution data: it holds probes of classes and no lines; record each test with the Teamscale JaCoCo agent in testwise mode and convert its testwise JSON");
}

#[test]
fn reports_of_other_tools_that_count_all_tests_together_are_known_too() {
    let folder = tempfile::tempdir().unwrap();
    for (text, wanted) in [
        ("<?xml version=\"1.0\"?><!DOCTYPE coverage><coverage line-rate=\"1\" version=\"1\"/>", "a Cobertura report"),
        ("<coverage version=\"1\"><file path=\"a.js\"/></coverage>", "a report in Sonar's generic format"),
        (
            "<?xml version=\"1.0\"?><!DOCTYPE report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" \"report.dtd\"><report name=\"x\"/>",
            "a merged JaCoCo report",
        ),
        ("<coverage generated=\"1\"><project timestamp=\"1\"/></coverage>", "a Clover report"),
        (
            r#"{"meta": {"version": "7.0"}, "files": {"a.py": {"executed_lines": [1]}}}"#,
            "the JSON report of coverage.py without contexts",
        ),
        (
            r#"{"schemaVersion": "1.0", "files": {"a.js": {"mutants": []}}}"#,
            "a report of Stryker without tests per mutant",
        ),
    ] {
        let path = folder.path().join("report");
        std::fs::write(&path, text).unwrap();
        match convert(&asked(path, "/build")).unwrap_err() {
            MapError::TooCoarse { format, .. } => assert_eq!(format, wanted),
            other => panic!("{text}: {other}"),
        }
    }
}

#[test]
fn a_map_is_held_against_the_working_copy() {
    let tree = tempfile::tempdir().unwrap();
    let map = tree.path().join("map.json");
    std::fs::write(&map, r#"{"t": {"a.py": [2], "gone.py": [1]}}"#).unwrap();
    let mut question = asked(map, "/build");
    question.tree = Some(tree.path().to_owned());
    let of_no_tree = convert(&question).unwrap_err().to_string();
    assert!(of_no_tree.contains("none of its files is in") && of_no_tree.contains("--root"), "{of_no_tree}");
    std::fs::write(tree.path().join("a.py"), "one = 1\n").unwrap();
    let too_short = convert(&question).unwrap_err().to_string();
    assert!(too_short.contains("line 2 of \"a.py\" is beyond its end, it has 1"), "{too_short}");
    std::fs::write(tree.path().join("a.py"), "one = 1\ntwo = 2\n").unwrap();
    assert_eq!(convert(&question).unwrap().absent, ["gone.py"]);
}

#[test]
fn a_tool_that_ran_elsewhere_needs_its_root() {
    let error = convert(&asked(sample("samples/lcov-TN-gcov.info"), "/elsewhere")).unwrap_err().to_string();
    assert!(
        error.contains("all of its files are outside the tree, \"/build/c/ring.c\" for one; name with --root"),
        "{error}"
    );
}

#[test]
fn a_converted_map_says_its_commit_and_ranges_read_well() {
    let mut question = asked(sample("samples/lcov-TN-gcov.info"), "/build/c");
    question.base_sha = Some("a".repeat(40));
    let about = convert(&question).unwrap().map.about;
    assert_eq!(
        about,
        About { base_sha: Some("a".repeat(40)), tool: Some("lcov".to_owned()), root: None, partial: false }
    );
    assert_eq!(line_ranges([1, 2, 3, 7]), "1-3,7");
}
