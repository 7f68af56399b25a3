//! What changed, and what merging makes.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use evidence_gate::change::{Blob, Compared, Git, GitError, Limits, Merged, Remedy, Status};
use evidence_gate::words::{BaseSha, HeadSha, MergeBase, ObjectId};

use super::repo::{Item, Repo, compare, file, link, path, program, rows, snapshot, submodule};

fn merge(repo: &Repo, base: &ObjectId, head: &ObjectId) -> Merged {
    let git = repo.open();
    let (base, head) = (BaseSha(base.clone()), HeadSha(head.clone()));
    let bases = git.merge_bases(&base, &head).unwrap();
    git.merged_tree(&base, &head, &MergeBase(bases[0].clone())).unwrap()
}

#[test]
fn a_rename_with_chmod_is_a_removed_and_an_added_path_with_their_modes() {
    let rows = Repo::bare().rows_of([file("a.txt", "text\n")], [program("moved.txt", "text\n")]);
    assert_eq!(rows, ["D 100644 000000 a.txt", "A 000000 100755 moved.txt"]);
}

#[test]
fn a_mode_alone_is_a_row() {
    let repo = Repo::bare();
    let base = repo.commit(&[], [file("b.sh", "x")]);
    let head = repo.commit(&[&base], [program("b.sh", "x")]);
    let change = repo.change(&base, &head);
    assert_eq!(rows(&change), ["M 100644 100755 b.sh"]);
    assert_eq!(change.rows[0].old.as_ref().unwrap().blob, change.rows[0].new.as_ref().unwrap().blob);
}

#[test]
fn a_file_that_becomes_a_symlink_or_a_submodule_changes_its_type() {
    let rows = Repo::bare().rows_of(
        [file("a", "x"), file("b", "x"), link("c", "a"), submodule("d", '1')],
        [link("a", "b"), submodule("b", '2'), file("c", "a"), link("d", "a")],
    );
    assert_eq!(rows, ["T 100644 120000 a", "T 100644 160000 b", "T 120000 100644 c", "T 160000 120000 d"]);
}

#[test]
fn a_file_that_takes_the_place_of_a_folder_shows_both() {
    let rows = Repo::bare().rows_of([file("golden/a", "x"), file("golden/b", "x")], [link("golden", "elsewhere")]);
    assert_eq!(rows, ["A 000000 120000 golden", "D 100644 000000 golden/a", "D 100644 000000 golden/b"]);
}

#[test]
fn a_submodule_is_seen_whatever_gitmodules_says_in_a_checkout_of_the_pull_request() {
    let repo = Repo::working_copy();
    let modules = "[submodule \"m\"]\n\tpath = m\n\turl = ./m\n\tignore = all\n";
    let base = repo.commit(&[], [file(".gitmodules", &modules[..modules.len() - 14]), submodule("m", '1')]);
    let head = repo.commit(&[&base], [file(".gitmodules", modules), submodule("m", '2')]);
    repo.git(&["config", "submodule.m.ignore", "all"]);
    repo.git(&["config", "diff.ignoreSubmodules", "all"]);
    std::fs::write(repo.dir().join(".gitmodules"), modules).unwrap();
    repo.git(&["update-ref", "refs/heads/main", head.as_str()]);
    assert_eq!(rows(&repo.change(&base, &head)), ["M 100644 100644 .gitmodules", "M 160000 160000 m"]);
}

#[test]
fn hostile_names_come_through_byte_for_byte() {
    let mut names: Vec<Vec<u8>> = [
        &b"new\nline"[..],
        b"tab\there",
        b"quote\"d",
        b"back\\slash",
        b"\xff\xfe not text",
        b"caf\xe9",
        "right\u{202e}to left".as_bytes(),
        b"-rf",
        b"--output=x",
        b":(glob)*",
        b"*",
        b" ",
        b"\x01\x1b[31m\x7f",
        b"tests/fixtures/ trailing ",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    names.push([&b"deep/".repeat(40)[..], &b"n".repeat(3800)].concat());
    names.sort();
    let repo = Repo::bare();
    let base = repo.commit(&[], [file("keep", "")]);
    let added = names.iter().map(|name| file(name, "x"));
    let head = repo.commit(&[&base], added.chain([file("keep", "")]));
    let change = repo.change(&base, &head);
    let found: Vec<_> = change.rows.iter().map(|row| row.path().as_bytes().to_vec()).collect();
    assert_eq!(found, names);
    assert!(change.rows.iter().all(|row| row.status == Status::Added));
    assert!(names.last().is_some_and(|_| names.iter().any(|name| name.len() == 4_000)));
    for name in &names {
        let found = repo.open().file_at(&head, &evidence_gate::change::BytePath::new(name.clone())).unwrap();
        assert!(found.is_some(), "{name:?}");
    }
}

#[test]
fn an_empty_commit_has_no_rows() {
    let repo = Repo::bare();
    let base = repo.commit(&[], [file("a", "x")]);
    let head = repo.commit(&[&base], [file("a", "x")]);
    let change = repo.change(&base, &head);
    assert_eq!(rows(&change), [""; 0]);
    assert_eq!(change.merged_tree.unwrap().as_str(), repo.git(&["rev-parse", &format!("{head}^{{tree}}")]));
}

#[test]
fn three_thousand_five_hundred_files_are_all_there() {
    let items = |text: &str| (0..3_500).map(|n| file(format!("src/f{n:04}"), text)).collect::<Vec<_>>();
    let rows = Repo::bare().rows_of(items("old"), items("new"));
    assert_eq!(rows.len(), 3_500);
    assert_eq!(rows[3_499], "M 100644 100644 src/f3499");
}

#[test]
fn a_copy_is_an_added_path_and_a_swap_is_two_modified_ones() {
    let repo = Repo::bare();
    let gold = "golden\n".repeat(50);
    assert_eq!(
        repo.rows_of([file("gold", &gold)], [file("copy", &gold), file("gold", &gold)]),
        ["A 000000 100644 copy"]
    );
    assert_eq!(
        repo.rows_of([file("a", "1"), file("b", "2")], [file("a", "2"), file("b", "1")]),
        ["M 100644 100644 a", "M 100644 100644 b"]
    );
}

#[test]
fn edits_hidden_in_a_merge_of_the_base_into_the_pull_request_are_seen() {
    let repo = Repo::bare();
    let root = repo.commit(&[], [file("a", "1"), file("golden", "1")]);
    let base = repo.commit(&[&root], [file("a", "2"), file("golden", "1")]);
    let work = repo.commit(&[&root], [file("a", "1"), file("golden", "1"), file("b", "new")]);
    let head = repo.commit(&[&work, &base], [file("a", "2"), file("golden", "evil"), file("b", "new")]);
    assert_eq!(rows(&repo.change(&base, &head)), ["A 000000 100644 b", "M 100644 100644 golden"]);
}

#[test]
fn lines_are_counted_from_the_merge_base_and_not_from_the_tip() {
    let repo = Repo::bare();
    let root = repo.commit(&[], [file("a", "1"), file("b", "1")]);
    let base = repo.commit(&[&root], [file("a", "moved on"), file("b", "1")]);
    let head = repo.commit(&[&root], [file("a", "1"), file("b", "2")]);
    let change = repo.change(&base, &head);
    assert_eq!(change.merge_base, MergeBase(root));
    assert_eq!(rows(&change), ["M 100644 100644 b"]);
    let (git, tree) = (repo.open(), change.merged_tree.unwrap());
    assert!(git.file_at(&tree, &path("a")).is_err(), "the merged tree lives as long as the Git that made it");
}

#[test]
fn unrelated_histories_have_no_merge_base() {
    let repo = Repo::bare();
    let (one, other) = (repo.commit(&[], [file("a", "1")]), repo.commit(&[], [file("a", "2")]));
    assert_eq!(compare(&repo.open(), &one, &other), Compared::NoMergeBase);
}

#[test]
fn histories_that_cross_have_several_merge_bases() {
    let repo = Repo::bare();
    let root = repo.commit(&[], [file("a", "0")]);
    let (left, right) = (repo.commit(&[&root], [file("a", "1")]), repo.commit(&[&root], [file("a", "2")]));
    let (base, head) =
        (repo.commit(&[&left, &right], [file("a", "3")]), repo.commit(&[&right, &left], [file("a", "4")]));
    let mut expected = vec![left, right];
    expected.sort();
    match compare(&repo.open(), &base, &head) {
        Compared::SeveralMergeBases(mut found) => {
            found.sort();
            assert_eq!(found, expected);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn replace_refs_and_grafts_rewrite_nothing() {
    let repo = Repo::working_copy();
    let root = repo.commit(&[], [file("golden", "1")]);
    let base = repo.commit(&[&root], [file("golden", "1"), file("b", "")]);
    let head = repo.commit(&[&root], [file("golden", "evil")]);
    let innocent = repo.commit(&[&root], [file("golden", "1")]);
    repo.git(&["replace", head.as_str(), innocent.as_str()]);
    std::fs::create_dir_all(repo.dir().join(".git/info")).unwrap();
    std::fs::write(repo.dir().join(".git/info/grafts"), format!("{head} {base}\n")).unwrap();
    let change = repo.change(&base, &head);
    assert_eq!(change.merge_base, MergeBase(root.clone()));
    assert_eq!(rows(&change), ["M 100644 100644 golden"]);
    assert_eq!(repo.open().resolve(&format!("{head}^")).unwrap(), root);
}

#[test]
fn a_conflict_names_its_paths() {
    let repo = Repo::bare();
    let items = |one: &str, two: &str| [file("a\nb", one), file("c", two), file("d", "same")];
    let root = repo.commit(&[], items("1", "1"));
    let (base, head) = (repo.commit(&[&root], items("2", "2")), repo.commit(&[&root], items("3", "3")));
    assert_eq!(merge(&repo, &base, &head), Merged::Conflict { paths: vec![path("a\nb"), path("c")] });
    assert_eq!(repo.change(&base, &head).merged_tree, None);
}

#[test]
fn a_file_that_one_side_removed_and_the_other_edited_is_a_conflict() {
    let repo = Repo::bare();
    let root = repo.commit(&[], [file("a", "1"), file("b", "1")]);
    let (base, head) =
        (repo.commit(&[&root], [file("b", "1")]), repo.commit(&[&root], [file("a", "2"), file("b", "1")]));
    assert_eq!(merge(&repo, &base, &head), Merged::Conflict { paths: vec![path("a")] });
}

#[test]
fn an_edit_of_a_file_that_the_base_moved_lands_where_the_base_moved_it() {
    let repo = Repo::bare();
    let text = "line\n".repeat(40);
    let root = repo.commit(&[], [file("old", &text)]);
    let base = repo.commit(&[&root], [file("new", text.clone() + "moved\n")]);
    let head = repo.commit(&[&root], [file("old", format!("edited\n{text}"))]);
    let git = repo.open();
    let Compared::One(change) = compare(&git, &base, &head) else { panic!("one merge base") };
    assert_eq!(rows(&change), ["M 100644 100644 old"]);
    let (_, blob) = git.file_at(&change.merged_tree.unwrap(), &path("new")).unwrap().unwrap();
    let Blob::Whole(bytes) = git.blob(&blob, 1_000).unwrap() else { panic!("a small blob") };
    assert_eq!(&*bytes, format!("edited\n{text}moved\n").as_bytes());
}

#[test]
fn edits_of_different_lines_merge_and_the_tree_can_be_read() {
    let repo = Repo::bare();
    let text = |first: &str, last: &str| file("a", format!("{first}\n2\n3\n4\n5\n6\n{last}\n"));
    let root = repo.commit(&[], [text("1", "7")]);
    let (base, head) = (repo.commit(&[&root], [text("one", "7")]), repo.commit(&[&root], [text("1", "seven")]));
    let git = repo.open();
    let Compared::One(change) = compare(&git, &base, &head) else { panic!("one merge base") };
    let (_, blob) = git.file_at(&change.merged_tree.unwrap(), &path("a")).unwrap().unwrap();
    let Blob::Whole(bytes) = git.blob(&blob, 1_000).unwrap() else { panic!("a small blob") };
    assert_eq!(&*bytes, b"one\n2\n3\n4\n5\n6\nseven\n");
}

/// Each way in which a repository can tell git how to merge.
#[test]
fn no_attribute_hides_a_conflict() {
    for attributes in
        ["* merge=union\n", "* merge=ours\n", "* -merge\n", "* merge=evil\n", "* merge=evil text=auto eol=crlf\n"]
    {
        for on_base in [false, true] {
            let repo = Repo::working_copy();
            let given = file(".gitattributes", attributes);
            let root = repo.commit(&[], [file("a", "1\n")]);
            let with = |items: [Item; 1], yes: bool| items.into_iter().chain(yes.then(|| given.clone()));
            let base = repo.commit(&[&root], with([file("a", "2\n")], on_base));
            let head = repo.commit(&[&root], with([file("a", "3\n")], true));
            for name in ["main", "commit-3"] {
                repo.git(&["update-ref", &format!("refs/heads/{name}"), head.as_str()]);
            }
            std::fs::write(repo.dir().join(".gitattributes"), attributes).unwrap();
            std::fs::write(repo.dir().join(".git/info/attributes"), attributes).unwrap();
            repo.git(&["config", "merge.evil.driver", "true"]);
            repo.git(&["config", "merge.default", "union"]);
            repo.git(&["config", "merge.renormalize", "true"]);
            repo.git(&["config", "attr.tree", head.as_str()]);
            let merged = merge(&repo, &base, &head);
            assert_eq!(merged, Merged::Conflict { paths: vec![path("a")] }, "{attributes:?} on base: {on_base}");
        }
    }
}

#[test]
fn no_attribute_decides_between_union_and_the_plain_merge() {
    // Both sides add at the same place: a conflict as it stands, clean under `merge=union`.
    let repo = Repo::bare();
    let root = repo.commit(&[], [file("a", "1\n"), file(".gitattributes", "* merge=union\n")]);
    let side = |text: &str| [file("a", format!("1\n{text}\n")), file(".gitattributes", "* merge=union\n")];
    let (base, head) = (repo.commit(&[&root], side("2")), repo.commit(&[&root], side("3")));
    assert_eq!(merge(&repo, &base, &head), Merged::Conflict { paths: vec![path("a")] });
}

#[test]
fn the_repository_itself_is_not_written_to() {
    let repo = Repo::working_copy();
    let root = repo.commit(&[], [file("a", "1\n2\n3\n4\n5\n"), file("b", "1")]);
    let base = repo.commit(&[&root], [file("a", "one\n2\n3\n4\n5\n"), file("b", "1")]);
    let head = repo.commit(&[&root], [file("a", "1\n2\n3\n4\nfive\n"), file("b", "2")]);
    let before = snapshot(repo.root());
    let git = repo.open();
    let scratch = git.git_dir().to_owned();
    let Compared::One(change) = compare(&git, &base, &head) else { panic!("one merge base") };
    assert_eq!(git.missing([change.merged_tree.as_ref().unwrap()]).unwrap(), []);
    assert_eq!(snapshot(repo.root()), before);
    drop(git);
    assert!(!scratch.exists(), "the scratch repository is removed");
}

/// A repository whose configuration starts a program wherever git offers it. The program leaves a file behind.
#[test]
fn nothing_in_a_hostile_repository_is_run() {
    let repo = Repo::working_copy();
    let canary = repo.root().join("canary");
    let program = repo.root().join("program");
    std::fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    let attributes = "* diff=evil merge=evil filter=evil textconv=evil\n";
    let root = repo.commit(&[], [file("a", "1\n"), file(".gitattributes", attributes)]);
    let base = repo.commit(&[&root], [file("a", "2\n"), file(".gitattributes", attributes)]);
    let head = repo.commit(&[&root], [file("a", "3\n"), file("b", ""), file(".gitattributes", attributes)]);
    repo.git(&["update-ref", "refs/heads/main", head.as_str()]);
    repo.git(&["reset", "--quiet", "--hard"]);
    std::fs::write(repo.dir().join(".git/info/attributes"), attributes).unwrap();
    let included = repo.root().join("included");
    std::fs::write(&included, format!("[core]\n\tfsmonitor = {program}\n[diff]\n\texternal = {program}\n")).unwrap();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.askPass",
        "core.alternateRefsCommand",
        "core.gitProxy",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "merge.evil.driver",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "gpg.ssh.program",
        "credential.helper",
        "pager.diff-tree",
        "pager.rev-parse",
        "uploadpack.packObjectsHook",
        "interactive.diffFilter",
    ] {
        repo.git(&["config", key, program]);
    }
    for name in ["rev-parse", "diff-tree", "merge-tree", "merge-base", "cat-file"] {
        repo.git(&["config", &format!("alias.{name}"), &format!("!{program}")]);
    }
    repo.git(&["config", "merge.default", "evil"]);
    repo.git(&["config", "log.showSignature", "true"]);
    repo.git(&["config", "include.path", included.to_str().unwrap()]);
    // A missing object must not be fetched by a command of the repository's choice.
    repo.git(&["config", "extensions.partialClone", "evil"]);
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    repo.git(&["config", "remote.evil.promisor", "true"]);
    repo.git(&["config", "remote.evil.url", &format!("ext::{program}")]);
    repo.git(&["config", "protocol.ext.allow", "always"]);
    repo.git(&["config", "protocol.allow", "always"]);
    let hooks = repo.root().join("hooks");
    std::fs::create_dir(&hooks).unwrap();
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman", "pre-auto-gc"] {
        std::fs::copy(program, hooks.join(hook)).unwrap();
    }
    repo.git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);

    let git = repo.open();
    assert_eq!(git.resolve("main").unwrap(), head);
    let absent: ObjectId = "5".repeat(40).parse().unwrap();
    assert!(git.resolve(absent.as_str()).is_err());
    assert_eq!(git.missing([&absent]).unwrap(), std::slice::from_ref(&absent));
    let Compared::One(change) = compare(&git, &base, &head) else { panic!("one merge base") };
    assert_eq!(change.merged_tree, None);
    let blobs = change.rows.iter().filter_map(|row| row.new.as_ref()).map(|side| &side.blob);
    assert_eq!(git.blobs(blobs, 100).unwrap().len(), 2);
    git.twins(&base, [&path("A")]).unwrap();
    assert!(!canary.exists(), "{}", std::fs::read_to_string(&canary).unwrap());
}

#[test]
fn a_repository_of_another_user_is_read() {
    let repo = Repo::working_copy();
    let base = repo.commit(&[], [file("a", "1")]);
    let head = repo.commit(&[&base], [file("a", "2")]);
    // Only root can give a folder away; for everyone else the folder stays their own.
    let _ = std::os::unix::fs::chown(repo.dir(), Some(54_321), Some(54_321));
    let _ = std::os::unix::fs::chown(repo.dir().join(".git"), Some(54_321), Some(54_321));
    let git = repo.open();
    assert_eq!(git.resolve("commit-2").unwrap(), head);
    assert_eq!(rows(&repo.change(&base, &head)), ["M 100644 100644 a"]);
}

#[test]
fn a_working_copy_a_folder_in_it_a_linked_one_a_bare_one_and_sha256_all_open() {
    let repo = Repo::working_copy();
    let base = repo.commit(&[], [file("folder/a", "1")]);
    repo.git(&["update-ref", "refs/heads/main", base.as_str()]);
    repo.git(&["reset", "--quiet", "--hard"]);
    let linked = repo.root().join("odd \"name\\\n");
    repo.git(&["worktree", "add", "--quiet", "-b", "other", linked.to_str().unwrap()]);
    let bare = repo.root().join("bare \"name\\\n\u{e9}");
    repo.git(&["clone", "--quiet", "--bare", "--no-local", ".", bare.to_str().unwrap()]);
    for dir in [repo.dir(), &repo.dir().join("folder"), &linked, &bare] {
        let git = Git::open(dir).unwrap();
        assert_eq!(git.resolve("HEAD").unwrap(), base, "{dir:?}");
        assert!(git.file_at(&base, &path("folder/a")).unwrap().is_some(), "{dir:?}");
    }
    let long = Repo::sha256();
    let base = long.commit(&[], [file("a", "1\n")]);
    let head = long.commit(&[&base], [file("a", "2\n")]);
    assert_eq!(base.as_str().len(), 64);
    let change = long.change(&base, &head);
    assert_eq!(rows(&change), ["M 100644 100644 a"]);
    assert!(change.merged_tree.is_some());
}

#[test]
fn revisions_that_look_like_options_or_name_no_commit_are_refused_by_name() {
    let repo = Repo::working_copy();
    let commit = repo.commit(&[], [file("a", "1")]);
    repo.git(&["tag", "-a", "-m", "x", "v1", commit.as_str()]);
    let git = repo.open();
    assert_eq!(git.resolve("v1").unwrap(), commit);
    assert_eq!(git.resolve(commit.short()).unwrap(), commit);
    let blob = repo.git(&["rev-parse", "commit-1:a"]);
    for revision in ["--all", "--git-dir", "-h", "", "nowhere", "main..v1", "^v1", "v1\nv1", &blob, "v1^{tree}"] {
        match git.resolve(revision) {
            Err(error @ GitError::UnknownRevision { .. }) => {
                assert!(error.to_string().starts_with(&format!("{revision:?} names no commit")), "{error}");
            }
            other => panic!("{revision:?}: {other:?}"),
        }
    }
}

#[test]
fn what_is_no_repository_is_said_with_the_folder() {
    let empty = tempfile::tempdir().unwrap();
    for dir in [empty.path().to_owned(), empty.path().join("nothing")] {
        let error = Git::open(&dir).unwrap_err();
        assert!(matches!(error, GitError::NotARepository { .. }), "{error:?}");
        assert!(error.to_string().contains(dir.to_str().unwrap()), "{error}");
        assert_eq!(error.remedy(), Remedy::GiveUp);
    }
}

#[test]
fn commits_that_are_not_there_or_are_something_else_are_named() {
    let repo = Repo::bare();
    let base = repo.commit(&[], [file("a", "1")]);
    let absent: ObjectId = "7".repeat(40).parse().unwrap();
    let blob: ObjectId = repo.git(&["rev-parse", "commit-1:a"]).parse().unwrap();
    let git = repo.open();
    let error = git.change(BaseSha(base.clone()), HeadSha(absent.clone())).unwrap_err();
    assert!(matches!(&error, GitError::MissingObject { id, .. } if *id == absent), "{error:?}");
    let error = git.change(BaseSha(base), HeadSha(blob)).unwrap_err();
    assert!(matches!(error, GitError::WrongKind { .. }), "{error:?}");
}

#[test]
fn a_clone_whose_history_is_cut_off_says_so_instead_of_guessing() {
    let repo = Repo::working_copy();
    let root = repo.commit(&[], [file("a", "1")]);
    let base = repo.chain(&root, 5, &[]);
    let head = repo.chain(&root, 5, &[]);
    let clone = repo.root().join("clone");
    let url = format!("file://{}", repo.dir().display());
    repo.git(&["clone", "--quiet", "--bare", "--depth=3", "--no-single-branch", &url, clone.to_str().unwrap()]);
    let git = Git::open(&clone).unwrap();
    let error = git.change(BaseSha(base.clone()), HeadSha(head)).unwrap_err();
    assert!(matches!(error, GitError::Shallow { .. }), "{error:?}");
    assert!(error.to_string().contains("git fetch --unshallow"), "{error}");
    // Between commits that both lie above the cut, nothing is uncertain.
    let parent = git.resolve(&format!("{base}~1")).unwrap();
    assert!(matches!(compare(&git, &parent, &base), Compared::One(_)));
}

#[test]
fn too_much_output_and_too_much_time_are_errors_that_name_the_number() {
    let repo = Repo::working_copy();
    let base = repo.commit(&[], [file("a", "1")]);
    let head = repo.commit(&[&base], (0..200).map(|n| file(format!("f{n}"), "x")));
    let limits = Limits { output_bytes: 5_000, ..Limits::default() };
    let git = Git::open_with(repo.dir(), limits).unwrap();
    let error = git.rows(&base, &head).unwrap_err();
    assert_eq!(error.to_string(), "listing the changed paths: more than 5000 bytes, which is the limit");
    assert_eq!(error.remedy(), Remedy::GiveUp);

    // Configuration that never ends: a pipe that nobody writes to.
    let pipe = repo.root().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    repo.git(&["config", "include.path", pipe.to_str().unwrap()]);
    let limits = Limits { local_time: Duration::from_secs(1), ..Limits::default() };
    let error = Git::open_with(repo.dir(), limits).unwrap_err();
    assert_eq!(error.to_string(), "opening the repository: git did not finish within 1 seconds and was stopped");
    assert_eq!(error.remedy(), Remedy::Retry);
}
