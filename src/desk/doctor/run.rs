//! Looks everywhere, prints what was seen, and says how bad it is.

use jiff::Timestamp;

use super::args::DoctorArgs;
use super::branch::{Ours, branch};
use super::line::{About, Line, State, shown};
use super::{app, here};
use crate::config::{self, Settings};
use crate::desk::{Failure, out};
use crate::forge::{Clock, ForgeError, GitHub, GitHubSettings, Installed, Pace, Surroundings as _};
use crate::words::{InstallationId, RepoName, RepoRef};

/// Prints the lines. The exit code is 1 where there is a fault; warnings are no fault.
pub fn doctor(args: &DoctorArgs, clock: fn() -> Timestamp) -> Result<u8, Failure> {
    let only = args.repo.as_deref().map(str::parse::<RepoName>).transpose();
    let only = only.map_err(|error| Failure::Usage(format!("--repo: {error}")))?;
    let environment = config::environment();
    let settings = Settings::load(args.config.as_deref(), &environment)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Ours(format!("cannot start the runtime: {error}")))?;
    let lines = runtime.block_on(async {
        let mut lines = here::look(&settings, &environment, clock()).await;
        if !args.offline && settings.github.is_some() {
            match client(&settings, &environment, clock) {
                Ok(github) => lines.extend(ask(&github, &settings, only.as_ref(), clock).await),
                Err(line) => lines.push(line),
            }
        }
        lines
    });
    let holds = lines.iter().all(|line| line.state != State::Fault);
    if args.json {
        let object = serde_json::json!({ "holds": holds, "lines": lines });
        let text = serde_json::to_string_pretty(&object).map_err(|error| Failure::Ours(error.to_string()))?;
        out::print(&format!("{text}\n"))?;
    } else {
        out::print(&shown(&lines))?;
    }
    Ok(u8::from(!holds))
}

/// The forge's client. What a request would say of a bad key is said here already.
fn client(
    settings: &Settings,
    environment: &std::collections::BTreeMap<String, String>,
    clock: fn() -> Timestamp,
) -> Result<GitHub, Line> {
    const NEXT: &str = "correct the section [github] of the configuration";
    let about = About("the App".to_owned());
    let fault = |said: String| about.fault("client", said, NEXT);
    let section = settings.github().map_err(|error| fault(error.to_string()))?;
    let key = settings.app_key(environment).map_err(|error| fault(error.to_string()))?;
    let github = GitHubSettings {
        api: section.api_url.clone(),
        git: section.git_url.clone(),
        check_name: section.check_name.clone(),
        pace: Pace::default(),
        ..GitHubSettings::new(section.app_id, key)
    };
    GitHub::new(&github, Clock::new(clock)).map_err(|error| fault(error.to_string()))
}

async fn ask(github: &GitHub, settings: &Settings, only: Option<&RepoName>, clock: fn() -> Timestamp) -> Vec<Line> {
    let about = About("the App".to_owned());
    let mut lines = match github.registration().await {
        Ok(found) => app::registration(&about, &found, clock()),
        // Whatever else is asked would fail in the same way.
        Err(error) => return vec![failed(&about, &error)],
    };
    match github.webhook().await {
        Ok(found) => lines.extend(app::webhook(&about, &found)),
        Err(error) => lines.push(failed(&about, &error)),
    }
    match github.delivery_log(None).await {
        Ok(page) => lines.push(app::deliveries(&about, &page.entries)),
        Err(error) => lines.push(failed(&about, &error)),
    }
    match github.installed().await {
        Ok(all) => lines.extend(ask_installations(github, settings, only, &about, &all).await),
        Err(error) => lines.push(failed(&about, &error)),
    }
    lines
}

fn failed(about: &About, error: &ForgeError) -> Line {
    about.fault("request", error.to_string(), "see the way to the forge, and what its status page says")
}

async fn ask_installations(
    github: &GitHub,
    settings: &Settings,
    only: Option<&RepoName>,
    about: &About,
    all: &[Installed],
) -> Vec<Line> {
    if all.is_empty() {
        return vec![about.fault("installation", "the App is installed nowhere", "install it from its public page")];
    }
    let wanted = match only {
        None => None,
        Some(name) => match github.installation_on(name).await {
            Ok(id) => Some(id),
            Err(ForgeError::NotFound { .. }) => {
                let next = "install it there from its public page, or correct the name";
                return vec![about.fault("installation", format!("the App is not installed on {name}"), next)];
            }
            Err(error) => return vec![failed(about, &error)],
        },
    };
    let mut lines = Vec::new();
    for one in all.iter().filter(|one| wanted.is_none_or(|wanted| wanted == one.id)) {
        lines.extend(app::installation(one));
        if !one.suspended {
            lines.extend(ask_repositories(github, settings, only, one).await);
        }
    }
    lines
}

async fn ask_repositories(github: &GitHub, settings: &Settings, only: Option<&RepoName>, one: &Installed) -> Vec<Line> {
    let about = About(format!("installation on {}", one.account));
    let repositories = match github.repositories(one.id).await {
        Ok(repositories) => repositories,
        Err(error) => return vec![failed(&about, &error)],
    };
    let mut lines = Vec::new();
    for repository in repositories.iter().filter(|repository| only.is_none_or(|only| repository.name == *only)) {
        lines.extend(ask_repository(github, settings, repository, one.id, one).await);
    }
    lines
}

async fn ask_repository(
    github: &GitHub,
    settings: &Settings,
    repository: &RepoRef,
    id: InstallationId,
    one: &Installed,
) -> Vec<Line> {
    let Ok(section) = settings.github() else { return Vec::new() };
    let sees_merge_groups = one.permissions.contains_key("merge_queues") && one.events.contains("merge_group");
    let ours = Ours { app: section.app_id, check: &section.check_name, sees_merge_groups };
    match github.inspect(repository, id).await {
        Ok(found) => branch(&found, ours),
        Err(error) => vec![failed(&About(repository.name.to_string()), &error)],
    }
}
