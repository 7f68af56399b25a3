//! `evidence-gate coverage push`: a map from a CI job to the gate.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use crate::config;
use crate::desk::{Failure, out};
use crate::forge::{self, HttpsAnswer, HttpsError, HttpsRequest};
use crate::maps::{self, Grain};
use crate::score::visible;
use crate::words::{ForgeKind, ObjectId};

/// The variable that holds GitLab's token, as docs/coverage.md has a job declare it.
const GITLAB_TOKEN: &str = "EVIDENCE_GATE_ID_TOKEN";

/// How often it is tried, and how long is waited after the first try; twice as long after each further one.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// How long one upload may take, and one question for a token.
const UPLOAD_WITHIN: Duration = Duration::from_mins(15);
const TOKEN_WITHIN: Duration = Duration::from_secs(30);

/// What to push, and where to. What is not said is read from the variables that GitHub Actions and GitLab CI set in a job.
#[derive(Clone, Debug, clap::Args)]
pub struct PushArgs {
    /// The map, packed or not.
    #[arg(value_name = "MAP")]
    pub map: PathBuf,
    /// The gate's public address, such as `https://gate.example.com`.
    #[arg(long, value_name = "URL")]
    pub url: Url,
    /// What the token is asked for; the gate's `maps.audience`. Without it the gate's address as it is given.
    #[arg(long, value_name = "TEXT")]
    pub audience: Option<String>,
    /// `github` or `gitlab`.
    #[arg(long, value_name = "FORGE", value_parser = forge_kind)]
    pub forge: Option<ForgeKind>,
    /// The forge's number of the repository.
    #[arg(long, value_name = "NUMBER")]
    pub repository: Option<u64>,
    /// The commit on which the tests ran, in full.
    #[arg(long, value_name = "SHA")]
    pub sha: Option<ObjectId>,
    /// A file with a token of the gate's operator, or with one that the CI issued; never the token itself.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

fn forge_kind(text: &str) -> Result<ForgeKind, String> {
    match text {
        "github" => Ok(ForgeKind::Github),
        "gitlab" => Ok(ForgeKind::Gitlab),
        _ => Err("github and gitlab are the forges that there are".to_owned()),
    }
}

/// Where a map goes.
struct Target {
    url: Url,
    forge: ForgeKind,
    sha: ObjectId,
}

/// Why one try did not work.
enum NotPushed {
    /// Another try may work, after this time where it was said.
    Later(String, Option<Duration>),
    Never(Failure),
}

/// Does it.
pub(super) fn push(args: &PushArgs) -> Result<(), Failure> {
    let environment = config::environment();
    let target = target(args, &environment)?;
    let bytes = checked(args, &target.sha)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Ours(format!("cannot start the runtime: {error}")))?;
    let said = runtime.block_on(persistently(args, &environment, &target, &bytes))?;
    out::print(&format!("{}\n", visible(&said)))
}

/// A variable that is set to something.
fn set<'e>(environment: &'e BTreeMap<String, String>, name: &str) -> Option<&'e str> {
    environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
}

fn target(args: &PushArgs, environment: &BTreeMap<String, String>) -> Result<Target, Failure> {
    if !config::is_private(&args.url) {
        let why = "--url must begin with https:// (http:// is for loopback only), or the token would travel in clear";
        return Err(Failure::Usage(why.to_owned()));
    }
    let forge = args.forge.or_else(|| {
        let is = |name| set(environment, name) == Some("true");
        if is("GITHUB_ACTIONS") { Some(ForgeKind::Github) } else { is("GITLAB_CI").then_some(ForgeKind::Gitlab) }
    });
    let forge =
        forge.ok_or_else(|| Failure::Usage("this is no job of a CI that is known: name the --forge".to_owned()))?;
    let (number, commit) = match forge {
        ForgeKind::Gitlab => ("CI_PROJECT_ID", "CI_COMMIT_SHA"),
        ForgeKind::Github | ForgeKind::Local => ("GITHUB_REPOSITORY_ID", "GITHUB_SHA"),
    };
    let repository = match args.repository {
        Some(repository) => repository,
        None => set(environment, number).and_then(|text| text.parse().ok()).ok_or_else(|| {
            Failure::Usage(format!("name the --repository by its number: `{number}` is not set to one"))
        })?,
    };
    let sha = match &args.sha {
        Some(sha) => sha.clone(),
        None => set(environment, commit)
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| Failure::Usage(format!("name the commit with --sha: `{commit}` is not set to one")))?,
    };
    let mut url = args.url.clone();
    let segments = ["v1", forge.as_str(), &repository.to_string(), "coverage", sha.as_str()];
    url.path_segments_mut().expect("an http address has a path").pop_if_empty().extend(segments);
    Ok(Target { url, forge, sha })
}

/// Reads the map as the gate will, so that whoever runs the job hears what is wrong with it; and packs it if it is not.
fn checked(args: &PushArgs, sha: &ObjectId) -> Result<Bytes, Failure> {
    let shown = args.map.display();
    let map = maps::read_map_file(&args.map)?;
    if let Grain::TooCoarse(why) = map.grain() {
        return Err(Failure::BadInput(visible(&format!("{shown} says nothing of single tests: {why}"))));
    }
    if let Some(named) = map.about.base_sha.as_deref().filter(|named| *named != sha.as_str()) {
        let why = format!("{shown} is a map of {named}, and {sha} is pushed; make it in the same job, after the tests");
        return Err(Failure::BadInput(visible(&why)));
    }
    let bytes = std::fs::read(&args.map).map_err(|source| Failure::read(shown, source))?;
    let is_packed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    if is_packed {
        return Ok(bytes.into());
    }
    let packed = zstd::encode_all(bytes.as_slice(), 0)
        .map_err(|error| Failure::Ours(format!("cannot pack the map: {error}")))?;
    Ok(packed.into())
}

/// Tries until it works, or until it cannot.
async fn persistently(
    args: &PushArgs,
    environment: &BTreeMap<String, String>,
    target: &Target,
    bytes: &Bytes,
) -> Result<String, Failure> {
    let mut pause = PAUSE;
    for tries in 1.. {
        match once(args, environment, target, bytes).await {
            Ok(said) => return Ok(said),
            Err(NotPushed::Never(failure)) => return Err(failure),
            Err(NotPushed::Later(why, _)) if tries == TRIES => {
                return Err(Failure::OutOfReach(visible(&format!(
                    "the map was not pushed after {TRIES} tries: {why}"
                ))));
            }
            Err(NotPushed::Later(why, after)) => {
                let wait = after.unwrap_or(pause).clamp(pause, LONGEST_PAUSE);
                out::tell(&format!("{why}; trying again in {} s", wait.as_secs()));
                tokio::time::sleep(wait).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
    unreachable!("the loop ends with its last try")
}

async fn once(
    args: &PushArgs,
    environment: &BTreeMap<String, String>,
    target: &Target,
    bytes: &Bytes,
) -> Result<String, NotPushed> {
    // A token for each try: those of a job live for minutes.
    let token = token(args, environment, target.forge).await?;
    let request = HttpsRequest {
        method: Method::PUT,
        url: target.url.clone(),
        bearer: Some(token),
        headers: vec![(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"))],
        body: bytes.clone(),
        within: UPLOAD_WITHIN,
    };
    let answer = forge::send(request).await.map_err(not_sent)?;
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let reason = said["reason"].as_str().unwrap_or("it gave no reason");
    match answer.status {
        StatusCode::ACCEPTED => Ok(format!("the map of {} is at the gate and waits for its worker", target.sha)),
        StatusCode::OK => Ok(format!("the map of {} was at the gate before", target.sha)),
        status if may_work_later(status) => Err(later("the gate", &answer, reason)),
        status => {
            let why = format!("the gate refused the map ({}): {reason}", status.as_u16());
            Err(NotPushed::Never(Failure::BadInput(visible(&why))))
        }
    }
}

/// The token: of the file, of GitHub Actions, or of GitLab CI.
async fn token(
    args: &PushArgs,
    environment: &BTreeMap<String, String>,
    forge: ForgeKind,
) -> Result<SecretString, NotPushed> {
    if let Some(path) = &args.token_file {
        let read = std::fs::read_to_string(path).map_err(|source| Failure::read(path.display(), source));
        return Ok(SecretString::from(read.map_err(NotPushed::Never)?.trim().to_owned()));
    }
    let audience = args.audience.clone().unwrap_or_else(|| args.url.as_str().trim_end_matches('/').to_owned());
    if forge == ForgeKind::Gitlab {
        let token = set(environment, GITLAB_TOKEN).ok_or_else(|| {
            let why =
                format!("the job has no token: declare `id_tokens: {{ {GITLAB_TOKEN}: {{ aud: {audience} }} }}` in it");
            NotPushed::Never(Failure::Usage(why))
        })?;
        return Ok(SecretString::from(token));
    }
    let (Some(url), Some(bearer)) =
        (set(environment, "ACTIONS_ID_TOKEN_REQUEST_URL"), set(environment, "ACTIONS_ID_TOKEN_REQUEST_TOKEN"))
    else {
        let why = "the job may not ask for a token: give it `permissions: id-token: write`, or name a --token-file";
        return Err(NotPushed::Never(Failure::Usage(why.to_owned())));
    };
    asked(url, bearer, &audience).await
}

/// Asks GitHub for the job's token,
/// <https://docs.github.com/en/actions/reference/security/oidc#methods-for-requesting-the-oidc-token>.
async fn asked(url: &str, bearer: &str, audience: &str) -> Result<SecretString, NotPushed> {
    let never = |why: String| NotPushed::Never(Failure::OutOfReach(why));
    let mut url: Url = url.parse().map_err(|_| never("`ACTIONS_ID_TOKEN_REQUEST_URL` is no address".to_owned()))?;
    url.query_pairs_mut().append_pair("audience", audience);
    let request = HttpsRequest {
        method: Method::GET,
        url,
        bearer: Some(SecretString::from(bearer)),
        headers: vec![(header::ACCEPT, HeaderValue::from_static("application/json"))],
        body: Bytes::new(),
        within: TOKEN_WITHIN,
    };
    let answer = forge::send(request).await.map_err(not_sent)?;
    if may_work_later(answer.status) {
        return Err(later("GitHub's issuer of tokens", &answer, "it has no token now"));
    }
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match said["value"].as_str() {
        Some(token) if answer.status == StatusCode::OK => Ok(SecretString::from(token)),
        _ => Err(never(format!("GitHub's issuer of tokens answered {} and gave none", answer.status.as_u16()))),
    }
}

fn may_work_later(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429)
}

fn later(who: &str, answer: &HttpsAnswer, reason: &str) -> NotPushed {
    NotPushed::Later(format!("{who} answered {}: {reason}", answer.status.as_u16()), answer.retry_after)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
fn not_sent(error: HttpsError) -> NotPushed {
    let why = error.to_string();
    match error {
        HttpsError::Timeout { .. } | HttpsError::Connection { .. } => NotPushed::Later(why, None),
        HttpsError::InClear | HttpsError::NoCertificates | HttpsError::Header(_) | HttpsError::TooLarge { .. } => {
            NotPushed::Never(Failure::OutOfReach(why))
        }
    }
}
