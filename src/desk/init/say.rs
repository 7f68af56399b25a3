//! What `init` tells a newcomer: what was done, what was found, and what is next.

use super::detect::{Detected, ForgeHint};
use super::write::{NewFile, Written};
use crate::policy::{Class, Policy};
use crate::score::visible;

/// What was written, kept, or would be written.
pub(super) fn done(files: &[(NewFile, Written)], dry_run: bool, place: &str) -> Vec<String> {
    let new = files.iter().filter(|(_, written)| *written == Written::New).count();
    let policy_is_new = files.iter().any(|(file, written)| file.path == Policy::FILE && *written == Written::New);
    let headline = match (new, dry_run, policy_is_new) {
        (0, ..) => format!("Everything is there already in {place}: nothing was written."),
        (_, true, _) => format!("This would be written to {place}; nothing is, with --dry-run."),
        (_, false, true) => format!("{place} has a policy now. Nothing is enforced before you commit it."),
        (_, false, false) => {
            format!("{place} has a policy already, which stays; what it names and was missing is there now.")
        }
    };
    let mut lines = vec![visible(&headline), String::new()];
    let width = files.iter().map(|(file, _)| file.path.chars().count()).max().unwrap_or(0);
    for (file, written) in files {
        let mark = match (written, dry_run) {
            (Written::Kept, _) => "kept ",
            (Written::New, true) => "would",
            (Written::New, false) => "wrote",
        };
        lines.push(visible(&format!("  {mark}  {:width$}  {}", file.path, file.what)));
    }
    lines.push(String::new());
    lines
}

/// By what the policy was chosen.
pub(super) fn found(detected: &Detected) -> Vec<String> {
    let mut lines = vec!["What the policy is made of".to_owned()];
    for (ecosystem, signs) in &detected.ecosystems {
        let manifest = signs.manifest.as_deref().map(|path| format!("{path}, ")).unwrap_or_default();
        let files = if signs.sources == 1 { "file" } else { "files" };
        lines.push(visible(&format!("  {:<11} {manifest}{} source {files}", ecosystem.as_str(), signs.sources)));
    }
    if detected.ecosystems.is_empty() {
        lines.push(
            "  no language that has patterns of its own was found; general ones for tests and documentation apply"
                .to_owned(),
        );
    }
    for (class, pattern, files) in &detected.conventions {
        lines.push(visible(&format!("  {:<11} {pattern}, by its name ({files} files)", class.as_str())));
    }
    let classes: Vec<String> = Class::ALL
        .iter()
        .filter_map(|class| Some(format!("{} {}", detected.classes.get(class)?, class.as_str().replace('_', " "))))
        .collect();
    if !classes.is_empty() {
        lines.push(format!("  its files   {}", classes.join(", ")));
    }
    if let Some(first) = detected.unclassed.first() {
        let number: usize = detected.unclassed.iter().map(|group| group.files).sum();
        let number = if number == 1 { "1 file has".to_owned() } else { format!("{number} files have") };
        lines.push(visible(&format!(
            "  {number} no class yet, such as {}: a change there waits for a person; `product` in the policy offers lines for it",
            first.example
        )));
    }
    lines.push(String::new());
    lines
}

/// What a person does next.
pub(super) fn next(files: &[(NewFile, Written)], dry_run: bool, forge: ForgeHint, branch: &str) -> Vec<String> {
    let mut lines = vec!["Next".to_owned()];
    if dry_run {
        lines.push("  Run it again without --dry-run, in a working copy.".to_owned());
        return lines;
    }
    let mut names: Vec<&str> =
        files.iter().map(|(file, _)| file.path.split('/').next().unwrap_or(&file.path)).collect();
    names.dedup();
    lines.push(format!("  1. Read {}; `evidence-gate policy lint` looks it over.", Policy::FILE));
    lines.push("  2. Commit it to the default branch, where the gate reads it:".to_owned());
    lines.push(visible(&format!("       git add {}", names.join(" "))));
    lines.push("       git commit -m \"Gate pull requests with evidence-gate\"".to_owned());
    lines.push(format!("  3. Judge a branch of yours: evidence-gate score --base {branch} --head MY-BRANCH"));
    lines.push("  4. Let it judge every pull request:".to_owned());
    match forge {
        ForgeHint::GitHub | ForgeHint::Unknown => {
            lines.push(
                "       as a GitHub App, on a host that the author cannot write: \"Run it for GitHub\" in the README"
                    .to_owned(),
            );
            lines.push(
                "       in CI alone, to begin with: evidence-gate score --base origin/main --head HEAD --format github"
                    .to_owned(),
            );
        }
        ForgeHint::GitLab => {
            lines.push("       in a job of .gitlab-ci.yml, to begin with:".to_owned());
            lines.push("       evidence-gate score --base \"$CI_MERGE_REQUEST_DIFF_BASE_SHA\" --head \"$CI_COMMIT_SHA\" --format gitlab-codequality".to_owned());
        }
    }
    lines
}
