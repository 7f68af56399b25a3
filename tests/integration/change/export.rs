//! A tree as files: exact, and safe whatever the tree says.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use evidence_gate::change::{Git, GitError, Limits, Remedy};
use evidence_gate::words::ObjectId;

use super::repo::{Repo, file, link, program, submodule};

/// A tree made of raw entries, which no porcelain of git would make.
fn hostile(repo: &Repo, entries: &[(&str, &[u8], &ObjectId)]) -> ObjectId {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend_from_slice(mode.as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend(hex::decode(id.as_str()).unwrap());
    }
    let raw = repo.dir().join("raw-tree");
    std::fs::write(&raw, bytes).unwrap();
    let id = repo.git(&["hash-object", "-t", "tree", "-w", "--literally", raw.to_str().unwrap()]);
    id.trim().parse().unwrap()
}

fn blob(repo: &Repo, text: &str) -> ObjectId {
    let raw = repo.dir().join("raw-blob");
    std::fs::write(&raw, text).unwrap();
    repo.git(&["hash-object", "-w", raw.to_str().unwrap()]).trim().parse().unwrap()
}

fn export(repo: &Repo, tree: &ObjectId) -> (tempfile::TempDir, Result<(), GitError>) {
    let outside = tempfile::tempdir().unwrap();
    let into = outside.path().join("copy");
    std::fs::create_dir(&into).unwrap();
    let result = repo.open().export(tree, &into);
    (outside, result)
}

#[test]
fn a_copy_has_exact_bytes_modes_links_and_empty_submodules() {
    let repo = Repo::bare();
    let attributes = "* text eol=crlf\n*.py filter=x export-ignore ident\n";
    let commit = repo.commit(
        &[],
        [
            file(".gitattributes", attributes),
            file("src/a.py", "one\ntwo\n$Id$\n"),
            program("bin/run", "#!/bin/sh\n"),
            link("src/link", "../bin/run"),
            link("dangling", "/no/such/file"),
            submodule("vendor/lib", '1'),
            file("empty", ""),
        ],
    );
    let (outside, result) = export(&repo, &commit);
    result.unwrap();
    let copy = outside.path().join("copy");
    assert_eq!(std::fs::read_to_string(copy.join(".gitattributes")).unwrap(), attributes);
    assert_eq!(std::fs::read_to_string(copy.join("src/a.py")).unwrap(), "one\ntwo\n$Id$\n");
    assert_eq!(std::fs::read(copy.join("empty")).unwrap(), b"");
    let mode = |path: &str| std::fs::symlink_metadata(copy.join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!([mode("src/a.py"), mode("bin/run"), mode("src")], [0o644, 0o755, 0o755]);
    assert_eq!(std::fs::read_link(copy.join("src/link")).unwrap(), Path::new("../bin/run"));
    assert_eq!(std::fs::read_link(copy.join("dangling")).unwrap(), Path::new("/no/such/file"));
    assert_eq!(std::fs::read_dir(copy.join("vendor/lib")).unwrap().count(), 0);
    assert!(!copy.join(".git").exists());
}

#[test]
fn a_name_that_is_no_text_is_written_as_its_bytes() {
    let repo = Repo::bare();
    let id = blob(&repo, "x");
    let tree = hostile(&repo, &[("100644", b"caf\xe9 \n\x1b", &id)]);
    let (outside, result) = export(&repo, &tree);
    result.unwrap();
    let entry = std::fs::read_dir(outside.path().join("copy")).unwrap().next().unwrap().unwrap();
    assert_eq!(entry.file_name().as_bytes(), b"caf\xe9 \n\x1b");
}

#[test]
fn a_name_that_leads_elsewhere_is_refused_and_writes_nothing_outside() {
    let repo = Repo::bare();
    let id = blob(&repo, "evil");
    let escape = blob(&repo, "..");
    let inner = hostile(&repo, &[("100644", b"escaped", &id)]);
    for (story, entries) in [
        ("the folder above", vec![("40000", b"..".as_slice(), &inner)]),
        ("the same folder", vec![("100644", b".".as_slice(), &id)]),
        ("git's folder", vec![("40000", b".git".as_slice(), &inner)]),
        ("git's folder in capitals", vec![("40000", b".GIT".as_slice(), &inner)]),
        ("a path in one name", vec![("100644", b"../escaped".as_slice(), &id)]),
        ("from the root", vec![("100644", b"/escaped".as_slice(), &id)]),
        (
            "a link and a folder of one name",
            vec![("120000", b"a".as_slice(), &escape), ("40000", b"a".as_slice(), &inner)],
        ),
        (
            "a folder and a link of one name",
            vec![("40000", b"a".as_slice(), &inner), ("120000", b"a".as_slice(), &escape)],
        ),
        ("a file and a folder of one name", vec![("100644", b"a".as_slice(), &id), ("40000", b"a".as_slice(), &inner)]),
        ("a name that is too long", vec![("100644", [b'x'; 300].as_slice(), &id)]),
    ] {
        let tree = hostile(&repo, &entries);
        let (outside, result) = export(&repo, &tree);
        let error = result.unwrap_err();
        assert!(matches!(error, GitError::NotAPath { .. }), "{story}: {error:?}");
        assert_eq!(error.remedy(), Remedy::GiveUp, "{story}");
        let names: Vec<_> =
            std::fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["copy"], "{story}");
    }
}

#[test]
fn an_object_that_is_not_there_and_a_tree_that_is_too_large_are_errors() {
    let repo = Repo::bare();
    let missing: ObjectId = "1".repeat(40).parse().unwrap();
    let tree = hostile(&repo, &[("100644", b"a", &missing)]);
    let (_outside, result) = export(&repo, &tree);
    assert!(matches!(result.unwrap_err(), GitError::MissingObject { id, .. } if id == missing));

    let commit = repo.commit(&[], [file("a", "0123456789"), file("b", "0123456789")]);
    let into = tempfile::tempdir().unwrap();
    let limits = Limits { pack_bytes: 15, ..Limits::default() };
    let error = Git::open_with(repo.dir(), limits).unwrap().export(&commit, into.path()).unwrap_err();
    assert!(matches!(error, GitError::TooMuch { limit: 15, .. }), "{error:?}");
}

#[test]
fn a_copy_never_lands_on_what_is_there_already() {
    let repo = Repo::bare();
    let commit = repo.commit(&[], [file("a", "new")]);
    let into = tempfile::tempdir().unwrap();
    std::fs::write(into.path().join("a"), "old").unwrap();
    assert!(repo.open().export(&commit, into.path()).is_err());
    assert_eq!(std::fs::read_to_string(into.path().join("a")).unwrap(), "old");
}
