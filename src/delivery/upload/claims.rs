//! What a signed token says, held against what was asked for (R69). `sub` is not read: it has two shapes, and both can be changed by
//! whoever owns the repository (R70).

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::store::{Place, Uploader};
use crate::config::{MapIssuer, Runners};
use crate::words::{ForgeKind, RepoName};

/// How far the clocks of issuer and receiver may lie apart, seconds.
const LEEWAY: i64 = 60;

/// The claims of a token whose signature holds.
pub(super) struct Claims<'a>(pub(super) &'a Value);

impl Claims<'_> {
    fn text(&self, name: &str) -> Result<&str, String> {
        self.0.get(name).and_then(Value::as_str).ok_or_else(|| format!("the token has no `{name}`"))
    }

    /// A number, which issuers write as text.
    fn number(&self, name: &str) -> Result<u64, String> {
        let value = self.0.get(name);
        let number = value.and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
        number.ok_or_else(|| format!("the token has no number in `{name}`"))
    }

    fn seconds(&self, name: &str) -> Option<i64> {
        let value = self.0.get(name)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a moment is far within a 64-bit number; RFC 7519 allows fractions"
        )]
        value.as_i64().or_else(|| value.as_f64().map(|seconds| seconds as i64))
    }

    fn is(&self, name: &str, wanted: &str) -> Result<(), String> {
        let found = self.text(name)?;
        if found == wanted {
            return Ok(());
        }
        Err(format!("the token is of `{name}` {:?}, and {wanted:?} is wanted", short(found)))
    }
}

/// Holds a token against its issuer's rules and the place that it is for. An error is a sentence for whoever sent it.
pub(super) fn check(
    claims: &Claims<'_>,
    rules: &MapIssuer,
    audience: &str,
    place: &Place,
    now: Timestamp,
) -> Result<Uploader, String> {
    in_time(claims, now)?;
    for_us(claims, audience)?;
    claims.is("sha", place.commit.as_str())?;
    runner(claims, rules)?;
    let id = claims.text("jti")?;
    let token = Some(hex::encode(Sha256::digest(format!("{}\n{id}", rules.address()))));
    match rules.forge {
        ForgeKind::Github => github(claims, rules, place).map(|found| found.uploader(token)),
        ForgeKind::Gitlab => gitlab(claims, rules, place).map(|found| found.uploader(token)),
        ForgeKind::Local => Err("a repository on this machine has no issuer of tokens".to_owned()),
    }
}

fn in_time(claims: &Claims<'_>, now: Timestamp) -> Result<(), String> {
    let now = now.as_second();
    let ends = claims.seconds("exp").ok_or("the token has no `exp`")?;
    if ends <= now - LEEWAY {
        return Err("the token has expired: ask for it right before the upload".to_owned());
    }
    let begins = claims.seconds("iat").ok_or("the token has no `iat`")?;
    if begins > now + LEEWAY || claims.seconds("nbf").is_some_and(|from| from > now + LEEWAY) {
        return Err("the token is not valid yet: the clocks of its issuer and of this host differ".to_owned());
    }
    Ok(())
}

/// `aud` is one text or a list of them, <https://www.rfc-editor.org/rfc/rfc7519#section-4.1.3>.
fn for_us(claims: &Claims<'_>, audience: &str) -> Result<(), String> {
    let found: Vec<&str> = match claims.0.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if found == [audience] {
        return Ok(());
    }
    Err(format!("the token is for the audience {:?}, and {audience:?} is wanted", short(&found.join(", "))))
}

/// GitHub: `github-hosted` or `self-hosted`; GitLab: `gitlab-hosted` or `self-hosted`.
fn runner(claims: &Claims<'_>, rules: &MapIssuer) -> Result<(), String> {
    match rules.runners {
        Runners::Any => Ok(()),
        Runners::Hosted => {
            let found = claims.text("runner_environment")?;
            let hosted = matches!(found, "github-hosted" | "gitlab-hosted");
            if hosted { Ok(()) } else { Err(format!("the job ran on a runner that is {:?}", short(found))) }
        }
    }
}

/// What was read of a job.
struct Job {
    name: RepoName,
    reference: String,
    what: String,
}

impl Job {
    fn uploader(self, token: Option<String>) -> Uploader {
        Uploader { name: self.name, reference: Some(self.reference), what: self.what, token }
    }
}

/// <https://docs.github.com/en/actions/reference/security/oidc>
fn github(claims: &Claims<'_>, rules: &MapIssuer, place: &Place) -> Result<Job, String> {
    repository(claims, "repository_id", place)?;
    owner(claims, "repository_owner_id", rules)?;
    event(claims, "event_name", rules)?;
    claims.is("ref_type", "branch")?;
    let (name, reference) = (claims.text("repository")?, branch(claims.text("ref")?)?);
    // A workflow of the repository itself, as it stands on that very branch; others only by their full name.
    let own = |workflow: &str| {
        let file = workflow.strip_prefix(name).and_then(|rest| rest.strip_prefix("/.github/workflows/"));
        file.and_then(|file| file.strip_suffix(&reference)).is_some_and(|file| file.ends_with('@'))
    };
    workflow(claims, "workflow_ref", rules, own)?;
    workflow(claims, "job_workflow_ref", rules, own)?;
    let run = claims.number("run_id").map_or_else(|_| "a run".to_owned(), |run| format!("run {run}"));
    let what = format!("{run} of {}", short(claims.text("workflow_ref")?));
    Ok(Job { name: name_of(name)?, reference, what })
}

/// <https://docs.gitlab.com/ci/secrets/id_token_authentication/#token-payload>
fn gitlab(claims: &Claims<'_>, rules: &MapIssuer, place: &Place) -> Result<Job, String> {
    repository(claims, "project_id", place)?;
    owner(claims, "namespace_id", rules)?;
    event(claims, "pipeline_source", rules)?;
    claims.is("ref_type", "branch")?;
    let name = claims.text("project_path")?;
    let reference = branch(&format!("refs/heads/{}", claims.text("ref")?))?;
    let own = |workflow: &str| {
        let behind = workflow.split_once(&format!("/{name}//")).map(|(_, rest)| rest);
        behind.and_then(|file| file.strip_suffix(&reference)).is_some_and(|file| file.ends_with('@'))
    };
    workflow(claims, "ci_config_ref_uri", rules, own)?;
    let job = claims.number("job_id").map_or_else(|_| "a job".to_owned(), |job| format!("job {job}"));
    let what = format!("{job} of {}", short(claims.text("ci_config_ref_uri")?));
    Ok(Job { name: name_of(name)?, reference, what })
}

fn repository(claims: &Claims<'_>, claim: &str, place: &Place) -> Result<(), String> {
    let found = claims.number(claim)?;
    if found == place.repository.0 {
        return Ok(());
    }
    Err(format!("the token is of the repository {found}, and the address names {}", place.repository))
}

fn owner(claims: &Claims<'_>, claim: &str, rules: &MapIssuer) -> Result<(), String> {
    let found = claims.number(claim)?;
    if rules.owners.contains(&found) {
        return Ok(());
    }
    Err(format!(
        "the repository's owner has the number {found}, which is not among `owners` in the gate's configuration"
    ))
}

fn event(claims: &Claims<'_>, claim: &str, rules: &MapIssuer) -> Result<(), String> {
    let found = claims.text(claim)?;
    if rules.events().any(|event| event == found) {
        return Ok(());
    }
    let wanted: Vec<&str> = rules.events().collect();
    Err(format!("the job ran for {:?}, and maps are taken for {} only", short(found), wanted.join(", ")))
}

fn branch(reference: &str) -> Result<String, String> {
    let branch = reference.strip_prefix("refs/heads/").filter(|branch| !branch.is_empty());
    branch
        .map(|_| reference.to_owned())
        .ok_or_else(|| format!("the job ran on {:?}, which is no branch", short(reference)))
}

/// Named in the configuration; or the repository's own, where the configuration names none.
fn workflow(claims: &Claims<'_>, claim: &str, rules: &MapIssuer, own: impl Fn(&str) -> bool) -> Result<(), String> {
    let found = claims.text(claim)?;
    let taken = if rules.workflows.is_empty() { own(found) } else { rules.workflows.iter().any(|one| one == found) };
    if taken {
        return Ok(());
    }
    let wanted =
        if rules.workflows.is_empty() { "the repository's own on the same branch" } else { "one of `workflows`" };
    Err(format!("`{claim}` is {:?}, and {wanted} is wanted", short(found)))
}

fn name_of(name: &str) -> Result<RepoName, String> {
    name.parse().map_err(|error| format!("the token's repository: {error}"))
}

fn short(text: &str) -> String {
    text.chars().take(200).collect()
}
