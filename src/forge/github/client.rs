//! [`Forge`] for GitHub.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, Method, StatusCode, header};
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use url::Url;

use super::answer::{Answer, Asked};
use super::auth::Signer;
use super::http::{Http, Request};
use super::lane::Lanes;
use super::settings::{GitHubSettings, GitHubSettingsError, Pace};
use super::shapes::{PullShape, RefShape, RunShape, RunsShape};
use super::tokens::{App, Key, Scope, Token};
use super::wire::{Repeat, Wire};
use crate::forge::{
    Account, Annotation, AnnotationLevel, Button, Clock, Conclusion, Forge, ForgeError, NewRun, Output, PostedRun,
    Pull, PullCommit, Remote, Review, RunUpdate,
};
use crate::words::{BaseSha, HeadSha, InstallationId, PullNumber, RepoRef, Role, RunId};

/// GitHub takes no more annotations in one request (R43).
const ANNOTATIONS_PER_REQUEST: usize = 50;
/// Fifty runs with full texts stay under the bound on an answer's size.
const RUNS_PER_PAGE: &str = "50";
/// A thousand runs of one name are kept per suite. More pages than this are an error and not a shorter list.
const MOST_PAGES: usize = 40;

/// GitHub, or a GitHub Enterprise Server, as one GitHub App sees it. Share it behind an `Arc`: it keeps the tokens, and each
/// installation's turn to write.
pub struct GitHub {
    pub(super) wire: Wire,
    pub(super) app: App,
    pub(super) lanes: Lanes,
    pub(super) app_id: u64,
    pub(super) check_name: String,
    git: Url,
    /// Lists, as they were last read.
    pub(super) known: moka::future::Cache<String, super::conditional::Known>,
}

/// Addresses and names only.
impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitHub")
            .field("app_id", &self.app_id)
            .field("check_name", &self.check_name)
            .field("git", &self.git.as_str())
            .finish_non_exhaustive()
    }
}

impl GitHub {
    /// A client, and no request yet. Must be called within a tokio runtime.
    ///
    /// Fails when the key is no RSA key in PEM form, when an address would carry tokens in clear or holds user information, and
    /// when https is asked for on a machine without certificate authorities.
    pub fn new(settings: &GitHubSettings, clock: Clock) -> Result<Self, GitHubSettingsError> {
        settings.check()?;
        let signer = Signer::new(settings.app_id, &settings.private_key)?;
        let http = Http::new(&settings.api, settings.pace.request_timeout)?;
        Ok(Self {
            wire: Wire { http, pace: settings.pace, clock },
            app: App::new(signer),
            lanes: Lanes::default(),
            app_id: settings.app_id,
            check_name: settings.check_name.clone(),
            git: settings.git.clone(),
            known: super::conditional::pages(),
        })
    }

    pub(super) async fn key(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        scope: Scope,
    ) -> Result<Key, ForgeError> {
        let installation = match installation {
            Some(id) => id,
            None => self.app.installation(&self.wire, &self.lanes, repo).await?,
        };
        Ok(Key { installation, repository: repo.id, scope })
    }

    pub(super) async fn token(&self, key: Key, refused: Option<&Arc<Token>>) -> Result<Arc<Token>, ForgeError> {
        self.app.token(&self.wire, &self.lanes, key, refused).await
    }

    pub(super) fn repo_url(&self, repo: &RepoRef, rest: &[&str]) -> Url {
        let mut segments = vec!["repos", repo.name.owner(), repo.name.name()];
        segments.extend(rest);
        self.wire.http.url(&segments)
    }

    /// Sends a request with the installation's token, in the installation's turn if it writes. A refused token is waited for
    /// while it is fresh and replaced once (R84); both are safe for a write too, since a 401 did nothing.
    pub(super) async fn call(&self, key: Key, call: Call<'_>) -> Result<Answer, ForgeError> {
        self.call_if(key, call, None).await
    }

    /// The same; with an `etag` the answer may be 304 with nothing in it.
    pub(super) async fn call_if(&self, key: Key, call: Call<'_>, etag: Option<&str>) -> Result<Answer, ForgeError> {
        let lane = self.lanes.of(Some(key.installation));
        let (mut turn, repeat) =
            if call.method == Method::GET { (None, Repeat::Safe) } else { (Some(lane.turn().await), Repeat::Never) };
        let Pace { fresh_token, .. } = self.wire.pace;
        let mut fresh_waits = VecDeque::from([fresh_token, fresh_token * 2, fresh_token * 4]);
        let mut replaced = false;
        let mut token = self.token(key, None).await?;
        loop {
            let request = Request {
                method: call.method.clone(),
                url: call.url.clone(),
                authorization: Some(&token.bearer),
                body: call.body,
                etag,
            };
            let answer = self.wire.send(&lane, turn.as_mut(), &request, repeat, call.doing).await?;
            if answer.status != StatusCode::UNAUTHORIZED {
                return Ok(answer);
            }
            if token.is_fresh(self.app.now(&self.wire))
                && let Some(wait) = fresh_waits.pop_front()
            {
                tokio::time::sleep(wait).await;
            } else if replaced {
                let why = "GitHub refuses a token that it has just minted (401)".to_owned();
                return Err(ForgeError::Retry { doing: call.doing, why, after: std::time::Duration::from_mins(1) });
            } else {
                replaced = true;
                token = self.token(key, Some(&token)).await?;
            }
        }
    }

    pub(super) async fn get(&self, key: Key, url: Url, doing: &'static str) -> Result<Answer, ForgeError> {
        let answer = self.call(key, Call { method: Method::GET, url, body: None, doing }).await?;
        answer.accepted(asked(key, doing))
    }

    /// All runs of ours on this head, oldest first. Every page is asked with the token (R88).
    async fn our_runs(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        head: &HeadSha,
    ) -> Result<Vec<PostedRun>, ForgeError> {
        const DOING: &str = "list the check runs";
        let key = self.key(repo, installation, Scope::Checks).await?;
        let mut url = self.repo_url(repo, &["commits", head.id().as_str(), "check-runs"]);
        url.query_pairs_mut()
            .append_pair("check_name", &self.check_name)
            .append_pair("app_id", &self.app_id.to_string())
            .append_pair("filter", "all")
            .append_pair("per_page", RUNS_PER_PAGE);
        let mut runs = Vec::new();
        for _ in 0..MOST_PAGES {
            let answer = self.get(key, url.clone(), DOING).await?;
            let page: RunsShape = answer.json(DOING)?;
            for run in page.check_runs.into_iter().filter(|run| run.is_ours(self.app_id, &self.check_name)) {
                runs.push(run.into_posted(DOING)?);
            }
            let Some(next) = next_page(&url, &answer.headers) else {
                runs.retain(|run| run.head == *head);
                runs.sort_by_key(|run| run.id);
                return Ok(runs);
            };
            url = next;
        }
        let why = format!("more than {MOST_PAGES} pages of check runs on one commit");
        Err(ForgeError::GiveUp { doing: DOING, why })
    }

    /// The run as it is now, if it is ours.
    async fn our_run(&self, key: Key, url: &Url) -> Result<RunShape, ForgeError> {
        const DOING: &str = "read the check run";
        let run: RunShape = self.get(key, url.clone(), DOING).await?.json(DOING)?;
        if run.is_ours(self.app_id, &self.check_name) {
            return Ok(run);
        }
        let why = format!("check run {} was not made by this App under this name; left alone", run.id);
        Err(ForgeError::GiveUp { doing: DOING, why })
    }

    async fn start(&self, key: Key, url: Url) -> Result<(), ForgeError> {
        const DOING: &str = "start the check run";
        let run = self.our_run(key, &url).await?;
        if run.is_in_progress() {
            return Ok(());
        }
        if run.into_posted(DOING)?.completed {
            let why = "the run is completed, and a completed run is never reopened; open a new one".to_owned();
            return Err(ForgeError::GiveUp { doing: DOING, why });
        }
        let body = json!({ "status": "in_progress", "started_at": self.moment() });
        let answer = self.patch(key, &url, &body, DOING).await?;
        answer.accepted(asked(key, DOING)).map(drop)
    }

    async fn complete(&self, key: Key, url: Url, end: End<'_>) -> Result<(), ForgeError> {
        const DOING: &str = "complete the check run";
        let run = self.our_run(key, &url).await?;
        // What an earlier try already brought in is not sent again, since GitHub appends.
        let taken = run.annotations().min(end.annotations.len());
        let run = run.into_posted(DOING)?;
        let said = conclusion_word(end.conclusion);
        if run.completed && run.conclusion.as_deref() != Some(said) {
            let why =
                format!("the run is completed with another conclusion than {said}; a new evaluation is a new run");
            return Err(ForgeError::GiveUp { doing: DOING, why });
        }
        for batch in batches(end.conclusion, &end.annotations[taken..], run.completed) {
            let answer = self.patch(key, &url, &self.completion(&end, &batch), DOING).await?;
            if answer.status != StatusCode::UNPROCESSABLE_ENTITY {
                answer.accepted(asked(key, DOING))?;
                continue;
            }
            let said = answer.said();
            if batch.follows_the_conclusion {
                tracing::warn!(check_run.id = %run.id, "GitHub refuses annotations (422): {said}; the report stands without them");
                return Ok(());
            }
            tracing::warn!(check_run.id = %run.id, "GitHub refuses the report (422): {said}; sending the short one");
            let body = self.conclusion(&end, end.fallback);
            return self.patch(key, &url, &body, DOING).await?.accepted(asked(key, DOING)).map(drop);
        }
        Ok(())
    }

    async fn patch(&self, key: Key, url: &Url, body: &Value, doing: &'static str) -> Result<Answer, ForgeError> {
        self.call(key, Call { method: Method::PATCH, url: url.clone(), body: Some(body), doing }).await
    }

    fn completion(&self, end: &End<'_>, batch: &Batch<'_>) -> Value {
        let mut body = if batch.concludes {
            let mut body = self.conclusion(end, end.output);
            body["actions"] = end.buttons.iter().map(button_json).collect();
            body
        } else {
            json!({ "output": output_json(end.output) })
        };
        if !batch.annotations.is_empty() {
            body["output"]["annotations"] = batch.annotations.iter().map(annotation_json).collect();
        }
        body
    }

    fn conclusion(&self, end: &End<'_>, output: &Output) -> Value {
        let mut body = json!({
            "status": "completed",
            "conclusion": conclusion_word(end.conclusion),
            "completed_at": self.moment(),
            "output": output_json(output),
        });
        if let Some(details) = end.details {
            body["details_url"] = details.into();
        }
        body
    }

    /// Now, by GitHub's clock as far as we know it, in whole seconds as its API writes them.
    pub(super) fn moment(&self) -> String {
        let now = self.app.now(&self.wire);
        Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
    }
}

#[async_trait]
impl Forge for GitHub {
    async fn pull(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
    ) -> Result<Pull, ForgeError> {
        const DOING: &str = "read the pull request";
        let key = self.key(repo, installation, Scope::Read).await?;
        let url = self.repo_url(repo, &["pulls", &pull.to_string()]);
        let shape: PullShape = self.get(key, url, DOING).await?.json(DOING)?;
        if shape.repository() != repo.id {
            let why = format!(
                "{} is another repository by now: it has id {}, the job is for {}",
                repo.name,
                shape.repository(),
                repo.id
            );
            return Err(ForgeError::GiveUp { doing: DOING, why });
        }
        let read = shape.into_pull(DOING)?;
        if read.number != pull {
            let why = format!("asked for pull request {pull}, got {}", read.number);
            return Err(ForgeError::GiveUp { doing: DOING, why });
        }
        Ok(read)
    }

    async fn branch_tip(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        branch: &str,
    ) -> Result<BaseSha, ForgeError> {
        const DOING: &str = "read the tip of the target branch";
        let key = self.key(repo, installation, Scope::Read).await?;
        let rest: Vec<&str> = ["git", "ref", "heads"].into_iter().chain(branch.split('/')).collect();
        let found: RefShape = self.get(key, self.repo_url(repo, &rest), DOING).await?.json(DOING)?;
        found.into_tip(DOING, branch)
    }

    async fn role(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        login: &str,
    ) -> Result<Option<Role>, ForgeError> {
        self.role_of(repo, installation, login).await
    }

    async fn reviews(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
    ) -> Result<Vec<Review>, ForgeError> {
        self.reviews_of(repo, installation, pull).await
    }

    async fn label_setter(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
        label: &str,
    ) -> Result<Option<Account>, ForgeError> {
        self.label_setter_of(repo, installation, pull, label).await
    }

    async fn pull_commits(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
    ) -> Result<Vec<PullCommit>, ForgeError> {
        self.commits_of(repo, installation, pull).await
    }

    async fn remote(&self, repo: &RepoRef, installation: Option<InstallationId>) -> Result<Remote, ForgeError> {
        let key = self.key(repo, installation, Scope::Read).await?;
        let token = self.token(key, None).await?;
        let mut url = self.git.clone();
        url.path_segments_mut()
            .expect("an http address has a path")
            .pop_if_empty()
            .extend([repo.name.owner(), &format!("{}.git", repo.name.name())]);
        let pair = STANDARD.encode(format!("x-access-token:{}", token.secret.expose_secret()));
        Ok(Remote { url, authorization: Some(format!("Basic {pair}").into()), head_ref })
    }

    async fn open_run(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        run: &NewRun,
    ) -> Result<RunId, ForgeError> {
        const DOING: &str = "create the check run";
        let key = self.key(repo, installation, Scope::Checks).await?;
        let body = json!({
            "name": self.check_name,
            "head_sha": run.head.id().as_str(),
            "external_id": run.external_id,
            "status": "queued",
            "output": output_json(&run.output),
        });
        let url = self.repo_url(repo, &["check-runs"]);
        let answer = self.call(key, Call { method: Method::POST, url, body: Some(&body), doing: DOING }).await?;
        let made: RunShape = answer.accepted(asked(key, DOING))?.json(DOING)?;
        Ok(RunId(made.id))
    }

    async fn find_run(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        head: &HeadSha,
        external_id: &str,
    ) -> Result<Option<PostedRun>, ForgeError> {
        let runs = self.our_runs(repo, installation, head).await?;
        Ok(runs.into_iter().rfind(|run| run.external_id.as_deref() == Some(external_id)))
    }

    async fn newest_run(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        head: &HeadSha,
    ) -> Result<Option<PostedRun>, ForgeError> {
        Ok(self.our_runs(repo, installation, head).await?.pop())
    }

    async fn update_run(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        run: RunId,
        update: &RunUpdate,
    ) -> Result<(), ForgeError> {
        let key = self.key(repo, installation, Scope::Checks).await?;
        let url = self.repo_url(repo, &["check-runs", &run.to_string()]);
        match update {
            RunUpdate::Started => self.start(key, url).await,
            RunUpdate::Completed { conclusion, output, annotations, fallback, buttons, details } => {
                let end = End {
                    conclusion: *conclusion,
                    output,
                    annotations,
                    fallback,
                    buttons,
                    details: details.as_deref(),
                };
                self.complete(key, url, end).await
            }
        }
    }
}

pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) body: Option<&'a Value>,
    pub(super) doing: &'static str,
}

/// [`RunUpdate::Completed`], borrowed.
struct End<'a> {
    conclusion: Conclusion,
    output: &'a Output,
    annotations: &'a [Annotation],
    fallback: &'a Output,
    buttons: &'a [Button],
    details: Option<&'a str>,
}

/// One request of a completion.
#[derive(Debug, PartialEq, Eq)]
struct Batch<'a> {
    annotations: &'a [Annotation],
    /// Whether it carries the conclusion.
    concludes: bool,
    /// Whether the conclusion went before it.
    follows_the_conclusion: bool,
}

/// Cuts the annotations into requests: what blocks goes with the first, so that nothing is open while the rest is on its way;
/// a success goes with the last, when everything else was taken (R43). A run that is already completed gets only what it lacks.
fn batches(conclusion: Conclusion, annotations: &[Annotation], completed: bool) -> Vec<Batch<'_>> {
    let mut chunks: Vec<&[Annotation]> = annotations.chunks(ANNOTATIONS_PER_REQUEST).collect();
    if chunks.is_empty() && !completed {
        chunks.push(&[]);
    }
    let concluding = match conclusion {
        Conclusion::Success => chunks.len().saturating_sub(1),
        Conclusion::Failure | Conclusion::ActionRequired => 0,
    };
    let batch = |(at, annotations)| Batch {
        annotations,
        concludes: !completed && at == concluding,
        follows_the_conclusion: completed || at > concluding,
    };
    chunks.into_iter().enumerate().map(batch).collect()
}

pub(super) fn asked(key: Key, doing: &'static str) -> Asked {
    Asked { doing, installation: Some(key.installation), needs: key.scope.words() }
}

fn head_ref(pull: PullNumber) -> String {
    format!("refs/pull/{pull}/head")
}

pub(super) fn conclusion_word(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Success => "success",
        Conclusion::Failure => "failure",
        Conclusion::ActionRequired => "action_required",
    }
}

pub(super) fn output_json(output: &Output) -> Value {
    let mut json = json!({ "title": output.title, "summary": output.summary });
    if let Some(text) = &output.text {
        json["text"] = text.as_str().into();
    }
    json
}

fn annotation_json(annotation: &Annotation) -> Value {
    let level = match annotation.level {
        AnnotationLevel::Notice => "notice",
        AnnotationLevel::Warning => "warning",
        AnnotationLevel::Failure => "failure",
    };
    json!({
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.end_line,
        "annotation_level": level,
        "title": annotation.title,
        "message": annotation.message,
    })
}

fn button_json(button: &Button) -> Value {
    json!({ "label": button.label, "description": button.description, "identifier": button.identifier })
}

/// The address of the next page, from the `link` header.
pub(super) fn next_page(from: &Url, headers: &HeaderMap) -> Option<Url> {
    let links = headers.get_all(header::LINK).iter().filter_map(|value| value.to_str().ok());
    links.flat_map(|links| links.split(',')).find_map(|link| {
        let (target, parameters) = link.split_once(';')?;
        let is_next = parameters.split(';').any(|p| matches!(p.trim(), "rel=\"next\"" | "rel=next"));
        let target = target.trim().strip_prefix('<')?.strip_suffix('>')?;
        if is_next { from.join(target).ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotations(count: u32) -> Vec<Annotation> {
        let one = |line| Annotation {
            path: "src/lib.rs".to_owned(),
            line,
            end_line: line,
            level: AnnotationLevel::Failure,
            title: "evidence-edited".to_owned(),
            message: "m".to_owned(),
        };
        (1..=count).map(one).collect()
    }

    /// Sizes of the requests, `!` on the one that concludes.
    fn plan(conclusion: Conclusion, count: u32, completed: bool) -> Vec<String> {
        let all = annotations(count);
        let batches = batches(conclusion, &all, completed);
        batches.iter().map(|b| format!("{}{}", b.annotations.len(), if b.concludes { "!" } else { "" })).collect()
    }

    #[test]
    fn a_blocking_conclusion_goes_first_and_a_success_last() {
        assert_eq!(plan(Conclusion::Failure, 120, false), ["50!", "50", "20"]);
        assert_eq!(plan(Conclusion::ActionRequired, 51, false), ["50!", "1"]);
        assert_eq!(plan(Conclusion::Success, 120, false), ["50", "50", "20!"]);
    }

    #[test]
    fn every_completion_concludes_exactly_once_and_a_completed_run_never_again() {
        for count in [0, 1, 49, 50, 51, 100, 101, 500] {
            for conclusion in [Conclusion::Success, Conclusion::Failure, Conclusion::ActionRequired] {
                let concluding =
                    |completed| plan(conclusion, count, completed).iter().filter(|b| b.contains('!')).count();
                assert_eq!((concluding(false), concluding(true)), (1, 0), "{count} with {conclusion:?}");
            }
        }
        assert!(plan(Conclusion::Failure, 0, true).is_empty());
    }

    #[test]
    fn the_next_page_is_read_from_any_place_in_the_header() {
        let from: Url = "http://127.0.0.1:1/api/v3/x?page=1".parse().expect("an address");
        let next = |value: &str| {
            let headers = [(header::LINK, value.parse().expect("a value"))].into_iter().collect();
            next_page(&from, &headers).map(String::from)
        };
        let both = "<http://127.0.0.1:1/x?page=9>; rel=\"last\", <http://127.0.0.1:1/x?page=2>; rel=\"next\"";
        assert_eq!(next(both).as_deref(), Some("http://127.0.0.1:1/x?page=2"));
        assert_eq!(next("<?page=2>; rel=\"next\"").as_deref(), Some("http://127.0.0.1:1/api/v3/x?page=2"));
        assert_eq!(next("<http://127.0.0.1:1/x?page=1>; rel=\"prev\""), None);
    }
}
