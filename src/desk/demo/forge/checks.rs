//! Check runs, by the forge's rules. <https://docs.github.com/en/rest/checks/runs>

use serde_json::Value;

use super::answer::{Answer, Refusal, Reply};
use super::auth::moment;
use super::server::Inner;
use super::shapes;
use super::state::Run;

/// The most bytes of a title, summary or text.
const LONGEST: usize = 65_535;
/// The most annotations of one request.
const MOST_ANNOTATIONS: usize = 50;
const STATES: [&str; 3] = ["queued", "in_progress", "completed"];
const CONCLUSIONS: [&str; 7] =
    ["action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"];

/// `POST …/check-runs`
pub(super) fn create(inner: &Inner, sent: &Value) -> Answer {
    let name = text(sent, "name")?.ok_or(Refusal::invalid("name is missing"))?;
    let head = text(sent, "head_sha")?.ok_or(Refusal::invalid("head_sha is missing"))?;
    if !inner.store.has_commit(&head) {
        return Err(Refusal::invalid("No commit found for SHA"));
    }
    let mut run = Run { name, head, status: "queued".to_owned(), ..Run::default() };
    apply(inner, &mut run, sent)?;
    let mut state = inner.state();
    run.id = state.next_number();
    let body = shapes::run(inner, &run);
    state.runs.insert(run.id, run);
    drop(state);
    inner.changed();
    Ok(Reply::created(body))
}

/// `PATCH …/check-runs/{id}`. A completed run stays completed, with the conclusion that it has.
pub(super) fn update(inner: &Inner, id: u64, sent: &Value) -> Answer {
    let mut run = inner.state().runs.get(&id).cloned().ok_or(Refusal::NOT_FOUND)?;
    let completed = run.status == "completed";
    let before = run.conclusion.clone();
    apply(inner, &mut run, sent)?;
    if completed && (run.status != "completed" || run.conclusion != before) {
        return Err(Refusal::invalid("a completed check run cannot be reopened"));
    }
    let body = shapes::run(inner, &run);
    inner.state().runs.insert(id, run);
    inner.changed();
    Ok(Reply::ok(body))
}

fn apply(inner: &Inner, run: &mut Run, sent: &Value) -> Result<(), Refusal> {
    let now = moment(inner.now());
    run.external_id = text(sent, "external_id")?.or(run.external_id.take());
    run.details_url = text(sent, "details_url")?.or(run.details_url.take());
    let conclusion = one_of(sent, "conclusion", &CONCLUSIONS)?;
    let status = if conclusion.is_some() { Some("completed".to_owned()) } else { one_of(sent, "status", &STATES)? };
    run.conclusion = conclusion.or(run.conclusion.take());
    run.status = status.unwrap_or(std::mem::take(&mut run.status));
    if run.status == "completed" && run.conclusion.is_none() {
        return Err(Refusal::invalid("conclusion is missing"));
    }
    run.started = text(sent, "started_at")?.or(run.started.take()).or_else(|| Some(now.clone()));
    if run.status == "completed" {
        run.completed = text(sent, "completed_at")?.or(run.completed.take()).or(Some(now));
    }
    match &sent["output"] {
        Value::Null => Ok(()),
        output => apply_output(run, output),
    }
}

/// Title, summary and text take the place of what was there; annotations are added to it.
fn apply_output(run: &mut Run, output: &Value) -> Result<(), Refusal> {
    run.title = short(output, "title")?.or(run.title.take());
    run.summary = Some(short(output, "summary")?.ok_or(Refusal::invalid("summary is missing"))?);
    run.text = short(output, "text")?.or(run.text.take());
    let annotations = output["annotations"].as_array().map(Vec::as_slice).unwrap_or_default();
    if annotations.len() > MOST_ANNOTATIONS {
        return Err(Refusal::invalid("No more than 50 items are allowed"));
    }
    let whole = |one: &Value| {
        let line = |key: &str| one[key].as_u64().filter(|line| *line > 0);
        let ordered = line("start_line").zip(line("end_line")).is_some_and(|(start, end)| start <= end);
        ordered && one["path"].is_string() && one["message"].is_string() && one["annotation_level"].is_string()
    };
    if !annotations.iter().all(whole) {
        return Err(Refusal::invalid("an annotation lacks path, lines, level or message"));
    }
    run.annotations.extend_from_slice(annotations);
    Ok(())
}

fn short(output: &Value, key: &str) -> Result<Option<String>, Refusal> {
    let found = text(output, key)?;
    if found.as_ref().is_some_and(|text| text.len() > LONGEST) {
        return Err(Refusal::invalid("a text exceeds a maximum bytesize of 65535"));
    }
    Ok(found)
}

fn one_of(sent: &Value, key: &str, words: &[&str]) -> Result<Option<String>, Refusal> {
    match text(sent, key)? {
        Some(word) if !words.contains(&word.as_str()) => Err(Refusal::invalid("a status or conclusion is unknown")),
        found => Ok(found),
    }
}

fn text(sent: &Value, key: &str) -> Result<Option<String>, Refusal> {
    match &sent[key] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        _ => Err(Refusal::invalid("a field is no string")),
    }
}
