//! Uploads of coverage maps: who may, and what is kept of which bytes.

use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use evidence_gate::config::{Maps, Settings};
use evidence_gate::delivery::{
    Doorkeeper, Kept, KeySource, NotKept, Upload, UploadLimits, UploadStore, Uploads, WrongUploads, uploads,
};
use evidence_gate::forge::Issuers;
use evidence_gate::maps::{Depot, Room};
use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use secrecy::SecretString;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::door::drawn_secret;
use crate::issuer::{AUDIENCE, Issuer, Mood};

const COMMIT: &str = "c0ffee00000000000000000000000000000000a7";
const MAP: &str = r#"{"schema": 2, "tests": {"t.py::a": {"src/a.py": "1-3"}}}"#;
const WIDGETS: u64 = 10;

/// The depot of a data directory, without a worker behind it.
struct Store(Depot, Room);

#[async_trait]
impl UploadStore for Store {
    fn scratch(&self) -> std::io::Result<NamedTempFile> {
        self.0.scratch()
    }

    async fn keep(&self, upload: Upload, packed: NamedTempFile) -> Result<Kept, NotKept> {
        self.0.keep(&upload, packed, &self.1)
    }
}

/// A receiver that takes maps of one issuer's jobs.
struct Intake {
    issuer: Issuer,
    folder: tempfile::TempDir,
    address: std::net::SocketAddr,
    now: Arc<Mutex<Timestamp>>,
    client: reqwest::Client,
    own_token: String,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Intake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn small() -> UploadLimits {
    UploadLimits { packed: 4096, silence: Duration::from_secs(20), ..UploadLimits::default() }
}

fn settings(text: &str) -> Maps {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Settings::load(Some(file.path()), &std::collections::BTreeMap::new()).unwrap().maps
}

impl Intake {
    async fn open() -> Self {
        Self::with(small(), "").await
    }

    async fn with(limits: UploadLimits, more: &str) -> Self {
        let issuer = Issuer::start().await;
        let folder = tempfile::tempdir().unwrap();
        let origin = issuer.origin.clone();
        let maps = settings(&format!(
            r#"[maps]
audience = "{AUDIENCE}"
[[maps.issuers]]
forge = "github"
issuer = "{origin}"
owners = [5]
{more}
[[maps.issuers]]
forge = "gitlab"
issuer = "{origin}"
owners = [5]
[[maps.tokens]]
file = "/etc/upload-token"
forge = "github"
repository = {WIDGETS}
name = "acme/widgets"
"#
        ));
        let own_token = drawn_secret();
        let source: Arc<dyn KeySource> = Arc::new(Issuers { within: Duration::from_millis(300) });
        let doorkeeper = Doorkeeper::new(&maps, vec![SecretString::from(own_token.clone())], &source).unwrap();
        let now = Arc::new(Mutex::new("2026-03-01T12:00:00Z".parse().unwrap()));
        let clock = Arc::clone(&now);
        let room = Room { unpacked: 64 * 1024, pending: 1 << 20 };
        let router = uploads(Uploads {
            doorkeeper: doorkeeper.map(Arc::new),
            store: Arc::new(Store(Depot::below(folder.path()), room)),
            clock: Arc::new(move || *clock.lock().unwrap()),
            limits,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { issuer, folder, address, now, client, own_token, task }
    }

    fn later(&self, by: SignedDuration) {
        let mut now = self.now.lock().unwrap();
        *now += by;
    }

    fn claims(&self) -> Value {
        self.issuer.github(WIDGETS, COMMIT, *self.now.lock().unwrap())
    }

    async fn put(&self, token: &str, map: impl Into<Vec<u8>>) -> (u16, Value) {
        self.put_to(&format!("/v1/github/{WIDGETS}/coverage/{COMMIT}"), token, map).await
    }

    async fn put_to(&self, path: &str, token: &str, map: impl Into<Vec<u8>>) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let sent = self.client.put(url).bearer_auth(token).body(map.into()).send().await.unwrap();
        let status = sent.status().as_u16();
        assert_eq!(sent.headers().contains_key("retry-after"), status == 503);
        (status, sent.json().await.unwrap())
    }

    /// What is kept, and what was left lying about.
    fn kept(&self) -> Vec<String> {
        let folder = self.folder.path().join("uploads");
        let left = std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        let files: Vec<_> = left.filter(|path| path.is_file()).collect();
        assert!(files.is_empty(), "nothing half is left: {files:?}");
        Depot::below(self.folder.path()).waiting().unwrap().into_iter().map(|one| one.digest).collect()
    }
}

fn changed(mut claims: Value, change: &[(&str, Value)]) -> Value {
    for (name, value) in change {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(*name);
        } else {
            claims[*name] = value.clone();
        }
    }
    claims
}

#[tokio::test]
async fn a_map_of_a_job_on_the_branch_is_kept_as_pending_with_who_brought_it() {
    let intake = Intake::open().await;
    let (status, said) = intake.put(&intake.issuer.sign(&intake.claims()), MAP).await;
    assert_eq!((status, &said["outcome"]), (202, &json!("pending")), "{said}");
    let [receipt] = &Depot::below(intake.folder.path()).waiting().unwrap()[..] else { panic!("one map is kept") };
    assert_eq!(json!(receipt.digest), said["sha256"]);
    assert_eq!(receipt.repository.name.as_str(), "acme/widgets");
    assert_eq!(receipt.by.reference.as_deref(), Some("refs/heads/main"));
    assert_eq!(receipt.by.what, "run 77 of acme/widgets/.github/workflows/coverage.yml@refs/heads/main");
    let (status, said) = intake.put(&intake.issuer.sign(&intake.claims()), MAP).await;
    assert_eq!((status, &said["outcome"]), (200, &json!("duplicate")));
    assert_eq!((intake.kept().len(), intake.issuer.asked()), (1, 1), "the keys are asked for once");
}

#[tokio::test]
async fn a_job_of_gitlab_may_upload_and_a_merge_request_pipeline_may_not() {
    let intake = Intake::open().await;
    let path = format!("/v1/gitlab/22/coverage/{COMMIT}");
    let claims = || intake.issuer.gitlab(22, COMMIT, *intake.now.lock().unwrap());
    let (status, said) = intake.put_to(&path, &intake.issuer.sign(&claims()), MAP).await;
    assert_eq!(status, 202, "{said}");
    for (change, words) in [
        (vec![("pipeline_source", json!("merge_request_event"))], "merge_request_event"),
        (vec![("project_id", json!("23"))], "23"),
        (vec![("namespace_id", json!("6"))], "owners"),
        (vec![("ref_type", json!("tag"))], "tag"),
        (
            vec![("ci_config_ref_uri", json!("gitlab.example.com/mallory/ci//x.yml@refs/heads/main"))],
            "ci_config_ref_uri",
        ),
        (vec![("ci_config_ref_uri", Value::Null)], "ci_config_ref_uri"),
    ] {
        let (status, said) = intake.put_to(&path, &intake.issuer.sign(&changed(claims(), &change)), MAP).await;
        assert!(status == 403 && said["reason"].as_str().unwrap().contains(words), "{change:?}: {status} {said}");
    }
    assert_eq!(intake.kept().len(), 1);
}

#[tokio::test]
async fn a_token_that_is_good_for_something_else_is_refused_with_the_reason() {
    let intake = Intake::open().await;
    let now = intake.now.lock().unwrap().as_second();
    let fork = "mallory/widgets/.github/workflows/coverage.yml@refs/heads/main";
    let branch = "acme/widgets/.github/workflows/coverage.yml@refs/heads/other";
    for (change, words) in [
        (vec![("aud", json!("https://elsewhere.example.com"))], "audience"),
        (vec![("aud", json!([AUDIENCE, "https://elsewhere.example.com"]))], "audience"),
        (vec![("aud", Value::Null)], "audience"),
        (vec![("exp", json!(now - 61))], "expired"),
        (vec![("exp", Value::Null)], "exp"),
        (vec![("nbf", json!(now + 61))], "not valid yet"),
        (vec![("iat", json!(now + 61))], "not valid yet"),
        (vec![("iat", Value::Null)], "iat"),
        (vec![("repository_id", json!("11"))], "repository 11"),
        (vec![("repository_owner_id", json!("6"))], "owners"),
        (vec![("sha", json!("1".repeat(40)))], "sha"),
        (vec![("workflow_ref", json!(fork))], "workflow_ref"),
        (vec![("job_workflow_ref", json!(fork))], "job_workflow_ref"),
        (vec![("workflow_ref", json!(branch))], "workflow_ref"),
        (vec![("event_name", json!("pull_request"))], "pull_request"),
        (vec![("event_name", json!("pull_request_target"))], "pull_request_target"),
        (vec![("ref", json!("refs/pull/7/merge"))], "no branch"),
        (vec![("ref_type", json!("tag"))], "tag"),
        (vec![("jti", Value::Null)], "jti"),
    ] {
        let (status, said) = intake.put(&intake.issuer.sign(&changed(intake.claims(), &change)), MAP).await;
        let told = said["reason"].as_str().unwrap();
        assert!(status == 403 && told.contains(words), "{change:?}: {status} {said}");
    }
    let other = changed(intake.claims(), &[("sub", json!("repo:acme@5/widgets@10:whatever"))]);
    assert_eq!(intake.put(&intake.issuer.sign(&other), MAP).await.0, 202, "`sub` decides nothing (R70)");
}

#[tokio::test]
async fn a_token_whose_signature_does_not_hold_is_refused_and_all_of_them_look_alike() {
    let intake = Intake::open().await;
    let claims = intake.claims();
    let good = intake.issuer.sign(&claims);
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let unsigned = format!("{}.{}.", part(&json!({"alg": "none", "typ": "JWT", "kid": "first"})), part(&claims));
    let symmetric = Header { kid: Some("first".to_owned()), ..Header::new(Algorithm::HS256) };
    let public = intake.issuer.public_pem();
    let with_public_key =
        jsonwebtoken::encode(&symmetric, &claims, &EncodingKey::from_secret(public.as_bytes())).unwrap();
    let mut parts: Vec<&str> = good.split('.').collect();
    let other = part(&changed(claims.clone(), &[("repository_id", json!("11"))]));
    parts[1] = &other;
    let rewritten = parts.join(".");
    let elsewhere = intake.issuer.sign(&changed(claims.clone(), &[("iss", json!("https://issuer.example.com"))]));
    let stranger = Issuer::start().await;
    let another_key = stranger.sign(&claims);
    stranger.rotates_to("unknown");
    let unknown_key = stranger.sign(&claims);
    let mut answers = std::collections::BTreeSet::new();
    for (fault, token) in [
        ("none", unsigned),
        ("HS256 with the public key", with_public_key),
        ("other claims", rewritten),
        ("an issuer that is not ours", elsewhere),
        ("another key under a known name", another_key),
        ("an unknown key", unknown_key),
        ("cut", good[..good.len() - 2].to_owned()),
        ("garbage", "a.b.c".to_owned()),
        ("a token of the operator's that is not one", drawn_secret()),
        ("very long", "x".repeat(20_000)),
    ] {
        intake.later(SignedDuration::from_secs(11));
        let (status, said) = intake.put(&token, MAP).await;
        assert_eq!(status, 401, "{fault}: {said}");
        answers.insert(said.to_string());
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(intake.kept().is_empty());
}

#[tokio::test]
async fn an_upload_without_a_token_and_one_to_no_place_are_refused() {
    let intake = Intake::open().await;
    let url = format!("http://{}/v1/github/{WIDGETS}/coverage/{COMMIT}", intake.address);
    let sent = intake.client.put(url).body(MAP).send().await.unwrap();
    assert_eq!(sent.status().as_u16(), 401);
    let token = intake.issuer.sign(&intake.claims());
    for path in ["/v1/local/10/coverage/", "/v1/github/ten/coverage/", "/v1/github/10/coverage/0"] {
        let (status, said) = intake.put_to(&format!("{path}{COMMIT}"), &token, MAP).await;
        assert_eq!((status, &said["outcome"]), (400, &json!("bad_address")), "{path}");
    }
    assert!(intake.kept().is_empty());
}

#[tokio::test]
async fn new_keys_are_used_as_soon_as_a_token_names_one_and_old_ones_end() {
    let intake = Intake::open().await;
    let old = intake.issuer.sign(&intake.claims());
    assert_eq!(intake.put(&old, MAP).await.0, 202);
    intake.issuer.rotates_to("second");
    // Whoever made the gate ask a moment ago makes nobody's token bad.
    assert_eq!(intake.put(&intake.issuer.sign(&intake.claims()), MAP).await.0, 503);
    intake.later(SignedDuration::from_secs(11));
    assert_eq!(intake.put(&intake.issuer.sign(&intake.claims()), MAP).await.0, 200);
    assert_eq!(intake.put(&old, MAP).await.0, 503, "an unknown key is asked for at most once in a while");
    intake.later(SignedDuration::from_secs(11));
    assert_eq!(intake.put(&old, MAP).await.0, 401);
    assert_eq!(intake.issuer.asked(), 3);
}

#[tokio::test]
async fn an_issuer_that_is_down_silent_or_garbled_makes_the_upload_wait_and_loses_nothing() {
    let intake = Intake::open().await;
    for mood in [Mood::Down, Mood::Silent, Mood::Garbled] {
        intake.issuer.is(mood);
        let (status, said) = intake.put(&intake.issuer.sign(&intake.claims()), MAP).await;
        assert_eq!((status, &said["outcome"]), (503, &json!("keys_unavailable")), "{mood:?}");
        intake.later(SignedDuration::from_secs(11));
    }
    intake.issuer.is(Mood::Well);
    assert_eq!(intake.put(&intake.issuer.sign(&intake.claims()), MAP).await.0, 202);
    // Keys that are known hold for a day without their issuer, and no longer.
    intake.issuer.is(Mood::Down);
    intake.later(SignedDuration::from_hours(23));
    assert_eq!(intake.put(&intake.issuer.sign(&intake.claims()), MAP).await.0, 200);
    intake.later(SignedDuration::from_hours(2));
    assert_eq!(intake.put(&intake.issuer.sign(&intake.claims()), MAP).await.0, 503);
    assert_eq!(intake.kept().len(), 1);
}

#[tokio::test]
async fn a_workflow_of_another_repository_may_upload_where_it_is_named() {
    let shared = "acme/ci/.github/workflows/coverage.yml@refs/heads/main";
    let own = "acme/widgets/.github/workflows/coverage.yml@refs/heads/main";
    let more = format!("workflows = [{shared:?}, {own:?}]\nrunners = \"hosted\"\nevents = [\"schedule\"]");
    let intake = Intake::with(small(), &more).await;
    let scheduled = [("event_name", json!("schedule")), ("job_workflow_ref", json!(shared))];
    let claims = || changed(intake.claims(), &scheduled);
    assert_eq!(intake.put(&intake.issuer.sign(&claims()), MAP).await.0, 202);
    for change in [
        [("workflow_ref", json!("acme/widgets/.github/workflows/other.yml@refs/heads/main"))],
        [("runner_environment", json!("self-hosted"))],
        [("event_name", json!("push"))],
    ] {
        let (status, said) = intake.put(&intake.issuer.sign(&changed(claims(), &change)), MAP).await;
        assert_eq!(status, 403, "{change:?}: {said}");
    }
}

#[tokio::test]
async fn a_token_of_the_operators_is_good_for_its_repository_only() {
    let intake = Intake::open().await;
    assert_eq!(intake.put(&intake.own_token, MAP).await.0, 202);
    let (status, said) = intake.put_to(&format!("/v1/github/11/coverage/{COMMIT}"), &intake.own_token, MAP).await;
    assert_eq!((status, &said["outcome"]), (403, &json!("forbidden")));
    let path = format!("/v1/gitlab/{WIDGETS}/coverage/{COMMIT}");
    assert_eq!(intake.put_to(&path, &intake.own_token, MAP).await.0, 403);
}

#[tokio::test]
async fn one_token_brings_one_map() {
    let intake = Intake::open().await;
    let token = intake.issuer.sign(&intake.claims());
    assert_eq!(intake.put(&token, MAP).await.0, 202);
    assert_eq!(intake.put(&token, MAP).await.0, 200, "the answer may have been lost");
    let other = MAP.replace("1-3", "1-4");
    let (status, said) = intake.put(&token, other.clone()).await;
    assert_eq!((status, &said["outcome"]), (409, &json!("token_used")));
    assert_eq!(
        intake.put(&intake.issuer.sign(&intake.claims()), other).await.0,
        202,
        "a shard with a token of its own"
    );
    assert_eq!(intake.kept().len(), 2);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[tokio::test]
async fn a_map_may_come_packed_and_one_that_is_cut_off_or_too_large_is_refused_whole() {
    let intake = Intake::open().await;
    let packed = gzip(MAP.as_bytes());
    let bomb = gzip(&vec![b' '; 65 * 1024]);
    let cut = packed[..packed.len() - 9].to_vec();
    let squeezed = zstd::encode_all(MAP.as_bytes(), 0).unwrap();
    let cut_zstd = squeezed[..squeezed.len() - 5].to_vec();
    for (what, map, expected) in [
        ("gzip", packed, (202, "pending")),
        ("zstd", squeezed, (202, "pending")),
        ("a gzip that is cut off", cut, (400, "damaged")),
        ("a zstd that is cut off", cut_zstd, (400, "damaged")),
        ("65 kB out of a few bytes", bomb, (413, "too_large")),
        ("more than is taken as it is", vec![b' '; 4097], (413, "too_large")),
        ("nothing", Vec::new(), (400, "broken")),
    ] {
        let (status, said) = intake.put(&intake.issuer.sign(&intake.claims()), map).await;
        assert_eq!((status, said["outcome"].as_str().unwrap()), expected, "{what}: {said}");
    }
    assert_eq!(intake.kept().len(), 2);
}

#[tokio::test]
async fn an_encoding_that_is_not_read_is_refused_by_name() {
    let intake = Intake::open().await;
    let url = format!("http://{}/v1/github/{WIDGETS}/coverage/{COMMIT}", intake.address);
    let token = intake.issuer.sign(&intake.claims());
    let sent =
        intake.client.put(url).bearer_auth(token).header("content-encoding", "br").body("x").send().await.unwrap();
    assert_eq!(sent.status().as_u16(), 415);
    assert!(sent.text().await.unwrap().contains("br"));
}

#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing_behind() {
    let intake = Intake::open().await;
    let token = intake.issuer.sign(&intake.claims());
    for framing in ["content-length: 1000", "transfer-encoding: chunked"] {
        let mut stream = TcpStream::connect(intake.address).await.unwrap();
        let head = format!(
            "PUT /v1/github/{WIDGETS}/coverage/{COMMIT} HTTP/1.1\r\nhost: gate\r\nauthorization: Bearer {token}\r\n{framing}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(b"8\r\n{\"schema\r\n").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.is_empty() || answer.contains("400"), "{framing}: {answer}");
        assert!(intake.kept().is_empty(), "{framing}");
    }
}

#[tokio::test]
async fn when_all_places_are_taken_the_next_one_comes_again() {
    let intake = Intake::with(UploadLimits { at_once: 0, ..small() }, "").await;
    let (status, said) = intake.put(&intake.issuer.sign(&intake.claims()), MAP).await;
    assert_eq!((status, &said["outcome"]), (503, &json!("busy")));
}

#[test]
fn a_configuration_that_would_let_everybody_in_is_refused() {
    let source: Arc<dyn KeySource> = Arc::new(Issuers::default());
    let check = |text: &str| Doorkeeper::new(&settings(text), vec![SecretString::from("short")], &source).err();
    assert_eq!(check(""), None);
    assert_eq!(check("[[maps.issuers]]\nforge = \"github\"\nowners = [5]\n"), Some(WrongUploads::NoAudience));
    let with = |more: &str| format!("[maps]\naudience = \"a\"\n[[maps.issuers]]\nforge = \"github\"\n{more}");
    let issuer = "https://token.actions.githubusercontent.com".to_owned();
    assert_eq!(check(&with("")), Some(WrongUploads::NoOwners { issuer }));
    let issuer = "http://ghes.example.com/_services/token".to_owned();
    let clear = with(&format!("owners = [5]\nissuer = {issuer:?}\n"));
    assert_eq!(check(&clear), Some(WrongUploads::ClearKeys { issuer }));
    let token = "[[maps.tokens]]\nfile = \"/t\"\nforge = \"github\"\nrepository = 1\nname = \"a/b\"\n";
    assert_eq!(check(token), Some(WrongUploads::ShortToken { file: "/t".to_owned(), length: 5 }));
}
