//! A judged history as one JSON document.

use serde_json::{Value, json};

use super::ask::History;
use super::outcome::{Outcome, Simulated};
use super::summary::Summary;

/// Every change with its verdict and reasons, and the numbers over all of them. Paths and subjects are text; a change's record is what
/// `simulate --change COMMIT --format json` prints.
pub(super) fn json(history: &History) -> String {
    let summary = Summary::of(history);
    let verdicts: serde_json::Map<String, Value> =
        summary.verdicts.iter().map(|(verdict, count)| (verdict.to_string(), (*count).into())).collect();
    let document = json!({
        "schema": 1,
        "policy": history.policy,
        "tip": { "name": history.tip, "commit": history.commit.as_str() },
        "judged": summary.judged,
        "verdicts": verdicts,
        "reasons": summary.reasons.iter().map(|reason| json!({
            "rule": reason.rule, "verdict": reason.verdict, "changes": reason.changes, "alone": reason.alone,
        })).collect::<Vec<_>>(),
        "paths": summary.paths.iter().map(|path| json!({
            "path": path.path, "changes": path.changes, "rule": path.rule, "advice": path.advice,
        })).collect::<Vec<_>>(),
        "levers": summary.levers.iter().map(|(lever, changes)| json!({
            "line": lever.to_string(), "where": lever.place(&history.policy_text), "changes": changes,
        })).collect::<Vec<_>>(),
        "with_all_levers": summary.with_all_levers,
        "not_run": history.not_run,
        "cut_off": history.cut_off,
        "changes": history.changes.iter().map(change).collect::<Vec<_>>(),
    });
    super::command::safe_json(&document)
}

fn change(simulated: &Simulated) -> Value {
    let Simulated { change, outcome, took } = simulated;
    let (title, error) = match outcome {
        Outcome::Judged { record, .. } => (Some(&record.title), None),
        Outcome::NotJudged(why) => (None, Some(why)),
    };
    json!({
        "commit": change.commit.as_str(),
        "before": change.before.as_str(),
        "subject": change.subject,
        "verdict": outcome.verdict(),
        "title": title,
        "rules": outcome.objections().map(|finding| finding.rule.as_str()).collect::<Vec<_>>(),
        "not_judged": error,
        "seconds": took.as_secs_f64(),
    })
}
