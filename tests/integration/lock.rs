//! The fixture lock: its spellings, what it is held against, and that `sha256sum` and the program agree.

use std::process::Command;

use evidence_gate::change::{BytePath, Sha256};
use evidence_gate::evidence::lock::{Lock, Spelling, parse};
use evidence_gate::pipeline::OperatorsFile;
use evidence_gate::words::{ObjectId, Verdict};

use crate::working_copy::{WorkingCopy, findings, message, said};

const RULES: [&str; 6] = [
    "fixture-mismatch",
    "fixture-not-locked",
    "lock-stale-on-base",
    "fixture-lock-missing",
    "lock-unreadable",
    "human-fixture-changed",
];

const POLICY: &str = "schema = 1\n[classes]\nproduct = [\"src/**\"]\n[require]\nfixture_lock = true\n";

fn line(path: &str, content: &str) -> String {
    format!("{}  {path}\n", Sha256::of(content.as_bytes()))
}

/// A base with a policy, some product, two fixtures and their lock.
fn locked(policy: &str) -> (WorkingCopy, ObjectId) {
    let copy = WorkingCopy::new();
    copy.write(".evidence-gate.toml", policy).write("src/a.py", "a = 1\n");
    copy.write("tests/fixtures/one.json", "1\n").write("inputs/two.bin", "2\n");
    copy.write("fixtures.lock", line("inputs/two.bin", "2\n") + &line("tests/fixtures/one.json", "1\n"));
    let base = copy.commit();
    (copy, base)
}

#[test]
fn a_change_of_the_product_leaves_the_lock_fulfilled() {
    let (copy, base) = locked(POLICY);
    let head = copy.write("src/a.py", "a = 2\n").commit();
    let record = copy.score(&base, &head);
    assert_eq!(findings(&record, &RULES), [""; 0]);
    let text = std::fs::read(copy.path("fixtures.lock")).unwrap();
    assert_eq!(record.digests.lock.as_deref(), Some(Sha256::of(&text).to_string().as_str()));
    assert!(record.not_observed.iter().all(|phrase| !phrase.contains("lock")), "{:?}", record.not_observed);
}

#[test]
fn a_locked_file_with_other_bytes_or_gone_or_a_link_is_a_mismatch() {
    let (copy, base) = locked(POLICY);
    let edited = copy.write("inputs/two.bin", "3\n").commit();
    assert_eq!(findings(&copy.score(&base, &edited), &RULES), ["fixture-mismatch: reject"]);
    let gone = copy.remove("inputs/two.bin").commit();
    let record = copy.score(&base, &gone);
    assert_eq!(record.verdict, Verdict::Reject);
    assert!(message(&record, "fixture-mismatch").contains("1 missing (inputs/two.bin)"));
    std::os::unix::fs::symlink("../src/a.py", copy.path("inputs/two.bin")).unwrap();
    let link = copy.commit();
    assert!(message(&copy.score(&base, &link), "fixture-mismatch").contains("1 no ordinary file (inputs/two.bin)"));
}

#[test]
fn only_the_lock_of_the_base_counts() {
    let (copy, base) = locked(POLICY);
    copy.write("inputs/two.bin", "3\n").write("fixtures.lock", line("inputs/two.bin", "3\n"));
    let head = copy.commit();
    assert_eq!(findings(&copy.score(&base, &head), &RULES), ["fixture-mismatch: reject"]);
}

#[test]
fn a_branch_from_before_the_lock_does_not_escape_it() {
    let (copy, _) = locked(POLICY);
    copy.git(&["checkout", "--quiet", "--orphan", "old"]);
    copy.remove("fixtures.lock");
    let old = copy.commit();
    let lock = line("inputs/two.bin", "2\n") + &line("tests/fixtures/one.json", "1\n");
    let base = copy.write("fixtures.lock", lock).commit();
    copy.git(&["checkout", "--quiet", old.as_str()]);
    let head = copy.write("inputs/two.bin", "3\n").commit();
    assert_eq!(findings(&copy.score(&base, &head), &RULES), ["fixture-mismatch: reject"]);
}

#[test]
fn a_lock_that_the_base_does_not_fulfil_is_stale_and_no_fault_of_the_change() {
    let (copy, _) = locked(POLICY);
    let base = copy.write("inputs/two.bin", "changed without the lock\n").commit();
    let head = copy.write("src/a.py", "a = 2\n").commit();
    let record = copy.score(&base, &head);
    assert_eq!(findings(&record, &RULES), ["lock-stale-on-base: unscored"]);
    assert_eq!(record.verdict, Verdict::Unscored);
}

#[test]
fn a_required_lock_that_is_not_there_is_missing() {
    let copy = WorkingCopy::new();
    let base = copy.write(".evidence-gate.toml", POLICY).write("src/a.py", "1\n").commit();
    let head = copy.write("src/a.py", "2\n").commit();
    assert_eq!(findings(&copy.score(&base, &head), &RULES), ["fixture-lock-missing: unscored"]);
    let base = copy.write(".evidence-gate.toml", POLICY.replace("true", "false")).commit();
    let head = copy.write("src/a.py", "3\n").commit();
    let record = copy.score(&base, &head);
    assert_eq!(findings(&record, &RULES), [""; 0]);
    assert!(record.not_observed.contains(&"a fixture lock: none is required".to_owned()));
}

#[test]
fn a_lock_with_a_fault_leaves_the_change_unscored_with_the_place() {
    let (copy, _) = locked(POLICY);
    let base = copy.write("fixtures.lock", "nonsense\n").commit();
    let head = copy.write("src/a.py", "a = 2\n").commit();
    let record = copy.score(&base, &head);
    assert_eq!(findings(&record, &RULES), ["lock-unreadable: unscored"]);
    let text = message(&record, "lock-unreadable");
    assert!(text.contains("fixtures.lock at main") && text.contains("line 1 does not have a sha256"), "{text}");
}

#[test]
fn a_file_added_beside_locked_ones_follows_the_policy() {
    for (added, expected) in [("reject", "fixture-not-locked: reject"), ("hold", "fixture-not-locked: hold")] {
        let (copy, base) = locked(&format!("{POLICY}[fixtures]\nadded = \"{added}\"\n"));
        let head = copy.write("inputs/deep/three.bin", "3\n").commit();
        let record = copy.score(&base, &head);
        assert_eq!(findings(&record, &RULES), [expected]);
        assert!(message(&record, "fixture-not-locked").ends_with("inputs/deep/three.bin"));
        let innocent = copy.remove("inputs/deep/three.bin").write("elsewhere/three.bin", "3\n").commit();
        assert_eq!(findings(&copy.score(&base, &innocent), &RULES), [""; 0]);
    }
}

#[test]
fn inputs_that_only_people_judge_are_held() {
    let (copy, base) = locked(&format!("{POLICY}[fixtures]\nhuman_prefixes = [\"docs/screenshots/\"]\n"));
    let head = copy.write("docs/screenshots/a.svg", "<svg/>").write("docs/screenshots-of-it.md", "x").commit();
    let record = copy.score(&base, &head);
    assert_eq!(findings(&record, &RULES), ["human-fixture-changed: hold"]);
    assert_eq!(
        message(&record, "human-fixture-changed"),
        "1 file changes that only people judge: docs/screenshots/a.svg"
    );
}

#[test]
fn the_operators_own_lock_wins() {
    let (copy, base) = locked(POLICY);
    let head = copy.write("src/a.py", "a = 2\n").commit();
    let bytes: std::sync::Arc<[u8]> = line("src/a.py", "a = 1\n").into_bytes().into();
    let own = OperatorsFile { origin: "/etc/own.lock".to_owned(), bytes };
    let record = copy.ask(&evidence_gate::pipeline::Question { lock: Some(own), ..copy.question(&base, &head) });
    assert_eq!(findings(&record, &RULES), ["fixture-mismatch: reject"]);
    assert!(message(&record, "fixture-mismatch").contains("/etc/own.lock"));
    let file = copy.beside("own.lock");
    std::fs::write(&file, line("src/a.py", "a = 1\n")).unwrap();
    let args = ["score", "--base", base.as_str(), "--lock", file.to_str().unwrap(), "--format", "json"];
    assert!(copy.run(&args).text().contains("fixture-mismatch"));
    std::fs::write(&file, "nonsense\n").unwrap();
    let said = copy.run(&args);
    assert_eq!((said.code, said.stdout.len()), (65, 0));
    assert!(said.stderr.contains("own.lock: line 1"), "{}", said.stderr);
}

#[test]
fn a_list_asks_only_that_the_files_are_there_and_says_so() {
    let (copy, _) = locked(POLICY);
    let list = r#"{"paths": ["tests/fixtures/one.json", "inputs/two.bin"]}"#;
    let base = copy.write("fixtures.lock", list).commit();
    let edited = copy.write("inputs/two.bin", "3\n").commit();
    let record = copy.score(&base, &edited);
    assert_eq!(findings(&record, &RULES), [""; 0]);
    assert!(record.not_observed.iter().any(|phrase| phrase.starts_with("bytes of locked fixtures")));
    let gone = copy.remove("inputs/two.bin").commit();
    assert_eq!(findings(&copy.score(&base, &gone), &RULES), ["fixture-mismatch: reject"]);
}

#[test]
fn a_blob_that_was_hashed_before_is_not_read_again() {
    let (copy, base) = locked(POLICY);
    let head = copy.write("src/a.py", "a = 2\n").commit();
    let mut question = copy.question(&base, &head);
    question.known_digests = Some(copy.beside("digests"));
    assert_eq!(findings(&copy.ask(&question), &RULES), [""; 0]);
    let id = copy.git(&["rev-parse", "HEAD:inputs/two.bin"]);
    std::fs::remove_file(copy.dir().join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    std::fs::remove_file(copy.beside("digests.fulfilled")).unwrap();
    assert_eq!(findings(&copy.ask(&question), &RULES), [""; 0]);
}

#[test]
fn a_damaged_file_of_digests_is_not_believed() {
    let (copy, base) = locked(POLICY);
    let head = copy.write("inputs/two.bin", "3\n").commit();
    let mut question = copy.question(&base, &head);
    let file = copy.beside("digests");
    question.known_digests = Some(file.clone());
    let first = copy.ask(&question);
    let whole = std::fs::read(&file).unwrap();
    let wanted = Sha256::of(b"2\n").to_string();
    let forged = String::from_utf8(whole.clone()).unwrap().replace(&Sha256::of(b"3\n").to_string(), &wanted);
    for damaged in [forged.as_bytes(), &whole[..whole.len() - 1], b"", b"\n\n", &[0xff; 300]] {
        std::fs::write(&file, damaged).unwrap();
        std::fs::remove_file(copy.beside("digests.fulfilled")).unwrap();
        assert_eq!(copy.ask(&question).findings, first.findings);
        assert_eq!(std::fs::read(&file).unwrap(), whole, "it is written anew");
    }
}

#[test]
fn the_command_line_keeps_digests_in_the_cache_folder_and_nowhere_else() {
    let (copy, base) = locked(POLICY);
    copy.write("src/a.py", "a = 2\n").commit();
    assert_eq!(copy.run(&["score", "--base", base.as_str()]).code, 0);
    assert_eq!(
        std::fs::read_dir(copy.cache().join("evidence-gate/digests")).unwrap().count(),
        2,
        "digests, and what was fulfilled"
    );
    assert_eq!(copy.git(&["status", "--porcelain"]), "");
}

fn paths(lock: &Lock) -> Vec<String> {
    lock.files.iter().map(|locked| locked.path.to_string()).collect()
}

#[test]
fn three_spellings_say_the_same() {
    let (a, b) = (Sha256::of(b"a").to_string(), Sha256::of(b"b").to_string());
    let text = format!("# made by hand\n\n{b} *x/b\n{a}  ./a\n");
    let crlf = text.replace('\n', "\r\n");
    let object = format!("{{\"x/b\": \"{b}\", \"a\": \"{}\"}}", a.to_uppercase());
    for (bytes, spelling) in [(&text, Spelling::Sha256sum), (&crlf, Spelling::Sha256sum), (&object, Spelling::Object)] {
        let lock = parse(bytes.as_bytes()).unwrap();
        assert_eq!((lock.spelling, paths(&lock)), (spelling, vec!["a".to_owned(), "x/b".to_owned()]));
        assert_eq!(lock.files[0].digest, Some(Sha256::of(b"a")));
    }
    let list = parse(br#" {"paths": ["x/b", "a"]} "#).unwrap();
    assert_eq!((list.spelling, paths(&list)), (Spelling::List, vec!["a".to_owned(), "x/b".to_owned()]));
    assert!(list.files.iter().all(|locked| locked.digest.is_none()));
    assert_eq!(parse(b"").unwrap().files, []);
}

#[test]
fn each_bad_lock_is_refused_with_line_and_path() {
    let hex = "ab".repeat(32);
    for (text, expected) in [
        (format!("{hex}  a\n{hex}  b\n{hex}  ./a\n"), "line 3 lists `a` a second time, after line 1"),
        (format!("{hex}  a\n{}  b\n", &hex[1..]), "line 2 does not have a sha256 of 64 hexadecimal digits"),
        (format!("{}zz  a\n", &hex[2..]), "line 1 does not have a sha256 of 64 hexadecimal digits"),
        (format!("{hex} a\n"), "line 1 has no two spaces, or a space and `*`, between digest and path"),
        (format!("{hex}  \n"), "line 1 names ``, which has no name"),
        (format!("{hex}  ../a\n"), "line 1 names `../a`, which has a part `.` or `..`"),
        (format!("{hex}  a/../../b\n"), "line 1 names `a/../../b`, which has a part `.` or `..`"),
        (format!("{hex}  /etc/passwd\n"), "line 1 names `/etc/passwd`, which starts with a slash"),
        (format!("{hex}  a//b\n"), "line 1 names `a//b`, which has an empty part"),
        (
            format!("{hex}  .GIT/config\n"),
            "line 1 names `.GIT/config`, which has a part that some machines take for `.git`",
        ),
        (
            format!("\\{hex}  a\\tb\n"),
            "line 1 begins with a backslash, and its path has a backslash that escapes nothing",
        ),
        (format!("\u{feff}{hex}  a\n"), "it begins with a byte order mark"),
        (format!("{{\"a\": \"{hex}\", \"a\": \"{hex}\"}}"), "the key `a` stands twice at line 1"),
        (format!("{{\"a\": \"{hex}\", \"./a\": \"{hex}\"}}"), "the path `a` is listed twice"),
        ("{\"a\": 5}".to_owned(), "the path `a` has a whole number where its sha256 belongs"),
        ("{\"a\": \"abc\"}".to_owned(), "the path `a` does not have a sha256"),
        (format!("{{\"../a\": \"{hex}\"}}"), "the path `../a` has a part `.` or `..`"),
        ("{\"paths\": [\"a\", 5]}".to_owned(), "item 2 of `paths` is a whole number, and a path is wanted"),
        ("{\"paths\": [\"a\", \"a\"]}".to_owned(), "the path `a` is listed twice"),
        ("[\"a\"]".to_owned(), "a lock in JSON is an object of paths and digests"),
        ("{\"a\": ".to_owned(), "it is no JSON"),
        ("[".repeat(10_000), "it is no JSON: recursion limit exceeded"),
    ] {
        let error = parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:.60?}: {error}");
    }
}

/// What coreutils print in the working copy.
#[expect(clippy::disallowed_methods, reason = "the program that ours must agree with")]
fn sha256sum(copy: &WorkingCopy, lock: &str) -> crate::working_copy::Said {
    let output = Command::new("sha256sum").env("LC_ALL", "C").current_dir(copy.dir()).args(["-c", lock]).output();
    said(&output.unwrap())
}

#[test]
fn coreutils_accept_the_lock_and_print_what_we_print() {
    let copy = WorkingCopy::new();
    copy.write(".evidence-gate.toml", "schema = 1\n").write("src/a.py", "1\n");
    let names: [&[u8]; 12] = [
        b"plain.json",
        b"with space .json",
        b" leading",
        b"*star",
        b"new\nline",
        b"back\\slash",
        b"carriage\rreturn\r",
        b"#hash",
        b"caf\xc3\xa9",
        b"no-utf8-\xff\xfe",
        b"tab\tand\x1b[31m",
        b"both\\\n",
    ];
    for name in names {
        copy.write([b"tests/fixtures/", name].concat(), [b"content of ", name].concat());
    }
    copy.commit();
    assert_eq!(copy.run(&["lock", "write", "--output", "fixtures.lock"]).code, 0);
    let lock = parse(&std::fs::read(copy.path("fixtures.lock")).unwrap()).unwrap();
    assert_eq!(lock.files.len(), names.len());
    let theirs = sha256sum(&copy, "fixtures.lock");
    let ours = copy.run(&["lock", "verify"]);
    assert_eq!((theirs.code, ours.code), (0, 0), "{theirs:?} {ours:?}");
    assert_eq!(ours.text(), theirs.text());
    copy.write(b"tests/fixtures/both\\\n".as_slice(), "edited").remove("tests/fixtures/#hash");
    let (theirs, ours) = (sha256sum(&copy, "fixtures.lock"), copy.run(&["lock", "verify"]));
    assert_eq!((theirs.code, ours.code), (1, 1));
    assert_eq!(ours.text(), theirs.text());
    assert!(ours.stderr.contains("WARNING: 1 of the computed checksums did NOT match"), "{}", ours.stderr);
}

#[test]
fn the_lock_lists_fixtures_and_neither_itself_nor_links() {
    let copy = WorkingCopy::new();
    copy.write(".evidence-gate.toml", "schema = 1\n[fixtures]\nlock = \"tests/fixtures/all.lock\"\n");
    copy.write("src/a.py", "1\n").write("tests/fixtures/a.json", "{}").write("tests/fixtures/all.lock", "");
    std::os::unix::fs::symlink("a.json", copy.path("tests/fixtures/link.json")).unwrap();
    copy.commit();
    let said = copy.run(&["lock", "write"]);
    assert_eq!(said.text(), line("tests/fixtures/a.json", "{}"));
    assert!(said.stderr.contains("tests/fixtures/link.json is left out"), "{}", said.stderr);
}

#[test]
fn verify_warns_where_attributes_change_bytes() {
    let copy = WorkingCopy::new();
    copy.write(".gitattributes", "*.txt text eol=crlf\n").write("tests/fixtures/a.txt", "one\r\n");
    copy.commit();
    copy.run(&["lock", "write", "--output", "fixtures.lock"]);
    assert_eq!(std::fs::read_to_string(copy.path("fixtures.lock")).unwrap(), line("tests/fixtures/a.txt", "one\n"));
    let said = copy.run(&["lock", "verify"]);
    assert_eq!((said.code, said.text()), (1, "tests/fixtures/a.txt: FAILED\n".to_owned()));
    assert!(said.stderr.contains("as git stores it at HEAD it fits the lock"), "{}", said.stderr);
    copy.write("fixtures.lock", line("tests/fixtures/a.txt", "one\r\n"));
    let said = copy.run(&["lock", "verify"]);
    assert_eq!((said.code, said.text()), (0, "tests/fixtures/a.txt: OK\n".to_owned()));
    assert!(said.stderr.contains("as git stores it at HEAD it does not fit the lock"), "{}", said.stderr);
}

#[test]
fn a_path_is_read_as_bytes() {
    let hex = "00".repeat(32);
    let lock = parse(&[hex.as_bytes(), b"  a\xff\n"].concat()).unwrap();
    assert_eq!(lock.files[0].path, BytePath::new(b"a\xff"));
}

#[test]
fn what_was_fulfilled_once_is_remembered_and_every_change_since_is_seen() {
    let (copy, base) = locked(POLICY);
    let head = copy.write("src/a.py", "a = 2\n").commit();
    let remembering = |base: &ObjectId, head: &ObjectId| {
        let mut question = copy.question(base, head);
        question.known_digests = Some(copy.beside("digests"));
        copy.ask(&question)
    };
    for _ in 0..2 {
        assert_eq!(findings(&remembering(&base, &head), &RULES), [""; 0]);
    }
    let note = std::fs::read_to_string(copy.beside("digests.fulfilled")).unwrap();
    assert!(note.ends_with(&format!(" {base}\n")), "{note}");

    let edited = copy.write("inputs/two.bin", "3\n").commit();
    assert_eq!(findings(&remembering(&head, &edited), &RULES), ["fixture-mismatch: reject"]);
    // The edit got onto the base without its line of the lock: what was remembered no longer holds.
    let later = copy.write("src/a.py", "a = 3\n").commit();
    assert_eq!(findings(&remembering(&edited, &later), &RULES), ["lock-stale-on-base: unscored"]);
    assert_eq!(findings(&remembering(&edited, &later), &RULES), ["lock-stale-on-base: unscored"]);
    // Restored, the base is as the remembered one was.
    let restored = copy.write("inputs/two.bin", "2\n").commit();
    let honest = copy.write("src/a.py", "a = 4\n").commit();
    assert_eq!(findings(&remembering(&restored, &honest), &RULES), [""; 0]);
    // Another lock, and what was remembered of the old one says nothing.
    let new_lock = line("inputs/two.bin", "4\n") + &line("tests/fixtures/one.json", "1\n");
    let other = copy.write("fixtures.lock", new_lock).commit();
    let after = copy.write("src/a.py", "a = 5\n").commit();
    assert_eq!(findings(&remembering(&other, &after), &RULES), ["lock-stale-on-base: unscored"]);
}

#[test]
fn a_note_that_is_damaged_or_names_a_commit_that_is_gone_is_not_believed() {
    let (copy, base) = locked(POLICY);
    let stale = copy.write("inputs/two.bin", "3\n").commit();
    let head = copy.write("src/a.py", "a = 2\n").commit();
    let lock = Sha256::of(&std::fs::read(copy.path("fixtures.lock")).unwrap());
    for note in [
        String::new(),
        format!("evidence-gate lock fulfilled 1 {lock} {base}"),
        format!("evidence-gate lock fulfilled 1 {lock} {}\n", "0".repeat(40)),
        format!("evidence-gate lock fulfilled 2 {lock} {stale}\n"),
    ] {
        std::fs::write(copy.beside("digests.fulfilled"), &note).unwrap();
        let mut question = copy.question(&stale, &head);
        question.known_digests = Some(copy.beside("digests"));
        assert_eq!(findings(&copy.ask(&question), &RULES), ["lock-stale-on-base: unscored"], "{note:?}");
    }
}
