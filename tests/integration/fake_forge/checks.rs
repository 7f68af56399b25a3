//! The rules of check runs, as the forge keeps them.
//!
//! <https://docs.github.com/en/rest/checks/runs>. What the documentation calls characters is counted in bytes by the server.

use serde_json::{Map, Value, json};

use super::rest::{Answer, Refusal};
use super::shapes;
use super::state::{Run, State};

const LONGEST: usize = 65_535;
const CREATE: &[&str] = &[
    "name",
    "head_sha",
    "details_url",
    "external_id",
    "status",
    "started_at",
    "conclusion",
    "completed_at",
    "output",
    "actions",
];

/// `POST /repos/{owner}/{repo}/check-runs`. `commit_exists` answers for the repository's objects.
pub fn create(state: &mut State, repo: u64, body: &Value, commit_exists: &dyn Fn(&str) -> bool) -> Answer {
    let sent = body.as_object().ok_or_else(|| invalid("", "body is no object"))?;
    unknown_keys(state, sent);
    let name = text(sent, "name")?.ok_or_else(|| missing("name"))?;
    let head = text(sent, "head_sha")?.ok_or_else(|| missing("head_sha"))?;
    validate(sent, Required::TitleAndSummary)?;
    if !commit_exists(&head) {
        return Err(invalid("head_sha", &format!("No commit found for SHA: {head}")));
    }
    let id = state.next_run;
    state.next_run += 1;
    let mut run = Run {
        id,
        repo,
        name,
        head,
        external_id: None,
        details_url: None,
        status: "queued".to_owned(),
        conclusion: None,
        started: None,
        completed: None,
        title: None,
        summary: None,
        text: None,
        annotations: Vec::new(),
        actions: Vec::new(),
        stations: Vec::new(),
        seen: false,
    };
    apply(state, &mut run, sent)?;
    let answer = shapes::run(state, &run);
    state.runs.insert(id, run);
    Ok((201, answer))
}

/// `PATCH /repos/{owner}/{repo}/check-runs/{id}`
pub fn update(state: &mut State, repo: u64, id: u64, body: &Value) -> Answer {
    let sent = body.as_object().ok_or_else(|| invalid("", "body is no object"))?;
    unknown_keys(state, sent);
    if sent.contains_key("head_sha") {
        state.violations.push(format!("an update of run {id} carries `head_sha`, which no update can change"));
    }
    let Some(mut run) = state.runs.get(&id).filter(|run| run.repo == repo).cloned() else {
        return Err(Refusal::not_found());
    };
    validate(sent, Required::Summary)?;
    if run.status == "completed" {
        let status = text(sent, "status")?.unwrap_or_else(|| "completed".to_owned());
        if status != "completed" {
            state.violations.push(format!("run {id} is completed, and was asked to be {status:?} again"));
            return Err(invalid("status", "a completed check run cannot be reopened"));
        }
        let conclusion = text(sent, "conclusion")?;
        if conclusion.is_some() && conclusion != run.conclusion {
            state
                .violations
                .push(format!("run {id} was {:?} and was changed to {conclusion:?} in place", run.conclusion));
        }
    }
    apply(state, &mut run, sent)?;
    let answer = shapes::run(state, &run);
    state.runs.insert(id, run);
    Ok((200, answer))
}

/// `GET /repos/{owner}/{repo}/commits/{ref}/check-runs`: the runs of all pages, newest first.
pub fn list<'s>(state: &'s State, repo: u64, head: &str, query: &[(String, String)]) -> Result<Vec<&'s Run>, Refusal> {
    let asked = |key: &str| query.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
    let mut runs = state.runs_on(repo, head);
    if let Some(name) = asked("check_name") {
        runs.retain(|run| run.name == name);
    }
    if let Some(app) = asked("app_id") {
        let app: u64 = app.parse().map_err(|_| invalid("app_id", "is no number"))?;
        runs.retain(|_| app == state.app.id);
    }
    if let Some(status) = asked("status") {
        runs.retain(|run| run.status == status);
    }
    match asked("filter").unwrap_or("latest") {
        "all" => {}
        "latest" => {
            let mut names = std::collections::BTreeSet::new();
            runs.retain(|run| names.insert(run.name.clone()));
        }
        other => return Err(invalid("filter", &format!("{other} is not a member of [\"latest\", \"all\"]"))),
    }
    Ok(runs)
}

fn unknown_keys(state: &mut State, sent: &Map<String, Value>) {
    for key in sent.keys().filter(|key| !CREATE.contains(&key.as_str())) {
        state.violations.push(format!("a check run has no field {key:?}"));
    }
}

/// What `output` must hold if it is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Required {
    TitleAndSummary,
    Summary,
}

fn validate(sent: &Map<String, Value>, required: Required) -> Result<(), Refusal> {
    let status = one_of(sent, "status", &["queued", "in_progress", "completed"])?;
    let conclusion = one_of(
        sent,
        "conclusion",
        &["action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"],
    )?;
    if status.as_deref() == Some("completed") && conclusion.is_none() {
        return Err(missing("conclusion"));
    }
    for key in ["started_at", "completed_at"] {
        if text(sent, key)?.is_some_and(|time| time.parse::<jiff::Timestamp>().is_err()) {
            return Err(invalid(key, "is no time"));
        }
    }
    text(sent, "external_id")?;
    text(sent, "details_url")?;
    if let Some(output) = sent.get("output") {
        let output = output.as_object().ok_or_else(|| invalid("output", "is no object"))?;
        if required == Required::TitleAndSummary && text(output, "title")?.is_none() {
            return Err(missing("title"));
        }
        if text(output, "summary")?.is_none() {
            return Err(missing("summary"));
        }
        for key in ["title", "summary", "text"] {
            if text(output, key)?.is_some_and(|t| t.len() > LONGEST) {
                return Err(invalid(key, &format!("{key} exceeds a maximum bytesize of {LONGEST}")));
            }
        }
        annotations(output)?;
    }
    actions(sent)
}

fn annotations(output: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(list) = output.get("annotations") else { return Ok(()) };
    let list = list.as_array().ok_or_else(|| invalid("annotations", "is no list"))?;
    if list.len() > 50 {
        let why = format!("No more than 50 items are allowed; {} were supplied.", list.len());
        return Err(invalid("annotations", &why));
    }
    for one in list {
        let one = one.as_object().ok_or_else(|| invalid("annotations", "an annotation is no object"))?;
        let line = |key: &str| one.get(key).and_then(Value::as_u64).filter(|n| *n >= 1).ok_or_else(|| missing(key));
        let (start, end) = (line("start_line")?, line("end_line")?);
        if end < start {
            return Err(invalid("end_line", "is before start_line"));
        }
        if start != end && (one.contains_key("start_column") || one.contains_key("end_column")) {
            return Err(invalid("start_column", "columns go with a single line"));
        }
        if text(one, "path")?.is_none_or(|path| path.is_empty()) {
            return Err(missing("path"));
        }
        one_of(one, "annotation_level", &["notice", "warning", "failure"])?
            .ok_or_else(|| missing("annotation_level"))?;
        let message = text(one, "message")?.filter(|m| !m.is_empty()).ok_or_else(|| missing("message"))?;
        if message.len() > 64 * 1024 || text(one, "raw_details")?.is_some_and(|t| t.len() > 64 * 1024) {
            return Err(invalid("message", "is longer than 64 KB"));
        }
        if text(one, "title")?.is_some_and(|title| title.chars().count() > 255) {
            return Err(invalid("title", "is longer than 255 characters"));
        }
    }
    Ok(())
}

fn actions(sent: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(list) = sent.get("actions") else { return Ok(()) };
    let list =
        list.as_array().filter(|l| l.len() <= 3).ok_or_else(|| invalid("actions", "at most three are allowed"))?;
    for one in list {
        let one = one.as_object().ok_or_else(|| invalid("actions", "an action is no object"))?;
        for (key, most) in [("label", 20), ("description", 40), ("identifier", 20)] {
            if text(one, key)?.ok_or_else(|| missing(key))?.chars().count() > most {
                return Err(invalid(key, &format!("is longer than {most} characters")));
            }
        }
    }
    Ok(())
}

fn apply(state: &mut State, run: &mut Run, sent: &Map<String, Value>) -> Result<(), Refusal> {
    let now = state.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    if let Some(name) = text(sent, "name")? {
        run.name = name;
    }
    run.external_id = text(sent, "external_id")?.or(run.external_id.take());
    run.details_url = text(sent, "details_url")?.or(run.details_url.take());
    let conclusion = text(sent, "conclusion")?;
    let status = if conclusion.is_some() { Some("completed".to_owned()) } else { text(sent, "status")? };
    run.status = status.unwrap_or_else(|| run.status.clone());
    run.conclusion = conclusion.or(run.conclusion.take());
    run.started = text(sent, "started_at")?.or(run.started.take()).or(Some(now.clone()));
    if run.status == "completed" {
        run.completed = text(sent, "completed_at")?.or(run.completed.take()).or(Some(now));
    }
    if let Some(Value::Object(output)) = sent.get("output") {
        run.title = text(output, "title")?.or(run.title.take());
        run.summary = text(output, "summary")?;
        run.text = text(output, "text")?.or(run.text.take());
        let more = output.get("annotations").and_then(Value::as_array).into_iter().flatten();
        run.annotations.extend(more.map(|one| shapes::object(one.clone())));
    }
    if let Some(Value::Array(actions)) = sent.get("actions") {
        run.actions.clone_from(actions);
    }
    let station = match &run.conclusion {
        Some(conclusion) => format!("{}/{conclusion}", run.status),
        None => run.status.clone(),
    };
    if matches!(run.conclusion.as_deref(), Some("neutral" | "skipped" | "cancelled" | "stale")) {
        state.violations.push(format!("run {} was published as {station}, which is no verdict", run.id));
    }
    if run.stations.last() != Some(&station) {
        run.stations.push(station);
    }
    Ok(())
}

/// A text, or nothing for what is absent or null. Anything else is refused.
fn text(sent: &Map<String, Value>, key: &str) -> Result<Option<String>, Refusal> {
    match sent.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid(key, "is no string")),
    }
}

fn one_of(sent: &Map<String, Value>, key: &str, words: &[&str]) -> Result<Option<String>, Refusal> {
    let found = text(sent, key)?;
    match found {
        Some(word) if !words.contains(&word.as_str()) => {
            Err(invalid(key, &format!("{word} is not a member of {words:?}.")))
        }
        other => Ok(other),
    }
}

fn missing(field: &str) -> Refusal {
    refusal("missing_field", field, &format!("{field} is missing"))
}

fn invalid(field: &str, message: &str) -> Refusal {
    refusal("custom", field, message)
}

fn refusal(code: &str, field: &str, message: &str) -> Refusal {
    Refusal {
        status: 422,
        body: json!({
            "message": "Validation Failed", "documentation_url": "https://docs.github.com/rest/checks/runs",
            "errors": [{ "resource": "CheckRun", "code": code, "field": field, "message": message }], "status": "422",
        }),
        location: None,
    }
}
