//! The jobs and steps of a build machine.

use std::rc::Rc;

use super::Side;
use crate::evidence::markers::config::entries::{self, Entry, Unreadable, Yaml};
use crate::evidence::markers::config::shell;
use crate::evidence::markers::marker::MarkerKind;

/// The jobs and steps of a build machine.
pub(super) fn ci(text: &str) -> Result<Side, Unreadable> {
    let mut side = Side::default();
    let lines: Vec<&str> = text.lines().collect();
    for document in entries::yaml_tree(text)? {
        let mut budget = 20_000_usize;
        step(&document, &mut Vec::new(), &lines, &mut budget, &mut side);
    }
    Ok(side)
}

/// All text below a node that could be a command, up to a budget.
fn commands(node: &Yaml, out: &mut String, budget: &mut usize) {
    if *budget == 0 {
        return;
    }
    *budget -= 1;
    match node {
        Yaml::Scalar(value, _) => {
            out.push_str(value);
            out.push('\n');
        }
        Yaml::List(list) => list.iter().for_each(|n| commands(n, out, budget)),
        Yaml::Map(map) => map
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "name" | "env" | "with"))
            .for_each(|(_, n)| commands(n, out, budget)),
    }
}

fn step(node: &Rc<Yaml>, key: &mut Vec<String>, lines: &[&str], budget: &mut usize, side: &mut Side) {
    if *budget == 0 || key.len() > 40 {
        return;
    }
    *budget -= 1;
    match &**node {
        Yaml::Scalar(value, line) => {
            let entry = Entry { key: key.clone(), value: value.clone(), line: *line };
            scalar(&entry, lines, side);
        }
        Yaml::List(list) => {
            for node in list {
                key.push("[]".to_owned());
                step(node, key, lines, budget, side);
                key.pop();
            }
        }
        Yaml::Map(map) => {
            let mut text = String::new();
            let mut cost = 2_000;
            commands(node, &mut text, &mut cost);
            let tests = text.lines().any(shell::runs_tests);
            for (name, value) in map {
                if tests && let Yaml::Scalar(value, line) = &**value {
                    let entry = Entry {
                        key: [key.as_slice(), std::slice::from_ref(name)].concat(),
                        value: value.clone(),
                        line: *line,
                    };
                    switch(&entry, name, side);
                }
                key.push(name.clone());
                step(value, key, lines, budget, side);
                key.pop();
            }
        }
    }
}

/// A key beside commands that run tests.
fn switch(entry: &Entry, name: &str, side: &mut Side) {
    let value = entry.value.trim();
    let on = matches!(value, "true" | "yes" | "on" | "True");
    match name {
        "continue-on-error" | "continueOnError" | "allow_failure" | "allow_failures" | "soft_fail"
        | "ignore_failure" | "ignore_errors" | "ignore_error" | "failure" => {
            if on || (name == "failure" && value == "ignore") {
                side.mark(MarkerKind::Masked, entry, format!("{name}: {value}"));
            } else if value.contains("${{") || value.contains('$') {
                side.mark(MarkerKind::Retry, entry, format!("{name}: {value}"));
            }
        }
        "if" | "when" | "condition" if matches!(value, "false" | "${{ false }}" | "never" | "manual" | "False") => {
            side.mark(MarkerKind::Disabled, entry, format!("{name}: {value}"));
        }
        "timeout-minutes" | "timeout" | "timeoutInMinutes" | "retry" | "max_attempts" | "retries" | "attempts" => {
            side.mark_value(MarkerKind::Retry, entry);
        }
        "shell" if value.contains("|| true") || value.contains("+e") => {
            side.mark(MarkerKind::Masked, entry, format!("shell: {value}"));
        }
        _ => {}
    }
}

fn scalar(entry: &Entry, lines: &[&str], side: &mut Side) {
    let name = entry.last();
    if matches!(name, "name" | "description" | "uses" | "if" | "title" | "label") {
        return;
    }
    if entry.key.iter().any(|k| k == "env" || k == "environment" || k == "variables") {
        if let Some(word) = shell::updates(&format!("{name}={}", entry.value)) {
            side.mark(MarkerKind::Snapshot, entry, word);
        }
        return;
    }
    if entry.key.iter().any(|k| k == "with") && !matches!(name, "command" | "run" | "script" | "args") {
        if matches!(name, "max_attempts" | "retries") {
            side.mark_value(MarkerKind::Retry, entry);
        }
        return;
    }
    // A block begins on the line behind its sign.
    let at = usize::try_from(entry.line).unwrap_or(1).saturating_sub(1);
    let block = lines.get(at).is_some_and(|l| {
        l.trim_end().ends_with(['|', '>'])
            || l.trim_end().ends_with("|-")
            || l.trim_end().ends_with(">-")
            || l.trim_end().ends_with("|+")
    });
    let mut entry = entry.clone();
    entry.line += u32::from(block);
    let value = entry.value.clone();
    side.command(&entry, &value);
}
