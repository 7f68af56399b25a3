//! Objects, folders, and what stands beside a path.

use evidence_gate::change::{Blob, BytePath, GitError, Limits, Mode};
use evidence_gate::words::ObjectId;

use super::repo::{Repo, file, link, path, program, submodule};

fn id(repo: &Repo, name: &str) -> ObjectId {
    repo.git(&["rev-parse", name]).parse().unwrap()
}

#[test]
fn blobs_come_whole_too_large_or_missing_and_every_one_is_answered() {
    let repo = Repo::bare();
    let binary: Vec<u8> = (0..=255).chain([b'\n', 0]).collect();
    repo.commit(&[], [file("a", &binary), file("big", "x".repeat(1_001)), link("l", "../target"), file("empty", "")]);
    let [a, big, l, empty] = ["a", "big", "l", "empty"].map(|name| id(&repo, &format!("commit-1:{name}")));
    let absent: ObjectId = "3".repeat(40).parse().unwrap();
    let blobs = repo.open().blobs([&a, &big, &l, &empty, &absent, &a], 1_000).unwrap();
    assert_eq!(blobs.len(), 5);
    assert_eq!(blobs[&a], Blob::Whole(binary.into()));
    assert_eq!(blobs[&big], Blob::TooLarge(1_001));
    assert_eq!(blobs[&l], Blob::Whole(b"../target"[..].into()));
    assert_eq!(blobs[&empty], Blob::Whole(b""[..].into()));
    assert_eq!(blobs[&absent], Blob::Missing);
}

#[test]
fn thousands_of_blobs_are_read_in_one_go() {
    let repo = Repo::bare();
    let commit = repo.commit(&[], (0..5_000).map(|n| file(format!("f{n}"), format!("{n} {}", "x".repeat(n % 700)))));
    let git = repo.open();
    let entries = git.folder(&commit, &path("")).unwrap().unwrap();
    let blobs = git.blobs(entries.iter().map(|entry| &entry.id), 10_000).unwrap();
    assert_eq!(blobs.len(), 5_000);
    for entry in entries {
        let Blob::Whole(bytes) = &blobs[&entry.id] else { panic!("{entry:?}") };
        let number = bytes.split(|b| *b == b' ').next().unwrap();
        assert_eq!([b"f", number].concat(), entry.name);
    }
}

#[test]
fn a_batch_that_is_too_large_as_a_whole_names_the_limit() {
    let repo = Repo::bare();
    repo.commit(&[], (0..20).map(|n| file(format!("f{n}"), format!("{n:0600}"))));
    let git = evidence_gate::change::Git::open_with(repo.dir(), Limits { output_bytes: 10_000, ..Limits::default() });
    let ids: Vec<_> = (0..20).map(|n| id(&repo, &format!("commit-1:f{n}"))).collect();
    let error = git.unwrap().blobs(&ids, 1_000).unwrap_err();
    assert_eq!(error.to_string(), "reading objects: more than 10000 bytes, which is the limit");
}

#[test]
fn a_tree_is_not_given_out_as_a_blob() {
    let repo = Repo::bare();
    repo.commit(&[], [file("a/b", "1")]);
    let error = repo.open().blob(&id(&repo, "commit-1:a"), 100).unwrap_err();
    assert!(matches!(error, GitError::WrongKind { .. }), "{error:?}");
}

#[test]
fn an_entry_is_found_by_commit_or_tree_and_by_its_exact_bytes() {
    let repo = Repo::bare();
    let commit = repo.commit(
        &[],
        [program("src/bin/run", "x"), link("src/l", "bin"), submodule("sub", '4'), file(b"src/\xff", "y")],
    );
    let git = repo.open();
    let at = |name: &[u8]| git.file_at(&commit, &BytePath::new(name)).unwrap().map(|(mode, _)| mode);
    assert_eq!(at(b"src/bin/run"), Some(Mode::EXECUTABLE));
    assert_eq!(at(b"src/bin"), Some(Mode::TREE));
    assert_eq!(at(b"src/l"), Some(Mode::SYMLINK));
    assert_eq!(at(b"sub"), Some(Mode::SUBMODULE));
    assert_eq!(at(b"src/\xff"), Some(Mode::FILE));
    for name in [
        &b"src/l/run"[..],
        b"sub/x",
        b"SRC/bin/run",
        b"src/bin/run/",
        b"/src",
        b"src//bin",
        b"src/./l",
        b"",
        b"src/../sub",
    ] {
        assert_eq!(at(name), None, "{name:?}");
    }
    let tree = id(&repo, "commit-1^{tree}");
    assert_eq!(git.file_at(&tree, &path("src/bin/run")).unwrap(), git.file_at(&commit, &path("src/bin/run")).unwrap());
    let names = |folder: &str| {
        git.folder(&commit, &path(folder))
            .unwrap()
            .map(|entries| entries.into_iter().map(|e| e.name).collect::<Vec<_>>())
    };
    assert_eq!(names("src").unwrap(), [&b"bin"[..], b"l", b"\xff"]);
    assert_eq!(names("").unwrap(), [&b"src"[..], b"sub"]);
    assert_eq!(names("sub"), None);
    assert_eq!(names("nowhere"), None);
}

#[test]
fn a_tree_that_is_missing_is_named() {
    let repo = Repo::bare();
    repo.commit(&[], [file("a/b", "1")]);
    let tree = id(&repo, "commit-1:a");
    repo.git(&["repack", "-adq"]);
    repo.git(&["config", "core.bare", "true"]);
    let absent: ObjectId = "2".repeat(40).parse().unwrap();
    let error = repo.open().folder(&absent, &path("")).unwrap_err();
    assert!(matches!(&error, GitError::MissingObject { id, .. } if *id == absent), "{error:?}");
    assert!(repo.open().missing([&tree, &absent]).unwrap() == [absent]);
}

/// The twins of each path as `path -> base mode [below]`.
fn twins(repo: &Repo, root: &ObjectId, paths: &[&str]) -> Vec<String> {
    let paths: Vec<_> = paths.iter().map(|text| path(text)).collect();
    let twins = repo.open().twins(root, &paths).unwrap();
    twins.iter().map(|twin| format!("{} -> {} {} {:?}", twin.path, twin.base, twin.mode, twin.below)).collect()
}

#[test]
fn a_path_is_told_what_the_base_holds_there_and_under_the_same_name_in_another_spelling() {
    let repo = Repo::bare();
    let base = repo.commit(
        &[],
        [
            file("tests/fixtures/Fees.json", "1"),
            file("tests/fixtures/cafe\u{301}.json", "1"),
            file("tests/fixtures/deep/er", "1"),
            file("Tests/fixtures/fees.json", "1"),
            file("straße/a", "1"),
            link("linked", "tests"),
            submodule("sub", '6'),
            file("plain", "1"),
        ],
    );
    let found = twins(
        &repo,
        &base,
        &[
            "tests/fixtures/fees.json",
            "tests/fixtures/Fees.json",
            "tests/fixtures/caf\u{e9}.json",
            "STRASSE/A",
            "tests/fixtures",
            "SUB",
            "linked",
            "linked/fixtures/new",
            "sub/file",
            "plain/deep/er",
            "tests/new/file",
            "nowhere",
        ],
    );
    assert_eq!(
        found,
        [
            "tests/fixtures/fees.json -> Tests/fixtures/fees.json 100644 []",
            "tests/fixtures/fees.json -> tests/fixtures/Fees.json 100644 []",
            "tests/fixtures/Fees.json -> Tests/fixtures/fees.json 100644 []",
            "tests/fixtures/Fees.json -> tests/fixtures/Fees.json 100644 []",
            "tests/fixtures/caf\u{e9}.json -> tests/fixtures/cafe\u{301}.json 100644 []",
            "STRASSE/A -> straße/a 100644 []",
            "tests/fixtures -> Tests/fixtures 040000 [\"Tests/fixtures/fees.json\"]",
            "tests/fixtures -> tests/fixtures 040000 [\"tests/fixtures/Fees.json\", \
             \"tests/fixtures/cafe\\u{301}.json\", \"tests/fixtures/deep/er\"]",
            "SUB -> sub 160000 []",
            "linked -> linked 120000 []",
        ]
    );
}

#[test]
fn names_that_are_no_text_fold_in_their_readable_parts() {
    let repo = Repo::bare();
    let base = repo.commit(&[], [file(b"A\xff", "1")]);
    let twins = repo.open().twins(&base, [&BytePath::new(b"a\xff"), &BytePath::new(b"a\xfe")]).unwrap();
    let bases: Vec<_> = twins.iter().map(|twin| twin.base.as_bytes()).collect();
    assert_eq!(bases, [b"A\xff"]);
}

#[test]
fn only_the_folders_on_the_way_are_read() {
    let repo = Repo::bare();
    let wide = (0..300).map(|n| file(format!("d{n}/f"), format!("{n}")));
    let base = repo.commit(&[], wide.chain([file("d7/deep/golden", "1")]));
    // Every other tree is taken away; a descent that looked at one of them would fail.
    let needed = ["commit-1^{tree}", "commit-1:d7", "commit-1:d7/deep"].map(|name| repo.git(&["rev-parse", name]));
    let all = repo.git(&["cat-file", "--batch-check", "--batch-all-objects"]);
    let bare = Repo::bare();
    for line in all.lines() {
        let [object, kind, _] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if kind == "commit" || needed.iter().any(|id| id == object) {
            let from = repo.dir().join("objects").join(&object[..2]).join(&object[2..]);
            let to = bare.dir().join("objects").join(&object[..2]);
            std::fs::create_dir_all(&to).unwrap();
            std::fs::copy(from, to.join(&object[2..])).unwrap();
        }
    }
    let found = twins(&bare, &base, &["D7/deep/GOLDEN", "d300/x", "new"]);
    assert_eq!(found, ["D7/deep/GOLDEN -> d7/deep/golden 100644 []"]);
}
