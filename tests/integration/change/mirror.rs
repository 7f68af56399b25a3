//! A forge's repository over smart HTTP.

use std::path::Path;
use std::time::Duration;

use evidence_gate::change::{Blob, Compared, Git, GitError, Limits, Mirror, Remedy, Want};
use evidence_gate::forge::Remote;
use evidence_gate::words::{BaseSha, ForgeKind, HeadSha, MergeBase, ObjectId, RepositoryId};

use super::repo::{Item, Repo, compare, file, path, rows, snapshot};
use crate::fake_forge::git_http::{GitFault, GitRequest, GitServer, serve_git};

const SECRET: &str = "Basic c2VjcmV0LW9mLXRoZS10ZXN0";

/// A repository on a forge, and our data directory.
struct Hub {
    repo: Repo,
    server: GitServer,
    data: tempfile::TempDir,
}

impl Hub {
    async fn new() -> Self {
        let repo = Repo::bare();
        let server = serve_git(repo.root().to_owned(), Some(SECRET.to_owned())).await;
        Self { repo, server, data: tempfile::tempdir().unwrap() }
    }

    fn remote(&self) -> Remote {
        Remote {
            url: self.server.url.join("acme/widgets.git").unwrap(),
            authorization: Some(SECRET.to_owned().into()),
            head_ref: |number| format!("refs/pull/{number}/head"),
        }
    }

    fn mirror(&self, limits: Limits) -> Mirror {
        Mirror::open_with(self.data.path(), ForgeKind::Github, RepositoryId(42), limits).unwrap()
    }

    /// As the forge has it: `refs/heads/main` and `refs/pull/7/head`.
    fn publish(&self, base: &ObjectId, head: &ObjectId) -> (Want, Want) {
        self.repo.git(&["update-ref", "refs/heads/main", base.as_str()]);
        self.repo.git(&["update-ref", "refs/pull/7/head", head.as_str()]);
        // Other branches would give commits a second name.
        for name in
            self.repo.git(&["for-each-ref", "--format=%(refname)", "refs/heads/commit-*", "refs/heads/chain-*"]).lines()
        {
            self.repo.git(&["update-ref", "-d", name]);
        }
        (want(base, "refs/heads/main"), want(head, "refs/pull/7/head"))
    }

    fn fetch(&self, limits: Limits, base: &Want, head: &Want) -> Result<Git, GitError> {
        let (mirror, remote) = (self.mirror(limits), self.remote());
        tokio::task::block_in_place(|| mirror.fetch_change(&remote, base, head))
    }

    /// Requests that asked for objects.
    fn packs(&self) -> Vec<GitRequest> {
        let wants = |request: &GitRequest| {
            request.path.ends_with("git-upload-pack") && plain_body(request).windows(13).any(|w| w == b"command=fetch")
        };
        self.server.requests().into_iter().filter(wants).collect()
    }
}

/// Small bodies are sent as they are; git compresses from 1,024 bytes.
fn plain_body(request: &GitRequest) -> Vec<u8> {
    if !request.body.starts_with(b"\x1f\x8b") {
        return request.body.to_vec();
    }
    let dir = tempfile::tempdir().unwrap();
    let packed = dir.path().join("body.gz");
    std::fs::write(&packed, &request.body).unwrap();
    std::process::Command::new("gzip").arg("-dc").arg(&packed).output().unwrap().stdout
}

fn want(sha: &ObjectId, reference: &str) -> Want {
    Want { sha: sha.clone(), reference: reference.to_owned() }
}

fn simple(repo: &Repo) -> (ObjectId, ObjectId) {
    let root = repo.commit(&[], [file("a", "1\n2\n3\n4\n5\n"), file("b", "1"), file("unread", "x")]);
    let base = repo.commit(&[&root], [file("a", "one\n2\n3\n4\n5\n"), file("b", "1"), file("unread", "x")]);
    let head = repo.commit(&[&root], [file("a", "1\n2\n3\n4\nfive\n"), file("b", "2"), file("unread", "x")]);
    (base, head)
}

fn change(git: &Git, base: &Want, head: &Want) -> evidence_gate::change::Change {
    match compare(git, &base.sha, &head.sha) {
        Compared::One(change) => change,
        other => panic!("{other:?}"),
    }
}

fn contains(dir: &Path, needle: &str) -> bool {
    let found = |bytes: &[u8]| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
    snapshot(dir).values().any(|bytes| found(bytes))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_is_fetched_by_its_exact_shas_and_only_what_a_merge_reads_is_downloaded() {
    let hub = Hub::new().await;
    let (base, head) = simple(&hub.repo);
    let (base, head) = hub.publish(&base, &head);
    let git = hub.fetch(Limits::default(), &base, &head).unwrap();
    let change = change(&git, &base, &head);
    assert_eq!(rows(&change), ["M 100644 100644 a", "M 100644 100644 b"]);
    let tree = change.merged_tree.unwrap();
    let (_, merged) = git.file_at(&tree, &path("a")).unwrap().unwrap();
    assert_eq!(git.blob(&merged, 100).unwrap(), Blob::Whole(b"one\n2\n3\n4\nfive\n"[..].into()));
    let (_, unread) = git.file_at(&tree, &path("unread")).unwrap().unwrap();
    assert_eq!(git.blob(&unread, 100).unwrap(), Blob::Missing, "nobody asked for it");
    assert_eq!(hub.packs().len(), 2, "one fetch for history, one for the contents of the merge");
    assert!(hub.server.requests().iter().all(|r| r.authorization.as_deref() == Some(SECRET)));
    assert!(!contains(hub.data.path(), "c2VjcmV0"), "the authorization is stored nowhere");
    assert!(!contains(hub.data.path(), "127.0.0.1"), "nor is the address");

    // The same job again needs no network.
    let before = hub.server.requests().len();
    hub.fetch(Limits::default(), &base, &head).unwrap();
    assert_eq!(hub.server.requests().len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn contents_are_fetched_in_one_request_and_never_behind_our_back() {
    let hub = Hub::new().await;
    let base = hub.repo.commit(&[], (0..100).map(|n| file(format!("f{n}"), format!("old {n}"))));
    let head = hub.repo.commit(&[&base], (0..100).map(|n| file(format!("f{n}"), format!("new {n}"))));
    let (base, head) = hub.publish(&base, &head);
    let git = hub.fetch(Limits::default(), &base, &head).unwrap();
    let ids: Vec<_> = change(&git, &base, &head)
        .rows
        .into_iter()
        .flat_map(|row| [row.old.unwrap().blob, row.new.unwrap().blob])
        .collect();
    assert!(git.blobs(&ids, 100).unwrap().values().all(|blob| *blob == Blob::Missing));
    let before = hub.packs().len();
    let mirror = hub.mirror(Limits::default());
    let remote = hub.remote();
    tokio::task::block_in_place(|| mirror.ensure_blobs(&remote, &ids)).unwrap();
    assert_eq!(hub.packs().len(), before + 1);
    let blobs = git.blobs(&ids, 100).unwrap();
    assert!(blobs.values().all(|blob| matches!(blob, Blob::Whole(_))), "the open repository sees what came later");
    let absent: ObjectId = "9".repeat(40).parse().unwrap();
    let error = tokio::task::block_in_place(|| mirror.ensure_blobs(&remote, [&absent])).unwrap_err();
    assert!(error.to_string().contains(absent.as_str()), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn history_is_deepened_until_the_merge_base_is_certain() {
    for length in [3, 40, 300] {
        let hub = Hub::new().await;
        let root = hub.repo.commit(&[], [file("a", "1")]);
        let base = hub.repo.chain(&root, length, &[]);
        let head = hub.repo.chain(&root, length / 2, &[file("b", "new")]);
        let expected = hub.repo.git(&["merge-base", base.as_str(), head.as_str()]);
        let (base, head) = hub.publish(&base, &head);
        let git = hub.fetch(Limits { first_depth: 2, ..Limits::default() }, &base, &head).unwrap();
        let change = change(&git, &base, &head);
        assert_eq!(change.merge_base.to_string(), expected, "{length}");
        assert_eq!(change.rows.len(), 2, "{length}");
    }
}

/// A near common ancestor is seen at once, and a better one only behind a cut.
#[tokio::test(flavor = "multi_thread")]
async fn a_merge_base_that_only_the_whole_history_shows_is_not_missed() {
    let hub = Hub::new().await;
    let repo = &hub.repo;
    let root = repo.commit(&[], [file("golden", "0")]);
    let early = repo.commit(&[&root], [file("golden", "1")]);
    // Two lines that both contain `shared`, one far down; and both contain `early` close to the tip.
    let shared = repo.commit(&[&root], [file("golden", "2")]);
    let long = repo.chain(&shared, 30, &[]);
    let base = repo.commit(&[&early, &long], [file("golden", "3")]);
    let other = repo.chain(&shared, 30, &[]);
    let head = repo.commit(&[&early, &other], [file("golden", "4")]);
    let expected: Vec<_> =
        repo.git(&["merge-base", "--all", base.as_str(), head.as_str()]).lines().map(str::to_owned).collect();
    assert_eq!(expected.len(), 2);
    let (base, head) = hub.publish(&base, &head);
    let git = hub.fetch(Limits { first_depth: 2, ..Limits::default() }, &base, &head).unwrap();
    let Compared::SeveralMergeBases(found) = compare(&git, &base.sha, &head.sha) else { panic!("two merge bases") };
    let mut found: Vec<_> = found.iter().map(ToString::to_string).collect();
    let mut expected = expected;
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn unrelated_histories_are_fetched_to_the_end_before_it_is_said() {
    let hub = Hub::new().await;
    let one = hub.repo.commit(&[], [file("a", "1")]);
    let other = hub.repo.commit(&[], [file("b", "1")]);
    let (one, other) = (hub.repo.chain(&one, 20, &[]), hub.repo.chain(&other, 20, &[]));
    let (base, head) = hub.publish(&one, &other);
    let git = hub.fetch(Limits { first_depth: 2, ..Limits::default() }, &base, &head).unwrap();
    assert_eq!(compare(&git, &base.sha, &head.sha), Compared::NoMergeBase);
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_one_after_another_are_followed_in_one_mirror() {
    let hub = Hub::new().await;
    let limits = Limits { first_depth: 4, ..Limits::default() };
    let root = hub.repo.commit(&[], [file("a", "1")]);
    let mut base = hub.repo.chain(&root, 20, &[]);
    for push in 0..4 {
        let head = hub.repo.chain(&base, 3 + push * 9, &[file("b", push.to_string())]);
        let expected = base.clone();
        base = hub.repo.chain(&base, 5, &[file("c", push.to_string())]);
        let (wanted_base, wanted_head) = hub.publish(&base, &head);
        let git = hub.fetch(limits, &wanted_base, &wanted_head).unwrap();
        assert_eq!(change(&git, &wanted_base, &wanted_head).merge_base, MergeBase(expected), "push {push}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_only_named_commits_are_given_out_the_ref_is_taken_if_it_holds_the_very_commit() {
    let hub = Hub::new().await;
    hub.server.speak_protocol_v0();
    let (base, head) = simple(&hub.repo);
    let later = hub.repo.commit(&[&head], [file("a", "later")]);
    let (base_want, head_want) = hub.publish(&base, &head);
    let mirror = hub.mirror(Limits::default());
    let remote = hub.remote();
    tokio::task::block_in_place(|| mirror.fetch(&remote, &[base_want.clone(), head_want.clone()])).unwrap();
    assert_eq!(mirror.git().unwrap().resolve(head.as_str()).unwrap(), head);

    let fresh = Hub { data: tempfile::tempdir().unwrap(), ..hub };
    fresh.publish(&base, &later);
    let error = fresh.fetch(Limits::default(), &base_want, &head_want).unwrap_err();
    match &error {
        GitError::HeadMoved { reference, expected, found } => {
            assert_eq!(reference, "refs/pull/7/head");
            assert_eq!((expected, found), (&head, &Some(later.clone())));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(error.remedy(), Remedy::Retry);
    assert!(error.to_string().ends_with("the branch has moved"), "{error}");

    fresh.repo.git(&["update-ref", "-d", "refs/pull/7/head"]);
    let error = fresh.fetch(Limits::default(), &base_want, &head_want).unwrap_err();
    assert!(matches!(error, GitError::HeadMoved { found: None, .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_the_branch_has_left_is_still_fetched_exactly() {
    let hub = Hub::new().await;
    let (base, head) = simple(&hub.repo);
    let pushed = hub.repo.commit(&[&base], [file("a", "forced")]);
    hub.publish(&base, &pushed);
    let (base, head) = (want(&base, "refs/heads/main"), want(&head, "refs/pull/7/head"));
    let git = hub.fetch(Limits::default(), &base, &head).unwrap();
    assert_eq!(change(&git, &base, &head).head, HeadSha(head.sha.clone()));
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_are_refused_are_tried_again_and_are_in_no_text() {
    let hub = Hub::new().await;
    let (base, head) = simple(&hub.repo);
    let (base, head) = hub.publish(&base, &head);
    let mirror = hub.mirror(Limits::default());
    for authorization in [None, Some("Basic wrong-and-private")] {
        let remote = Remote { authorization: authorization.map(|value| value.to_owned().into()), ..hub.remote() };
        let error = tokio::task::block_in_place(|| mirror.fetch_change(&remote, &base, &head)).unwrap_err();
        assert!(matches!(error, GitError::Refused { .. }), "{error:?}");
        assert_eq!(error.remedy(), Remedy::Retry);
        assert!(!format!("{error} {error:?}").contains("wrong-and-private"));
    }
    let remote = Remote { authorization: Some("Basic x\r\nX-Other: y".to_owned().into()), ..hub.remote() };
    let error = tokio::task::block_in_place(|| mirror.fetch_change(&remote, &base, &head)).unwrap_err();
    assert!(matches!(error, GitError::Authorization), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_passes_is_tried_again_and_what_does_not_is_given_up() {
    let hub = Hub::new().await;
    let (base, head) = simple(&hub.repo);
    let (base, head) = hub.publish(&base, &head);
    for (fault, remedy) in [
        (GitFault::Status(500), Remedy::Retry),
        (GitFault::Status(503), Remedy::Retry),
        (GitFault::Status(429), Remedy::Retry),
        (GitFault::RedirectAway, Remedy::Retry),
        (GitFault::Status(200), Remedy::Retry),
        (GitFault::Status(403), Remedy::Retry),
        (GitFault::Status(404), Remedy::GiveUp),
        (GitFault::Stall, Remedy::Retry),
    ] {
        hub.server.fail_next([fault]);
        let limits = Limits { fetch_time: Duration::from_secs(2), ..Limits::default() };
        let error = hub.fetch(limits, &base, &head).unwrap_err();
        assert_eq!(error.remedy(), remedy, "{fault:?}: {error:?}");
        assert!(!error.to_string().contains("c2VjcmV0"), "{error}");
    }
    let remote = Remote { url: hub.server.url.join("acme/none.git").unwrap(), ..hub.remote() };
    let mirror = hub.mirror(Limits::default());
    let error = tokio::task::block_in_place(|| mirror.fetch_change(&remote, &base, &head)).unwrap_err();
    assert!(matches!(error, GitError::NoSuchRemote { .. }), "{error:?}");
    hub.fetch(Limits::default(), &base, &head).expect("after all these failures the mirror is as good as new");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_listening_is_a_fault_of_the_network() {
    let hub = Hub::new().await;
    let (base, head) = simple(&hub.repo);
    let (base, head) = hub.publish(&base, &head);
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/acme/widgets.git").parse().unwrap();
    let remote = Remote { url, ..hub.remote() };
    let mirror = hub.mirror(Limits::default());
    let error = tokio::task::block_in_place(|| mirror.fetch_change(&remote, &base, &head)).unwrap_err();
    assert!(matches!(error, GitError::Network { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_protocols_and_addresses_with_a_password_are_refused() {
    let hub = Hub::new().await;
    let (base, head) = simple(&hub.repo);
    let (base, head) = hub.publish(&base, &head);
    let mirror = hub.mirror(Limits::default());
    for url in [
        format!("file://{}", hub.repo.dir().display()),
        "ssh://git@127.0.0.1/acme/widgets.git".to_owned(),
        "http://user:private@127.0.0.1/acme/widgets.git".to_owned(),
    ] {
        let remote = Remote { url: url.parse().unwrap(), ..hub.remote() };
        let error = mirror.fetch_change(&remote, &base, &head).unwrap_err();
        assert!(matches!(error, GitError::Address { .. }), "{url}: {error:?}");
        assert!(!error.to_string().contains("private"), "{error}");
    }
    assert_eq!(hub.server.requests(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_share_a_mirror_take_turns() {
    let hub = Hub::new().await;
    let root = hub.repo.commit(&[], [file("a", "1")]);
    let base = hub.repo.chain(&root, 100, &[]);
    let heads: Vec<_> = (0..6).map(|n| hub.repo.chain(&root, 10 + n, &[file("b", n.to_string())])).collect();
    let limits = Limits { first_depth: 3, ..Limits::default() };
    hub.publish(&base, &heads[0]);
    let (mirror, remote) = (hub.mirror(limits), hub.remote());
    tokio::task::block_in_place(|| {
        std::thread::scope(|scope| {
            for head in &heads {
                scope.spawn(|| {
                    let (base, head) = (want(&base, "refs/heads/main"), want(head, "refs/pull/7/head"));
                    let git = mirror.fetch_change(&remote, &base, &head).unwrap();
                    assert_eq!(change(&git, &base, &head).merge_base, MergeBase(root.clone()));
                });
            }
        });
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_that_writes_too_much_is_stopped_with_the_limit_in_its_text() {
    let hub = Hub::new().await;
    let noise = |seed: u32| -> Vec<Item> {
        let mut state = seed;
        let mut byte = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[1]
        };
        (0..2_000).map(|n| file(format!("f{n}-{}", byte()), (0..8).map(|_| byte()).collect::<Vec<_>>())).collect()
    };
    let base = hub.repo.commit(&[], noise(7));
    let head = hub.repo.commit(&[&base], noise(11));
    let (base, head) = hub.publish(&base, &head);
    let error = hub.fetch(Limits { pack_bytes: 10_000, ..Limits::default() }, &base, &head).unwrap_err();
    assert_eq!(error.to_string(), "fetching the pull request: more than 10000 bytes, which is the limit");
    hub.fetch(Limits::default(), &base, &head).unwrap();
}

#[test]
fn a_data_directory_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::fs::write(&data, "a file").unwrap();
    let error = Mirror::open(&data, ForgeKind::Github, RepositoryId(1)).unwrap_err();
    assert!(matches!(error, GitError::Disk { .. }), "{error:?}");
    assert!(error.to_string().contains(data.to_str().unwrap()), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_in_a_mirror_is_found_with_the_contents_that_it_needs() {
    let hub = Hub::new().await;
    let given = file(".gitattributes", "* merge=union\n");
    let root = hub.repo.commit(&[], [file("a", "1\n")]);
    let base = hub.repo.commit(&[&root], [file("a", "2\n")]);
    let head = hub.repo.commit(&[&root], [file("a", "3\n"), given]);
    let (base, head) = hub.publish(&base, &head);
    let git = hub.fetch(Limits::default(), &base, &head).unwrap();
    assert_eq!(change(&git, &base, &head).merged_tree, None);
    let bases = git.merge_bases(&BaseSha(base.sha), &HeadSha(head.sha)).unwrap();
    assert_eq!(bases, [root]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rename_that_only_contents_show_is_merged_in_a_mirror_as_in_a_clone() {
    let hub = Hub::new().await;
    let text = "line\n".repeat(40);
    let others = || (0..20).map(|n| file(format!("other{n}"), n.to_string()));
    let root = hub.repo.commit(&[], others().chain([file("old", &text)]));
    let base =
        hub.repo.commit(&[&root], others().skip(1).chain([file("new", text.clone() + "moved\n"), file("n2", "x")]));
    let head = hub.repo.commit(&[&root], others().chain([file("old", format!("edited\n{text}"))]));
    let expected = hub.repo.change(&base, &head);
    assert!(expected.merged_tree.is_some());
    let (base, head) = hub.publish(&base, &head);
    let git = hub.fetch(Limits::default(), &base, &head).unwrap();
    assert_eq!(change(&git, &base, &head), expected);
}
