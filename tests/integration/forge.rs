//! The GitHub client against a small GitHub that keeps state and fails on request.

mod small_github;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evidence_gate::forge::{
    Annotation, AnnotationLevel, Button, Conclusion, Forge, ForgeError, GitHub, GitHubSettings, GitHubSettingsError,
    NewRun, Output, Pace, PullState, RunUpdate,
};
use evidence_gate::words::{HeadSha, InstallationId, PullNumber, RunId};
use futures::future::join_all;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use small_github::{APP, Fault, INSTALLATION, NOW, PACE, SmallGitHub, keys, pem, sha, widgets};

const ME: Option<InstallationId> = Some(InstallationId(INSTALLATION));
const PULL: PullNumber = PullNumber(7);

fn head() -> HeadSha {
    sha('a').parse().unwrap()
}

fn output(title: &str) -> Output {
    Output { title: title.to_owned(), summary: "what was seen".to_owned(), text: Some("the table".to_owned()) }
}

fn new_run() -> NewRun {
    NewRun { head: head(), external_id: "evaluation-1".to_owned(), output: output("queued") }
}

fn annotations(count: u32) -> Vec<Annotation> {
    let one = |line| Annotation {
        path: "src/lib.rs".to_owned(),
        line,
        end_line: line + 1,
        level: AnnotationLevel::Warning,
        title: "unclassified-path".to_owned(),
        message: format!("line {line}"),
    };
    (1..=count).map(one).collect()
}

fn completed(conclusion: Conclusion, annotations: Vec<Annotation>) -> RunUpdate {
    let buttons = vec![Button { label: "Rescore", description: "Look at it again", identifier: "rescore" }];
    RunUpdate::Completed {
        conclusion,
        output: output("REJECT"),
        annotations,
        fallback: output("short"),
        buttons,
        details: None,
    }
}

/// How many seconds to wait.
fn retry_after(error: &ForgeError) -> u64 {
    match error {
        ForgeError::Retry { after, .. } => after.as_secs(),
        other => panic!("not to be tried again: {other}"),
    }
}

fn gives_up(error: &ForgeError, words: &str) {
    assert!(matches!(error, ForgeError::GiveUp { .. }), "{error:?}");
    assert!(error.to_string().contains(words), "{error}");
}

async fn opened(fake: &SmallGitHub, github: &GitHub) -> RunId {
    let run = github.open_run(&widgets(), ME, &new_run()).await.unwrap();
    assert_eq!(fake.world().run(run.0)["status"], "queued");
    run
}

// Who we are.

#[tokio::test]
async fn a_key_that_is_no_rsa_key_is_refused_in_one_sentence_without_its_bytes() {
    let fake = SmallGitHub::start().await;
    let truncated =
        keys().pkcs1.lines().take(9).chain(["-----END RSA PRIVATE KEY-----"]).collect::<Vec<_>>().join("\n");
    let damaged = pem("RSA PRIVATE KEY", &[7; 600]);
    for text in [
        "",
        "not a key",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
        &keys().public,
        &truncated,
        &damaged,
    ] {
        let settings = GitHubSettings { private_key: text.to_owned().into(), ..fake.settings() };
        let error = GitHub::new(&settings, fake.clock()).unwrap_err();
        assert_eq!(error, GitHubSettingsError::NotAKey, "{text:.30}");
        assert!(!error.to_string().contains('\n') && error.to_string().contains(".pem"), "{error}");
    }
    for text in [&keys().pkcs1, &keys().pkcs8] {
        let settings = GitHubSettings { private_key: format!("\n{text}\n").into(), ..fake.settings() };
        let pull = GitHub::new(&settings, fake.clock()).unwrap().pull(&widgets(), ME, PULL).await;
        assert_eq!(pull.unwrap().number, PULL);
    }
}

#[tokio::test]
async fn an_address_that_would_carry_tokens_in_clear_or_holds_a_password_is_refused() {
    let fake = SmallGitHub::start().await;
    let with = |api: &str| GitHub::new(&GitHubSettings { api: api.parse().unwrap(), ..fake.settings() }, fake.clock());
    assert_eq!(with("http://ghe.example.org/api/v3").unwrap_err(), GitHubSettingsError::InClear { which: "api" });
    assert_eq!(
        with("https://me:hunter2@ghe.example.org/").unwrap_err(),
        GitHubSettingsError::UserInfo { which: "api" }
    );
    assert_eq!(with("http://127.0.0.1:1/?x").unwrap_err(), GitHubSettingsError::QueryOrFragment { which: "api" });
    let git = GitHubSettings { git: "ssh://git@ghe.example.org".parse().unwrap(), ..fake.settings() };
    assert_eq!(GitHub::new(&git, fake.clock()).unwrap_err(), GitHubSettingsError::UserInfo { which: "git" });
    let nameless = GitHubSettings { check_name: " ".to_owned(), ..fake.settings() };
    assert_eq!(GitHub::new(&nameless, fake.clock()).unwrap_err(), GitHubSettingsError::NoCheckName);
}

#[tokio::test]
async fn the_jwt_begins_a_minute_ago_and_ends_in_nine() {
    let fake = SmallGitHub::start().await;
    fake.client().pull(&widgets(), ME, PULL).await.unwrap();
    let world = fake.world();
    let jwt = world.seen[0].authorization.as_deref().unwrap().strip_prefix("Bearer ").unwrap();
    let part = |n: usize| -> Value {
        let text = jwt.split('.').nth(n).unwrap();
        serde_json::from_slice(&base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
    };
    assert_eq!(part(0)["alg"], "RS256");
    assert_eq!(part(1), json!({ "iat": NOW - 60, "exp": NOW + 540, "iss": APP.to_string() }));
}

#[tokio::test]
async fn a_clock_that_is_off_is_corrected_once_by_githubs_own_date() {
    for shift in [900, -900, 86_400] {
        let fake = SmallGitHub::start().await;
        fake.shift_machine(shift);
        let github = fake.client();
        github.pull(&widgets(), ME, PULL).await.unwrap();
        github.open_run(&widgets(), ME, &new_run()).await.unwrap();
        let world = fake.world();
        assert_eq!(world.count("access_tokens"), 3, "one refused mint, two good ones, at {shift} s");
        assert_eq!(world.tokens.len(), 2);
    }
}

#[tokio::test]
async fn a_jwt_that_stays_refused_is_given_up_and_not_tried_forever() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    for _ in 0..2 {
        fake.world().fault(
            "access_tokens",
            Fault::says(401, "'Expiration time' claim ('exp') is too far in the future")
                .with("date", "Fri, 15 Jan 2027 08:00:00 GMT"),
        );
    }
    gives_up(&github.pull(&widgets(), ME, PULL).await.unwrap_err(), "clock");
    let stranger = GitHub::new(&GitHubSettings { app_id: 1, ..fake.settings() }, fake.clock()).unwrap();
    gives_up(
        &stranger.pull(&widgets(), ME, PULL).await.unwrap_err(),
        "check that the App id and the private key belong together",
    );
    assert_eq!(fake.count("access_tokens"), 3);
}

// Tokens.

#[tokio::test]
async fn a_token_is_for_one_repository_and_the_least_permissions() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    github.pull(&widgets(), ME, PULL).await.unwrap();
    github.newest_run(&widgets(), ME, &head()).await.unwrap();
    let world = fake.world();
    let asked = world.bodies("access_tokens");
    assert_eq!(
        asked[0],
        &json!({ "repository_ids": [1001], "permissions": { "contents": "read", "pull_requests": "read" } })
    );
    assert_eq!(asked[1], &json!({ "repository_ids": [1001], "permissions": { "checks": "write" } }));
    assert_eq!(world.lines()[0], "POST /api/v3/app/installations/99/access_tokens");
}

#[tokio::test]
async fn sixteen_callers_at_once_make_one_mint() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    let (repo, calls) = (widgets(), 16);
    let pulls = join_all((0..calls).map(|_| github.pull(&repo, ME, PULL))).await;
    assert!(pulls.iter().all(Result::is_ok));
    assert_eq!(fake.count("access_tokens"), 1);
    assert_eq!(fake.count("/pulls/7"), 16);
}

#[tokio::test]
async fn sixteen_callers_of_a_suspended_installation_ask_once_and_all_learn_it() {
    let fake = SmallGitHub::start().await;
    fake.world().suspended = true;
    let github = fake.client();
    let repo = widgets();
    for result in join_all((0..16).map(|_| github.pull(&repo, ME, PULL))).await {
        gives_up(&result.unwrap_err(), "installation 99 is suspended");
    }
    assert_eq!(fake.count("access_tokens"), 1);

    fake.world().suspended = false;
    github.pull(&repo, ME, PULL).await.expect("the state resumes when the suspension is lifted");
}

#[tokio::test]
async fn a_token_is_replaced_when_less_than_five_minutes_are_left() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    github.pull(&widgets(), ME, PULL).await.unwrap();
    fake.pass(55 * 60);
    github.pull(&widgets(), ME, PULL).await.unwrap();
    assert_eq!(fake.world().tokens.len(), 1);
    fake.pass(1);
    github.pull(&widgets(), ME, PULL).await.unwrap();
    assert_eq!(fake.world().tokens.len(), 2);
}

#[tokio::test]
async fn a_revoked_token_is_replaced_once_and_the_call_repeated_even_if_it_writes() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    github.newest_run(&widgets(), ME, &head()).await.unwrap();
    fake.pass(60);
    fake.world().tokens.clear();
    opened(&fake, &github).await;
    assert_eq!(fake.count("POST /api/v3/repos/acme/widgets/check-runs"), 2);
    assert_eq!(fake.world().runs.len(), 1);
    assert_eq!(fake.count("access_tokens"), 2);
}

#[tokio::test]
async fn a_token_that_github_does_not_know_everywhere_yet_is_tried_again_without_a_new_one() {
    let fake = SmallGitHub::start().await;
    fake.world().fresh_tokens_unknown_for = 2;
    let github = fake.client();
    github.pull(&widgets(), ME, PULL).await.unwrap();
    assert_eq!(fake.count("access_tokens"), 1);
    assert_eq!(fake.count("/pulls/7"), 3);
}

#[tokio::test]
async fn a_token_that_stays_refused_ends_in_a_later_try_and_not_in_a_loop() {
    let fake = SmallGitHub::start().await;
    fake.world().fresh_tokens_unknown_for = 1000;
    let error = fake.client().pull(&widgets(), ME, PULL).await.unwrap_err();
    assert_eq!(retry_after(&error), 60);
    assert_eq!((fake.count("access_tokens"), fake.count("/pulls/7")), (2, 5));
}

#[tokio::test]
async fn an_installation_that_is_gone_or_was_never_there_is_named() {
    let fake = SmallGitHub::start().await;
    fake.world().installed = false;
    let github = fake.client();
    gives_up(&github.pull(&widgets(), ME, PULL).await.unwrap_err(), "installation 99 does not exist any more");
    gives_up(&github.pull(&widgets(), None, PULL).await.unwrap_err(), "not installed on acme/widgets");
}

#[tokio::test]
async fn an_installation_that_the_trigger_does_not_name_is_looked_up_once() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    github.pull(&widgets(), None, PULL).await.unwrap();
    github.remote(&widgets(), None).await.unwrap();
    assert_eq!(fake.count("GET /api/v3/repos/acme/widgets/installation"), 1);

    let suspended = SmallGitHub::start().await;
    suspended.world().suspended = true;
    gives_up(&suspended.client().pull(&widgets(), None, PULL).await.unwrap_err(), "suspended");
}

#[tokio::test]
async fn a_permission_that_was_not_granted_is_named_with_where_to_grant_it() {
    let fake = SmallGitHub::start().await;
    fake.world().fault("/pulls/7", Fault::says(403, "Resource not accessible by integration"));
    let error = fake.client().pull(&widgets(), ME, PULL).await.unwrap_err();
    gives_up(&error, "`pull requests: read`");
    gives_up(&error, "accepted by the installation's owner");
}

// What is read.

#[tokio::test]
async fn a_pull_request_is_read_as_it_is() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    let pull = github.pull(&widgets(), ME, PULL).await.unwrap();
    assert_eq!((pull.state, pull.draft, pull.changed_files), (PullState::Open, false, 2));
    assert_eq!((pull.head_branch.as_str(), pull.base_branch.as_str()), ("feature/x", "release/1.x"));
    assert_eq!((pull.head, pull.author.login.as_str()), (head(), "octocat"));
    assert_eq!(pull.labels, ["evidence-edit"]);
    assert_eq!(pull.head_repo.unwrap().as_str(), "octocat/widgets");
    assert_eq!(pull.repo_name.as_str(), "acme/widgets");

    fake.world().pull["head"]["repo"] = Value::Null;
    fake.world().pull["state"] = "closed".into();
    let pull = github.pull(&widgets(), ME, PULL).await.unwrap();
    assert_eq!((pull.head_repo, pull.state), (None, PullState::Closed));

    fake.world().pull["state"] = "merging".into();
    gives_up(&github.pull(&widgets(), ME, PULL).await.unwrap_err(), "`state` is \"merging\"");
}

#[tokio::test]
async fn every_request_says_who_asks_and_for_which_version_of_the_api() {
    let fake = SmallGitHub::start().await;
    fake.client().pull(&widgets(), ME, PULL).await.unwrap();
    for seen in &fake.world().seen {
        assert!(seen.headers["user-agent"].starts_with("evidence-gate/"), "{seen:?}");
        assert_eq!(seen.headers["accept"], "application/vnd.github+json");
        assert_eq!(seen.headers["x-github-api-version"], "2022-11-28");
        assert!(seen.authorization.is_some());
    }
}

#[tokio::test]
async fn the_tip_of_a_branch_with_a_slash_is_read_and_no_other_branch_taken_for_it() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    let tip = github.branch_tip(&widgets(), ME, "release/1.x").await.unwrap();
    assert_eq!(tip.id().as_str(), sha('c'));
    let missing = github.branch_tip(&widgets(), ME, "release/2.x").await.unwrap_err();
    assert!(matches!(missing, ForgeError::NotFound { .. }));
    let other = json!({ "ref": "refs/heads/release/1.x-old", "object": { "type": "commit", "sha": sha('d') } });
    fake.world().fault("git/ref", Fault::Answer(200, Vec::new(), other.to_string()));
    gives_up(&github.branch_tip(&widgets(), ME, "release/1.x").await.unwrap_err(), "`ref`");
}

#[tokio::test]
async fn git_gets_a_clean_address_and_a_header_that_can_read_and_not_publish() {
    let fake = SmallGitHub::start().await;
    let remote = fake.client().remote(&widgets(), ME).await.unwrap();
    assert_eq!(remote.url.as_str(), format!("http://{}/git/acme/widgets.git", fake.address));
    assert_eq!((remote.head_ref)(PULL), "refs/pull/7/head");
    let authorization = remote.authorization.as_ref().unwrap().expose_secret();
    let pair = STANDARD.decode(authorization.strip_prefix("Basic ").unwrap()).unwrap();
    let token = String::from_utf8(pair).unwrap().strip_prefix("x-access-token:").unwrap().to_owned();
    assert!(fake.world().tokens.contains_key(&token));
    assert!(fake.world().bodies("access_tokens")[0]["permissions"].get("checks").is_none());
    assert!(!format!("{remote:?}").contains(authorization));
}

// Redirects and names.

#[tokio::test]
async fn a_renamed_repository_is_followed_on_the_same_host_with_the_token_and_its_new_name_read() {
    let fake = SmallGitHub::start().await;
    fake.world().name = "acme/gadgets".to_owned();
    let github = fake.client();
    let pull = github.pull(&widgets(), ME, PULL).await.unwrap();
    assert_eq!(pull.repo_name.as_str(), "acme/gadgets");
    opened(&fake, &github).await;
    let world = fake.world();
    assert_eq!(world.count("GET /api/v3/repositories/1001/pulls/7"), 1);
    let posted = world.seen.iter().find(|seen| seen.line == "POST /api/v3/repositories/1001/check-runs").unwrap();
    assert_eq!(posted.body["external_id"], "evaluation-1");
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed_and_gets_no_token() {
    let (fake, elsewhere) = (SmallGitHub::start().await, SmallGitHub::start().await);
    let github = fake.client();
    for status in [301, 302, 307, 308] {
        let to = format!("http://me:pw@{}/api/v3/repos/acme/widgets/pulls/7", elsewhere.address);
        fake.world().fault("/pulls/7", Fault::Answer(status, vec![("location", to)], String::new()));
        let error = github.pull(&widgets(), ME, PULL).await.unwrap_err();
        gives_up(&error, "not the API's host");
        assert!(!error.to_string().contains("pw"), "{error}");
    }
    assert!(elsewhere.world().seen.is_empty());
}

#[tokio::test]
async fn redirects_in_a_circle_end() {
    let fake = SmallGitHub::start().await;
    for _ in 0..10 {
        let here = "/api/v3/repos/acme/widgets/pulls/7".to_owned();
        fake.world().fault("/pulls/7", Fault::Answer(302, vec![("location", here)], String::new()));
    }
    gives_up(&fake.client().pull(&widgets(), ME, PULL).await.unwrap_err(), "more than three");
    assert_eq!(fake.count("/pulls/7"), 4);
}

#[tokio::test]
async fn a_name_that_another_repository_took_over_is_refused_by_its_id() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    github.pull(&widgets(), ME, PULL).await.unwrap();
    fake.world().repository = 2002;
    gives_up(&github.pull(&widgets(), ME, PULL).await.unwrap_err(), "another repository by now");
}

// Limits.

#[tokio::test]
async fn a_long_limit_is_handed_to_the_queue_and_nothing_is_sent_until_it_ends() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    fake.world()
        .fault("/pulls/7", Fault::says(403, "You have exceeded a secondary rate limit").with("retry-after", "120"));
    assert_eq!(retry_after(&github.pull(&widgets(), ME, PULL).await.unwrap_err()), 120);
    fake.pass(20);
    assert_eq!(retry_after(&github.open_run(&widgets(), ME, &new_run()).await.unwrap_err()), 100);
    assert_eq!((fake.count("/pulls/7"), fake.count("check-runs")), (1, 0));
    fake.pass(100);
    github.pull(&widgets(), ME, PULL).await.unwrap();
}

#[tokio::test]
async fn a_limit_without_a_header_is_waited_for_a_minute_and_then_two() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    for seconds in [60, 120, 240] {
        fake.world().fault("/pulls/7", Fault::says(403, "You have exceeded a secondary rate limit. Please wait."));
        let error = github.pull(&widgets(), ME, PULL).await.unwrap_err();
        assert_eq!(retry_after(&error), seconds);
        fake.pass(i64::try_from(seconds).unwrap());
    }
    github.pull(&widgets(), ME, PULL).await.unwrap();
    fake.world().fault("/pulls/7", Fault::says(429, ""));
    let error = github.pull(&widgets(), ME, PULL).await.unwrap_err();
    assert_eq!(retry_after(&error), 60, "a request that went through ends the series");
}

#[tokio::test]
async fn the_primary_limit_is_waited_for_until_its_reset_even_after_an_accepted_answer() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    fake.world().headers =
        vec![("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", (NOW + 600).to_string())];
    github.pull(&widgets(), ME, PULL).await.expect("the last one went through");
    let asked = fake.world().seen.len();
    assert_eq!(retry_after(&github.pull(&widgets(), ME, PULL).await.unwrap_err()), 600);
    assert_eq!(fake.world().seen.len(), asked);
}

#[tokio::test]
async fn a_short_limit_is_waited_out_in_place_even_for_a_write() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    fake.world()
        .fault("POST /api/v3/repos/acme/widgets/check-runs", Fault::says(429, "slow down").with("retry-after", "0"));
    opened(&fake, &github).await;
    assert_eq!(fake.world().runs.len(), 1);
}

#[tokio::test]
async fn writes_of_one_installation_go_one_at_a_time_with_a_pause_between() {
    let fake = SmallGitHub::start().await;
    let pause = Duration::from_millis(40);
    let github = fake.client_at(Pace { between_writes: pause, ..PACE });
    let (repo, run) = (widgets(), new_run());
    for made in join_all((0..5).map(|_| github.open_run(&repo, ME, &run))).await {
        made.unwrap();
    }
    let world = fake.world();
    let posts: Vec<_> = world.seen.iter().filter(|seen| seen.line.ends_with("/check-runs")).collect();
    assert_eq!(posts.len(), 5);
    for pair in posts.windows(2) {
        assert!(pair[1].at - pair[0].at >= pause, "{:?}", pair[1].at - pair[0].at);
    }
}

// Faults.

#[tokio::test]
async fn a_read_is_repeated_over_faults_and_a_write_never() {
    for fault in [Fault::says(500, "oops"), Fault::says(502, ""), Fault::Cut] {
        let fake = SmallGitHub::start().await;
        let github = fake.client();
        for _ in 0..2 {
            fake.world().fault("/pulls/7", fault.clone());
        }
        github.pull(&widgets(), ME, PULL).await.expect("the third time it works");

        fake.world().fault("POST /api/v3/repos/acme/widgets/check-runs", fault);
        let error = github.open_run(&widgets(), ME, &new_run()).await.unwrap_err();
        assert!(retry_after(&error) >= 10);
        assert!(error.to_string().contains("not known"), "{error}");
        assert_eq!(fake.count("POST /api/v3/repos/acme/widgets/check-runs"), 1);
    }
}

#[tokio::test]
async fn a_read_that_keeps_failing_is_handed_to_the_queue() {
    let fake = SmallGitHub::start().await;
    for _ in 0..9 {
        fake.world().fault("/pulls/7", Fault::says(503, "unavailable").with("retry-after", "90"));
    }
    assert_eq!(retry_after(&fake.client().pull(&widgets(), ME, PULL).await.unwrap_err()), 90);
    assert_eq!(fake.count("/pulls/7"), 3);
}

#[tokio::test]
async fn a_run_whose_creation_got_lost_on_the_way_back_is_found_by_its_external_id() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    fake.world().fault("POST /api/v3/repos/acme/widgets/check-runs", Fault::DoneThenCut);
    retry_after(&github.open_run(&widgets(), ME, &new_run()).await.unwrap_err());
    let found = github.find_run(&widgets(), ME, &head(), "evaluation-1").await.unwrap().unwrap();
    assert_eq!((found.completed, found.external_id.as_deref()), (false, Some("evaluation-1")));
    assert_eq!(github.find_run(&widgets(), ME, &head(), "evaluation-2").await.unwrap(), None);
    assert_eq!(fake.world().runs.len(), 1);
}

#[tokio::test]
async fn an_answer_that_does_not_come_or_does_not_end_is_no_answer() {
    let fake = SmallGitHub::start().await;
    let github = fake.client_at(Pace { request_timeout: Duration::from_millis(60), ..PACE });
    for _ in 0..3 {
        fake.world().fault("/pulls/7", Fault::Hang);
    }
    let error = github.pull(&widgets(), ME, PULL).await.unwrap_err();
    assert!(error.to_string().contains("no answer within"), "{error}");
    retry_after(&error);

    let large = format!("\"{}\"", "x".repeat(17 << 20));
    fake.world().fault("/pulls/7", Fault::Answer(200, Vec::new(), large));
    gives_up(&fake.client().pull(&widgets(), ME, PULL).await.unwrap_err(), "larger than 16 MiB");
}

#[tokio::test]
async fn a_forge_that_is_not_there_is_tried_again_later() {
    let fake = SmallGitHub::start().await;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = GitHubSettings { api: format!("http://{nobody}/").parse().unwrap(), ..fake.settings() };
    let error = GitHub::new(&settings, fake.clock()).unwrap().pull(&widgets(), ME, PULL).await.unwrap_err();
    assert!(error.to_string().contains("the connection failed: Connection refused"), "{error}");
    retry_after(&error);
}

#[tokio::test]
async fn what_is_not_there_what_is_refused_and_what_is_garbage_are_told_apart() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    let missing = github.pull(&widgets(), ME, PullNumber(404)).await.unwrap_err();
    assert!(matches!(missing, ForgeError::NotFound { .. }));
    fake.world().fault("check-runs", Fault::says(422, "No commit found for SHA"));
    gives_up(&github.open_run(&widgets(), ME, &new_run()).await.unwrap_err(), "(422): No commit found for SHA");
    fake.world().fault("/pulls/7", Fault::Answer(200, Vec::new(), "<html>".to_owned()));
    let garbage = github.pull(&widgets(), ME, PULL).await.unwrap_err();
    assert!(garbage.to_string().contains("not JSON"), "{garbage}");
    retry_after(&garbage);
    fake.world().fault("/pulls/7", Fault::Answer(200, Vec::new(), "[]".to_owned()));
    gives_up(&github.pull(&widgets(), ME, PULL).await.unwrap_err(), "another shape");
}

// Runs.

#[tokio::test]
async fn a_run_is_created_queued_with_the_evaluations_id_on_the_head() {
    let fake = SmallGitHub::start().await;
    let run = opened(&fake, &fake.client()).await;
    let world = fake.world();
    let output = json!({ "title": "queued", "summary": "what was seen", "text": "the table" });
    let wanted = json!({
        "name": "evidence-gate", "head_sha": sha('a'), "external_id": "evaluation-1", "status": "queued", "output": output,
    });
    assert_eq!(world.bodies("POST /api/v3/repos/acme/widgets/check-runs"), [&wanted]);
    assert_eq!(world.run(run.0)["head_sha"], sha('a'));
}

#[tokio::test]
async fn the_newest_run_is_the_largest_id_of_ours_over_all_pages() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    assert_eq!(github.newest_run(&widgets(), ME, &head()).await.unwrap(), None);
    let ours = {
        let mut world = fake.world();
        world.page_size = 2;
        for _ in 0..3 {
            world.add_run(APP, "evidence-gate", &sha('a'), "old", "completed");
        }
        let ours = world.add_run(APP, "evidence-gate", &sha('a'), "", "in_progress");
        world.add_run(APP, "another-check", &sha('a'), "x", "queued");
        world.add_run(APP, "evidence-gate", &sha('f'), "another head", "queued");
        world.add_run(15368, "evidence-gate", &sha('a'), "a workflow that took our name", "completed");
        // Newest first on some servers, oldest first on others: neither decides.
        world.runs.reverse();
        ours
    };
    let newest = github.newest_run(&widgets(), ME, &head()).await.unwrap().unwrap();
    assert_eq!((newest.id, newest.completed, newest.external_id), (RunId(ours), false, None));
    let world = fake.world();
    let pages: Vec<_> = world.seen.iter().filter(|seen| seen.line.contains("/check-runs?")).collect();
    assert_eq!(pages.len(), 1 + 3);
    assert!(pages[1].line.contains("check_name=evidence-gate&app_id=4711&filter=all"), "{}", pages[1].line);
    assert!(pages[2].line.starts_with("GET /api/v3/repositories/1001/"), "{}", pages[2].line);
    assert!(pages.iter().all(|page| page.authorization == pages[0].authorization && page.authorization.is_some()));
}

#[tokio::test]
async fn a_next_page_on_another_host_is_an_error_and_not_a_shorter_list() {
    let (fake, elsewhere) = (SmallGitHub::start().await, SmallGitHub::start().await);
    let next = format!("<http://{}/api/v3/repositories/1001/page2>; rel=\"next\"", elsewhere.address);
    fake.world().fault("/check-runs?", Fault::Answer(200, vec![("link", next)], r#"{"check_runs":[]}"#.to_owned()));
    gives_up(&fake.client().newest_run(&widgets(), ME, &head()).await.unwrap_err(), "not the API's host");
    assert!(elsewhere.world().seen.is_empty());
}

#[tokio::test]
async fn a_run_goes_from_queued_to_in_progress_once() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    let run = opened(&fake, &github).await;
    for _ in 0..2 {
        github.update_run(&widgets(), ME, run, &RunUpdate::Started).await.unwrap();
    }
    let world = fake.world();
    assert_eq!(world.bodies("PATCH"), [&json!({ "status": "in_progress", "started_at": "2027-01-15T08:00:00Z" })]);
    assert_eq!(world.run(run.0)["status"], "in_progress");
}

#[tokio::test]
async fn a_completed_run_is_never_reopened_and_never_gets_another_conclusion() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    let run = opened(&fake, &github).await;
    let rejected = completed(Conclusion::Failure, annotations(3));
    github.update_run(&widgets(), ME, run, &rejected).await.unwrap();
    let writes = fake.count("PATCH");
    gives_up(&github.update_run(&widgets(), ME, run, &RunUpdate::Started).await.unwrap_err(), "never reopened");
    let success = completed(Conclusion::Success, Vec::new());
    gives_up(&github.update_run(&widgets(), ME, run, &success).await.unwrap_err(), "another conclusion than success");
    github.update_run(&widgets(), ME, run, &rejected).await.expect("the same end again is done already");
    assert_eq!(fake.count("PATCH"), writes);
}

#[tokio::test]
async fn a_run_that_is_not_ours_is_left_alone() {
    let fake = SmallGitHub::start().await;
    let foreign = fake.world().add_run(15368, "evidence-gate", &sha('a'), "", "queued");
    let error = fake.client().update_run(&widgets(), ME, RunId(foreign), &RunUpdate::Started).await.unwrap_err();
    gives_up(&error, "not made by this App");
    assert_eq!(fake.count("PATCH"), 0);
}

/// For each PATCH: how many annotations, and the conclusion if it carries one.
fn patches(fake: &SmallGitHub) -> Vec<(usize, Option<String>)> {
    let world = fake.world();
    let one = |body: &&Value| {
        let annotations = body["output"]["annotations"].as_array().map_or(0, Vec::len);
        (annotations, body.get("conclusion").map(|word| word.as_str().unwrap().to_owned()))
    };
    world.bodies("PATCH").iter().map(one).collect()
}

#[tokio::test]
async fn a_blocking_conclusion_goes_with_the_first_batch_and_a_success_with_the_last() {
    let said = |word: &str| Some(word.to_owned());
    for (conclusion, wanted) in [
        (Conclusion::Failure, vec![(50, said("failure")), (50, None), (20, None)]),
        (Conclusion::ActionRequired, vec![(50, said("action_required")), (50, None), (20, None)]),
        (Conclusion::Success, vec![(50, None), (50, None), (20, said("success"))]),
    ] {
        let fake = SmallGitHub::start().await;
        let github = fake.client();
        let run = opened(&fake, &github).await;
        github.update_run(&widgets(), ME, run, &completed(conclusion, annotations(120))).await.unwrap();
        assert_eq!(patches(&fake), wanted);
        let world = fake.world();
        let shown = world.run(run.0);
        assert_eq!((&shown["status"], &shown["output"]["annotations_count"]), (&json!("completed"), &json!(120)));
        let concluding =
            world.bodies("PATCH").into_iter().find(|body| body.get("conclusion").is_some()).unwrap().clone();
        assert_eq!(concluding["completed_at"], "2027-01-15T08:00:00Z");
        assert_eq!(
            concluding["actions"],
            json!([{ "label": "Rescore", "description": "Look at it again", "identifier": "rescore" }])
        );
        let first = &world.bodies("PATCH")[0]["output"]["annotations"][0];
        let wanted = json!({
            "path": "src/lib.rs", "start_line": 1, "end_line": 2, "annotation_level": "warning",
            "title": "unclassified-path", "message": "line 1",
        });
        assert_eq!(first, &wanted);
    }
}

#[tokio::test]
async fn a_completion_that_was_cut_off_goes_on_where_it_stopped() {
    for conclusion in [Conclusion::Success, Conclusion::Failure] {
        let fake = SmallGitHub::start().await;
        let github = fake.client();
        let run = opened(&fake, &github).await;
        let end = completed(conclusion, annotations(120));
        fake.world().fault("PATCH", Fault::DoneThenCut);
        retry_after(&github.update_run(&widgets(), ME, run, &end).await.unwrap_err());
        github.update_run(&widgets(), ME, run, &end).await.unwrap();
        let world = fake.world();
        let shown = world.run(run.0);
        assert_eq!((&shown["status"], &shown["output"]["annotations_count"]), (&json!("completed"), &json!(120)));
        let starts: Vec<_> =
            world.bodies("PATCH").iter().map(|b| b["output"]["annotations"][0]["start_line"].clone()).collect();
        assert_eq!(starts, [1, 51, 101]);
    }
}

#[tokio::test]
async fn a_success_is_not_said_before_every_annotation_was_taken() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    let run = opened(&fake, &github).await;
    fake.world().fault("PATCH", Fault::says(500, "oops"));
    let end = completed(Conclusion::Success, annotations(51));
    retry_after(&github.update_run(&widgets(), ME, run, &end).await.unwrap_err());
    assert_eq!(fake.world().run(run.0)["conclusion"], Value::Null);
}

#[tokio::test]
async fn a_report_that_github_refuses_is_replaced_once_by_the_short_one() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    let run = opened(&fake, &github).await;
    let end = completed(Conclusion::Failure, annotations(60));
    fake.world().fault("PATCH", Fault::says(422, "summary exceeds a maximum bytesize of 65535"));
    github.update_run(&widgets(), ME, run, &end).await.unwrap();
    assert_eq!(patches(&fake), [(50, Some("failure".to_owned())), (0, Some("failure".to_owned()))]);
    assert_eq!(fake.world().run(run.0)["output"]["title"], "short");

    let second = github.open_run(&widgets(), ME, &new_run()).await.unwrap();
    for _ in 0..2 {
        fake.world().fault("PATCH", Fault::says(422, "Validation Failed"));
    }
    gives_up(&github.update_run(&widgets(), ME, second, &end).await.unwrap_err(), "Validation Failed");
    assert_eq!(patches(&fake).len(), 4);
}

#[tokio::test]
async fn annotations_refused_behind_the_conclusion_leave_the_report_standing() {
    let fake = SmallGitHub::start().await;
    let github = fake.client();
    let run = opened(&fake, &github).await;
    let last = Fault::says(422, "annotations invalid");
    fake.world().fault("PATCH", Fault::says(429, "wait").with("retry-after", "0"));
    github.update_run(&widgets(), ME, run, &completed(Conclusion::Failure, annotations(50))).await.unwrap();
    fake.world().fault("PATCH", last);
    github.update_run(&widgets(), ME, run, &completed(Conclusion::Failure, annotations(60))).await.unwrap();
    let world = fake.world();
    assert_eq!(world.run(run.0)["output"]["title"], "REJECT");
    assert_eq!(world.run(run.0)["output"]["annotations_count"], 50);
}

// Secrets.

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_secret_is_in_any_error_debug_text_or_log_line() {
    let written = Written::default();
    let writer = written.clone();
    let log =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(log);

    let fake = SmallGitHub::start().await;
    fake.world().echo = true;
    let github = fake.client();
    let mut shown = vec![format!("{github:?} {:?}", fake.settings())];
    shown.push(format!("{:?}", github.remote(&widgets(), ME).await.unwrap()));
    for status in [400, 401, 403, 404, 409, 418, 422, 429, 500] {
        for words in ["/pulls/7", "access_tokens", "check-runs", "installation"] {
            fake.world().fault(
                words,
                Fault::says(status, "you sent ECHO, Basic dXNlcjpodW50ZXIy, ghs_0123456789012345678901234567890123456"),
            );
            let client = fake.client();
            for error in [
                client.pull(&widgets(), None, PULL).await.err(),
                client.open_run(&widgets(), ME, &new_run()).await.err(),
            ] {
                shown.push(format!("{error:?} {}", error.as_ref().map(ToString::to_string).unwrap_or_default()));
            }
        }
    }
    for body in ["{\"number\":\"ECHO\"}", "ECHO", "{\"message\":\"ECHO\"}"] {
        fake.world().fault("/pulls/7", Fault::Answer(200, Vec::new(), body.to_owned()));
        shown.push(format!("{:?}", github.pull(&widgets(), ME, PULL).await.unwrap_err()));
    }
    shown.push(String::from_utf8(written.0.lock().unwrap().clone()).unwrap());

    let world = fake.world();
    let mut secrets: Vec<SecretString> = world.tokens.keys().map(|token| token.clone().into()).collect();
    secrets.extend(
        world
            .seen
            .iter()
            .filter_map(|seen| seen.authorization.clone()?.split(' ').next_back().map(|s| s.to_owned().into())),
    );
    secrets.extend(keys().pkcs1.lines().filter(|line| line.len() == 64).map(|line| line.to_owned().into()));
    assert!(secrets.len() > 40);
    for secret in &secrets {
        let encoded = STANDARD.encode(format!("x-access-token:{}", secret.expose_secret()));
        for text in &shown {
            assert!(!text.contains(secret.expose_secret()) && !text.contains(&encoded), "a secret in {text:.400}");
        }
    }
    assert!(shown.iter().any(|text| text.contains("you sent")), "GitHub's own words are repeated, cleaned");
    assert!(!shown.iter().any(|text| text.contains("ghs_0123456789")));
}
