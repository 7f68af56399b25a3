//! What is written down agrees with the code: rules, schema, names and links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use evidence_gate::evidence::Rule;
use evidence_gate::report::RULES_PAGE;
use evidence_gate::score::{all_rules, record_schema};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde_json::Value;

use crate::rooms::{Token, sources, tokens};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Holds a committed file against what the code makes of it. Where they differ, the new text is left under `target/` to be copied.
fn is_up_to_date(path: &str, made: &str) {
    let committed = fs::read_to_string(root().join(path)).unwrap_or_default();
    if committed == made {
        return;
    }
    let name = Path::new(path).file_name().unwrap().to_str().unwrap();
    fs::write(root().join("target").join(name), made).unwrap();
    panic!("{path} does not say what the code says: cp target/{name} {path}");
}

fn rules_page() -> String {
    let opening = "# Rules\n\n\
        Every finding names one of these rules. The worst finding's verdict is the verdict: reject, then unscored, then hold,\n\
        then review. A policy may soften or sharpen some of them; the record says which verdict a finding had.\n\n\
        This page is made from the code, and a test holds the two together.\n\n";
    let section = |rule: &Rule| {
        let Rule { id, verdict, when, innocent, next } = rule;
        format!("## {id}\n\n- Verdict: {verdict}\n- When: {when}\n- Innocent when: {innocent}\n- Next: {next}\n")
    };
    let sections: Vec<String> = all_rules().map(section).collect();
    opening.to_owned() + &sections.join("\n")
}

#[test]
fn the_page_of_rules_says_what_the_code_says() {
    is_up_to_date("docs/rules.md", &rules_page());
}

#[test]
fn the_page_of_rules_has_one_section_for_each_rule() {
    let page = read("docs/rules.md");
    let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let rules: Vec<&str> = all_rules().map(|rule| rule.id).collect();
    assert_eq!(sections, rules);
    assert_eq!(rules.iter().collect::<BTreeSet<_>>().len(), rules.len(), "an id stands for one rule");
    assert!(RULES_PAGE.ends_with("/docs/rules.md"));
}

#[test]
fn every_rule_speaks_in_whole_sentences_and_has_an_id_that_is_an_anchor() {
    for rule in all_rules() {
        let Rule { id, verdict: _, when, innocent, next } = rule;
        assert!(id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{id}");
        for sentence in [when, innocent, next] {
            let begins = sentence.starts_with(|c: char| c.is_uppercase() || c == '`');
            assert!(begins && sentence.ends_with('.') && !sentence.contains('\n'), "{id}: {sentence:?}");
        }
    }
}

#[test]
fn the_published_schemas_are_the_codes() {
    let text = |schema: Value| serde_json::to_string_pretty(&schema).unwrap() + "\n";
    is_up_to_date("docs/record.schema.json", &text(record_schema()));
    is_up_to_date("docs/verdict-v1.schema.json", &text(evidence_gate::proof::statement_schema()));
    is_up_to_date("docs/policy.schema.json", &text(evidence_gate::policy::schema()));
}

#[test]
fn the_page_of_the_policy_says_what_the_code_says() {
    is_up_to_date("docs/policy.md", &evidence_gate::policy::reference());
}

/// Pages that a person reads, as paths below the root.
fn pages() -> Vec<String> {
    let markdown = |folder: &str| {
        let files =
            fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let pages = files.filter(|name| Path::new(name).extension().is_some_and(|end| end == "md"));
        pages.map(|name| format!("{folder}{name}")).collect::<Vec<_>>()
    };
    let mut pages = [markdown(""), markdown("docs/")].concat();
    pages.sort();
    pages
}

#[test]
fn the_pages_that_a_maintainer_looks_for_are_there() {
    let pages = pages();
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/rules.md"] {
        assert!(pages.contains(&page.to_owned()), "{page} is missing from {pages:?}");
    }
}

#[test]
fn every_relative_link_leads_somewhere() {
    let anchors: BTreeMap<String, BTreeSet<String>> =
        pages().into_iter().map(|page| (page.clone(), headings(&read(&page)))).collect();
    let mut broken = Vec::new();
    for page in pages() {
        for link in links(&read(&page)).into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:"))
        {
            let (path, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { page.clone() } else { beside(&page, path) };
            let there = root().join(&target).exists();
            let section = anchor.is_none_or(|anchor| anchors.get(&target).is_some_and(|of| of.contains(anchor)));
            if !there || !section {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn beside(page: &str, path: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn links(markdown: &str) -> Vec<String> {
    let found = Parser::new(markdown).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    });
    found.collect()
}

/// The anchors that the forge makes of headings: lower case, without punctuation, dashes for spaces.
fn headings(markdown: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
            Event::End(TagEnd::Heading(_)) => {
                let kept = heading.take().unwrap().to_lowercase();
                let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
                anchors.insert(kept.collect::<String>().replace(' ', "-"));
            }
            _ => {}
        }
    }
    anchors
}

/// Programs and words of other tools that ARCHITECTURE.md may name without our having a symbol of that name.
const NOT_OURS: [&str; 5] = ["git", "gcc", "main", "success", "syn"];

/// Names in code spans of a page that should be ours: `Type`, `room/`, `path::to`, `function()`, `constant_like_this`, `rule-id`.
fn names(markdown: &str) -> Vec<String> {
    let spans = Parser::new(markdown).filter_map(|event| match event {
        Event::Code(code) => Some(code.to_string()),
        _ => None,
    });
    spans
        .filter(|name| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "_:()!/-".contains(c))
        })
        .collect()
}

#[test]
fn every_name_in_the_architecture_exists() {
    let sources = sources();
    let mut known: BTreeSet<String> = NOT_OURS.map(str::to_owned).into();
    for (file, source) in &sources {
        known.extend(file.trim_end_matches(".rs").split('/').map(str::to_owned));
        known.extend(tokens(source).into_iter().filter_map(|token| match token {
            Token::Word(word) => Some(word),
            Token::Colons | Token::Mark(_) | Token::Text(_) => None,
        }));
    }
    let texts: String = sources.iter().map(|(_, source)| source.as_str()).collect();
    let manifest = read("Cargo.toml");
    let exists = |name: &str| {
        let plain = name.trim_end_matches('!').trim_end_matches("()").trim_end_matches('/');
        match name {
            path if path.contains('/') => root().join(path).exists() || root().join("src").join(path).exists(),
            id if id.contains('-') => texts.contains(&format!("\"{id}\"")) || manifest.contains(id),
            _ => plain.split("::").all(|part| known.contains(part)) || manifest.contains(&format!("\n{plain} =")),
        }
    };
    let missing: Vec<String> = names(&read("ARCHITECTURE.md")).into_iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what is not there: {missing:?}");
    assert!(!exists("Verdikt") && !exists("forge::Octopus") && !exists("no-such-rule") && !exists("cellar/"));
}

#[test]
fn every_dependency_has_its_reason_in_the_architecture() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let reasons: BTreeSet<String> = names(&read("ARCHITECTURE.md")).into_iter().collect();
    let all = manifest["dependencies"].as_table().unwrap().keys();
    let without: Vec<&String> = all.filter(|name| !reasons.contains(*name)).collect();
    assert!(without.is_empty(), "ARCHITECTURE.md does not say what these are for: {without:?}");
}

/// STYLE of this house: no page and no source names a folder of the machine that it was written on.
#[test]
fn no_page_names_the_machine_it_was_written_on() {
    let home: PathBuf = root().parent().unwrap().to_path_buf();
    for page in pages() {
        assert!(!read(&page).contains(home.to_str().unwrap()), "{page}");
    }
}
