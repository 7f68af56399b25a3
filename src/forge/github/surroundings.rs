//! [`Surroundings`] for GitHub.
//!
//! Facts: <https://docs.github.com/en/rest/issues/comments>, <https://docs.github.com/en/rest/reactions/reactions>,
//! <https://docs.github.com/en/rest/pulls/pulls#list-pull-requests>, <https://docs.github.com/en/rest/git/refs#list-matching-references>,
//! <https://docs.github.com/en/rest/apps/webhooks>, <https://docs.github.com/en/rest/apps/installations>

use async_trait::async_trait;
use http::{HeaderMap, Method, StatusCode};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::answer::{Answer, Asked, tame};
use super::client::{Call, GitHub, asked, next_page, output_json};
use super::conditional::Known;
use super::tokens::{Key, Scope};
use crate::forge::{Budget, ForgeError, LogEntry, LogPage, OpenPull, Output, Reaction, Surroundings};
use crate::words::{ForgeKind, HeadSha, InstallationId, ObjectId, PullNumber, RepoRef, RepositoryId, RunId};

/// More pages than these are an error and not a shorter list.
const MOST_PAGES: usize = 50;
const PER_PAGE: &str = "100";

#[derive(Deserialize)]
struct CommentShape {
    id: u64,
    body: Option<String>,
    performed_via_github_app: Option<AppShape>,
}

#[derive(Deserialize)]
struct AppShape {
    id: u64,
}

#[derive(Deserialize)]
struct OpenShape {
    number: u64,
    head: TipShape,
    base: BaseShape,
    #[serde(default)]
    labels: Vec<LabelShape>,
}

#[derive(Deserialize)]
struct LabelShape {
    name: String,
}

#[derive(Deserialize)]
struct TipShape {
    sha: String,
}

#[derive(Deserialize)]
struct BaseShape {
    r#ref: String,
    sha: String,
    repo: RepoShape,
}

#[derive(Deserialize)]
struct RepoShape {
    id: u64,
    full_name: String,
}

#[derive(Deserialize)]
struct MadeShape {
    id: u64,
}

#[derive(Deserialize)]
struct RefShape {
    r#ref: String,
    object: TipShape,
}

#[derive(Deserialize)]
struct InstallationShape {
    id: u64,
    suspended_at: Option<String>,
}

#[derive(Deserialize)]
struct RepositoriesShape {
    repositories: Vec<RepoShape>,
}

#[derive(Deserialize)]
struct DeliveryShape {
    id: u64,
    guid: String,
    status_code: Option<i64>,
}

impl RepoShape {
    fn repository(self, doing: &'static str) -> Result<RepoRef, ForgeError> {
        let name = word(doing, "full_name", &self.full_name)?;
        Ok(RepoRef { forge: ForgeKind::Github, id: RepositoryId(self.id), name })
    }
}

impl OpenShape {
    fn pull(self, doing: &'static str) -> Result<OpenPull, ForgeError> {
        Ok(OpenPull {
            number: PullNumber(self.number),
            head: word(doing, "head.sha", &self.head.sha)?,
            base: word(doing, "base.sha", &self.base.sha)?,
            base_branch: self.base.r#ref,
            labels: self.labels.into_iter().map(|label| label.name).collect(),
            repository: self.base.repo.repository(doing)?,
        })
    }
}

fn word<T: std::str::FromStr>(doing: &'static str, field: &'static str, text: &str) -> Result<T, ForgeError> {
    text.parse().map_err(|_| {
        let why = format!("GitHub's `{field}` is {:?}, which cannot be used", tame(text, None));
        ForgeError::GiveUp { doing, why }
    })
}

fn reaction_word(reaction: Reaction) -> &'static str {
    match reaction {
        Reaction::Eyes => "eyes",
        Reaction::ThumbsUp => "+1",
        Reaction::ThumbsDown => "-1",
        Reaction::Confused => "confused",
    }
}

fn too_many(doing: &'static str) -> ForgeError {
    ForgeError::GiveUp { doing, why: format!("more than {MOST_PAGES} pages; the list would not be whole") }
}

impl GitHub {
    async fn write(
        &self,
        key: Key,
        (method, url): (Method, Url),
        body: &serde_json::Value,
        doing: &'static str,
    ) -> Result<Answer, ForgeError> {
        self.call(key, Call { method, url, body: Some(body), doing }).await?.accepted(asked(key, doing))
    }

    /// One page of a list, from memory where the forge says that it did not change.
    async fn page_if_changed(&self, key: Key, url: &Url, doing: &'static str) -> Result<Known, ForgeError> {
        let known = self.known.get(url.as_str()).await;
        let etag = known.as_ref().map(|known| known.etag.clone());
        let call = Call { method: Method::GET, url: url.clone(), body: None, doing };
        let answer = self.call_if(key, call, etag.as_deref()).await?;
        if answer.status == StatusCode::NOT_MODIFIED
            && let Some(known) = known
        {
            return Ok(known);
        }
        let answer = answer.accepted(asked(key, doing))?;
        let etag = answer.headers.get(http::header::ETAG).and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
        let page =
            Known { etag: etag.unwrap_or_default(), next: next_page(url, &answer.headers), answer: answer.into() };
        if !page.etag.is_empty() {
            self.known.insert(url.to_string(), page.clone()).await;
        }
        Ok(page)
    }

    /// A list that the App itself may read.
    async fn app_page(&self, url: Url, doing: &'static str, method: Method) -> Result<Answer, ForgeError> {
        let asked = Asked { doing, installation: None, needs: "the App's own key" };
        self.app.ask(&self.wire, &self.lanes, method, url, None, asked).await
    }
}

#[async_trait]
impl Surroundings for GitHub {
    async fn react(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        comment: u64,
        reaction: Reaction,
    ) -> Result<(), ForgeError> {
        let key = self.key(repo, installation, Scope::Comments).await?;
        let url = self.repo_url(repo, &["issues", "comments", &comment.to_string(), "reactions"]);
        let body = json!({ "content": reaction_word(reaction) });
        self.write(key, (Method::POST, url), &body, "react to a comment").await.map(drop)
    }

    async fn find_comment(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
        marker: &str,
    ) -> Result<Option<u64>, ForgeError> {
        const DOING: &str = "look for our comment";
        let key = self.key(repo, installation, Scope::Comments).await?;
        let mut url = self.repo_url(repo, &["issues", &pull.to_string(), "comments"]);
        url.query_pairs_mut().append_pair("per_page", PER_PAGE);
        for _ in 0..MOST_PAGES {
            let answer = self.get(key, url.clone(), DOING).await?;
            let ours = |comment: &CommentShape| {
                comment.performed_via_github_app.as_ref().is_some_and(|app| app.id == self.app_id)
                    && comment.body.as_deref().is_some_and(|body| body.starts_with(marker))
            };
            if let Some(comment) = answer.json::<Vec<CommentShape>>(DOING)?.into_iter().find(ours) {
                return Ok(Some(comment.id));
            }
            let Some(next) = next_page(&url, &answer.headers) else { return Ok(None) };
            url = next;
        }
        Err(too_many(DOING))
    }

    async fn comment(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        pull: PullNumber,
        text: &str,
    ) -> Result<u64, ForgeError> {
        const DOING: &str = "write a comment";
        let key = self.key(repo, installation, Scope::Comments).await?;
        let url = self.repo_url(repo, &["issues", &pull.to_string(), "comments"]);
        let answer = self.write(key, (Method::POST, url), &json!({ "body": text }), DOING).await?;
        Ok(answer.json::<MadeShape>(DOING)?.id)
    }

    async fn edit_comment(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        comment: u64,
        text: &str,
    ) -> Result<(), ForgeError> {
        let key = self.key(repo, installation, Scope::Comments).await?;
        let url = self.repo_url(repo, &["issues", "comments", &comment.to_string()]);
        self.write(key, (Method::PATCH, url), &json!({ "body": text }), "edit our comment").await.map(drop)
    }

    async fn open_pulls(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        base: Option<&str>,
    ) -> Result<Vec<OpenPull>, ForgeError> {
        const DOING: &str = "list the open pull requests";
        let key = self.key(repo, installation, Scope::Read).await?;
        let mut url = self.repo_url(repo, &["pulls"]);
        url.query_pairs_mut().append_pair("state", "open").append_pair("per_page", PER_PAGE);
        if let Some(base) = base {
            url.query_pairs_mut().append_pair("base", base);
        }
        let mut pulls = Vec::new();
        for _ in 0..MOST_PAGES {
            let page = self.page_if_changed(key, &url, DOING).await?;
            for shape in page.answer.json::<Vec<OpenShape>>(DOING)? {
                pulls.push(shape.pull(DOING)?);
            }
            let Some(next) = page.next else {
                pulls.retain(|pull| pull.repository.id == repo.id);
                return Ok(pulls);
            };
            url = next;
        }
        Err(too_many(DOING))
    }

    async fn revoke(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        head: &HeadSha,
        output: &Output,
    ) -> Result<RunId, ForgeError> {
        const DOING: &str = "revoke a verdict";
        let key = self.key(repo, installation, Scope::Checks).await?;
        let body = json!({
            "name": self.check_name,
            "head_sha": head.id().as_str(),
            "status": "completed",
            "conclusion": "action_required",
            "completed_at": self.moment(),
            "output": output_json(output),
        });
        let answer = self.write(key, (Method::POST, self.repo_url(repo, &["check-runs"])), &body, DOING).await?;
        Ok(RunId(answer.json::<MadeShape>(DOING)?.id))
    }

    async fn queue_refs(
        &self,
        repo: &RepoRef,
        installation: Option<InstallationId>,
        branch: &str,
    ) -> Result<Vec<(String, ObjectId)>, ForgeError> {
        const DOING: &str = "list the merge queue's refs";
        let key = self.key(repo, installation, Scope::Read).await?;
        let parts = ["git", "matching-refs", "heads", "gh-readonly-queue"].into_iter().chain(branch.split('/'));
        let parts: Vec<&str> = parts.chain([""]).collect();
        let mut url = self.repo_url(repo, &parts);
        let mut refs = Vec::new();
        for _ in 0..MOST_PAGES {
            let answer = self.get(key, url.clone(), DOING).await?;
            for shape in answer.json::<Vec<RefShape>>(DOING)? {
                refs.push((shape.r#ref, word(DOING, "object.sha", &shape.object.sha)?));
            }
            let Some(next) = next_page(&url, &answer.headers) else { return Ok(refs) };
            url = next;
        }
        Err(too_many(DOING))
    }

    async fn installations(&self) -> Result<Vec<InstallationId>, ForgeError> {
        const DOING: &str = "list the App's installations";
        let mut url = self.wire.http.url(&["app", "installations"]);
        url.query_pairs_mut().append_pair("per_page", PER_PAGE);
        let mut found = Vec::new();
        for _ in 0..MOST_PAGES {
            let answer = self.app_page(url.clone(), DOING, Method::GET).await?;
            let all = answer.json::<Vec<InstallationShape>>(DOING)?;
            found.extend(all.into_iter().filter(|one| one.suspended_at.is_none()).map(|one| InstallationId(one.id)));
            let Some(next) = next_page(&url, &answer.headers) else { return Ok(found) };
            url = next;
        }
        Err(too_many(DOING))
    }

    async fn repositories(&self, installation: InstallationId) -> Result<Vec<RepoRef>, ForgeError> {
        const DOING: &str = "list an installation's repositories";
        let key = Key { installation, repository: RepositoryId(0), scope: Scope::Names };
        let mut url = self.wire.http.url(&["installation", "repositories"]);
        url.query_pairs_mut().append_pair("per_page", PER_PAGE);
        let mut found = Vec::new();
        for _ in 0..MOST_PAGES {
            let answer = self.get(key, url.clone(), DOING).await?;
            for shape in answer.json::<RepositoriesShape>(DOING)?.repositories {
                found.push(shape.repository(DOING)?);
            }
            let Some(next) = next_page(&url, &answer.headers) else { return Ok(found) };
            url = next;
        }
        Err(too_many(DOING))
    }

    async fn delivery_log(&self, after: Option<&str>) -> Result<LogPage, ForgeError> {
        const DOING: &str = "read the log of deliveries";
        let mut url = self.wire.http.url(&["app", "hook", "deliveries"]);
        url.query_pairs_mut().append_pair("per_page", PER_PAGE);
        if let Some(after) = after {
            url.query_pairs_mut().append_pair("cursor", after);
        }
        let answer = self.app_page(url.clone(), DOING, Method::GET).await?;
        let entries = answer.json::<Vec<DeliveryShape>>(DOING)?.into_iter().map(|entry| LogEntry {
            id: entry.id,
            delivery: entry.guid,
            status: entry.status_code.and_then(|status| u16::try_from(status).ok()).unwrap_or(0),
        });
        Ok(LogPage { entries: entries.collect(), next: cursor(&url, &answer.headers) })
    }

    async fn deliver_again(&self, id: u64) -> Result<(), ForgeError> {
        let url = self.wire.http.url(&["app", "hook", "deliveries", &id.to_string(), "attempts"]);
        self.app_page(url, "ask for a delivery again", Method::POST).await.map(drop)
    }

    fn budget(&self, installation: Option<InstallationId>) -> Option<Budget> {
        self.lanes.of(installation).budget()
    }
}

/// The cursor of the next page.
fn cursor(from: &Url, headers: &HeaderMap) -> Option<String> {
    let next = next_page(from, headers)?;
    next.query_pairs().find(|(name, _)| name == "cursor").map(|(_, value)| value.into_owned())
}
