//! See the room of this name.

use evidence_gate::change::BytePath;
use evidence_gate::policy::{
    Authority, Class, Ecosystem, Gate, Pattern, Policy, Release, RequireProperties, Role, Strictness, built_in, parse,
    schema,
};
use evidence_gate::report::Colour;
use insta::assert_snapshot;

/// The example of the design, as it stands there.
const EXAMPLE: &str = r#"schema = 1
added_tests = "hold"              # or "record"

[scope]
gate = "all"                      # or "agents": only pull requests that match below are gated
authors = ["*[bot]"]              # agents by login, branch, commit trailer or label
branches = ["copilot/*", "codex/*", "claude/*", "devin/*", "cursor/*", "agent/*"]

[classes]                         # gitignore-style globs; built-in sets per ecosystem: extends = ["python"]
extends = ["python"]
product = ["src/**"]
allowed = ["docs/**", "*.md"]

[limits]
max_changed_files = 60

[require]
fixture_lock = true
properties = "configured"         # "off" | "configured" | "touched"

[oracles]
root = "oracle"                   # holds properties/, samples/, known_bad/

[fixtures]
lock = "fixtures.lock"
added = "reject"                  # or "hold"
human_prefixes = ["docs/screenshots/"]

[freeze]
ledger = "freeze_ledger.json"
max_days = 30
keep = ['HTTP \d{3}']

[surface]
deletion_only = "unscored"
unobserved = "report"
max_map_age = 20

[[property]]
id = "retry_budget"
command = ["python3", "-I", "properties/retry_budget.py"]   # relative to oracles.root
seed = 20260921
trials = 200
timeout = "45s"
paths = ["src/retry/**"]

[holds]
release = "approval"              # or "never"
min_role = "maintain"

[lane]
label = "evidence-edit"
authority = "approval"            # or "label"
min_role = "maintain"

[commands]
min_role = "write"
"#;

/// The policy of a text that is one.
fn policy(text: &str) -> Policy {
    parse(text, "policy.toml").unwrap_or_else(|error| panic!("{}", shown(&error)))
}

/// What a person sees of a refusal.
fn refusal(text: &str) -> String {
    shown(&parse(text, "policy.toml").expect_err("the text is no policy"))
}

fn shown(error: &evidence_gate::policy::PolicyError) -> String {
    let mut shown = String::new();
    let theme = miette::GraphicalTheme::unicode_nocolor();
    miette::GraphicalReportHandler::new_themed(theme).with_width(120).render_report(&mut shown, error).unwrap();
    shown.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_of_the_design_is_read_key_by_key() {
    let policy = policy(EXAMPLE);
    assert_eq!(policy.scope.gate, Gate::All);
    assert!(policy.scope.authors[0].matches("copilot-swe-agent[bot]"));
    assert_eq!(policy.classes.extends, [Ecosystem::Python]);
    assert_eq!(policy.classes.allowed.iter().map(Pattern::text).collect::<Vec<_>>(), ["docs/**", "*.md"]);
    assert_eq!(policy.classes.allowed[1].line(), Some(12));
    assert!(policy.require.fixture_lock);
    assert_eq!(policy.require.properties, RequireProperties::Configured);
    assert_eq!(policy.oracles.root.as_str(), "oracle");
    assert_eq!(policy.fixtures.added, Strictness::Reject);
    assert_eq!(policy.fixtures.human_prefixes[0].as_str(), "docs/screenshots");
    assert!(policy.freeze.keep[0].regex().is_match("HTTP 503"));
    let property = &policy.property[0];
    assert_eq!(property.id.as_str(), "retry_budget");
    assert_eq!(property.command.words(), ["python3", "-I", "properties/retry_budget.py"]);
    assert_eq!((property.seed, property.trials, property.timeout.0.as_secs()), (20_260_921, 200, 45));
    assert_eq!((policy.holds.release, policy.holds.min_role), (Release::Approval, Role::Maintain));
    assert_eq!((policy.lane.authority, policy.lane.label.as_str()), (Authority::Approval, "evidence-edit"));
    assert_eq!(policy.commands.min_role, Role::Write);
}

#[test]
fn every_key_but_the_schema_may_be_left_out() {
    assert_eq!(policy("schema = 1\n"), Policy::default());
}

#[test]
fn a_mark_at_the_start_and_carriage_returns_change_nothing() {
    let marked = format!("\u{feff}{}", EXAMPLE.replace('\n', "\r\n"));
    assert_eq!(policy(&marked), policy(EXAMPLE));
}

#[test]
fn the_order_of_sections_changes_nothing() {
    let one = policy("schema = 1\n[limits]\nmax_changed_files = 7\n[lane]\nlabel = \"x\"\n");
    let other = policy("lane.label = \"x\"\nschema = 1\nlimits = { max_changed_files = 7 }\n");
    assert_eq!(one, other);
}

#[test]
fn a_policy_that_was_read_is_written_and_read_again_the_same() {
    for text in [EXAMPLE, "schema = 1"] {
        let read = policy(text);
        let again = policy(&toml::to_string(&read).unwrap());
        assert_eq!(toml::to_string(&again).unwrap(), toml::to_string(&read).unwrap());
    }
}

#[test]
fn a_misspelt_key_is_named_with_its_line_and_the_nearest_known_key() {
    assert_snapshot!(refusal("schema = 1\n\n[classes]\nprodcut = [\"src/**\"]\n"), @r#"
      × policy.toml is no policy that can be used

    Error:
      × line 4: unknown key `prodcut` in [classes]
       ╭─[policy.toml:4:1]
     3 │ [classes]
     4 │ prodcut = ["src/**"]
       · ───┬───
       ·    ╰── here
       ╰────
      help: did you mean `product`?
    "#);
}

#[test]
fn a_key_of_another_section_is_told_where_it_belongs() {
    assert_snapshot!(refusal("schema = 1\nmax_changed_files = 60\n[limits]\nadded_tests = \"hold\"\n"), @r#"
      × policy.toml is no policy that can be used

    Error:
      × line 2: unknown key `max_changed_files`
       ╭─[policy.toml:2:1]
     1 │ schema = 1
     2 │ max_changed_files = 60
       · ────────┬────────
       ·         ╰── here
     3 │ [limits]
       ╰────
      help: `max_changed_files` is a key of [limits]

    Error:
      × line 4: unknown key `added_tests` in [limits]
       ╭─[policy.toml:4:1]
     3 │ [limits]
     4 │ added_tests = "hold"
       · ─────┬─────
       ·      ╰── here
       ╰────
      help: `added_tests` stands at the top of the file, before the first section
    "#);
}

#[test]
fn a_wrong_word_is_told_the_right_ones() {
    assert_snapshot!(refusal("schema = 1\nadded_tests = \"recrod\"\n[classes]\nextends = [\"python\", \"pyton\"]\n"), @r#"
      × policy.toml is no policy that can be used

    Error:
      × line 2: `added_tests` must be "hold" or "record", and is "recrod"
       ╭─[policy.toml:2:15]
     1 │ schema = 1
     2 │ added_tests = "recrod"
       ·               ────┬───
       ·                   ╰── here
     3 │ [classes]
       ╰────
      help: did you mean "record"?

    Error:
      × line 4: `extends` must be "generic" or "python" or "javascript" or "rust" or "go" or "java" or "ruby" or "php" or
      │ "dotnet", and is "pyton"
       ╭─[policy.toml:4:22]
     3 │ [classes]
     4 │ extends = ["python", "pyton"]
       ·                      ───┬───
       ·                         ╰── here
       ╰────
      help: did you mean "python"?
    "#);
}

#[test]
fn a_wrong_type_is_named_in_plain_words() {
    assert_snapshot!(refusal("schema = 1\n[limits]\nmax_changed_files = \"60\"\n[classes]\nproduct = \"src/**\"\n"), @r#"
      × policy.toml is no policy that can be used

    Error:
      × line 3: `max_changed_files` must be a whole number, and is a text
       ╭─[policy.toml:3:21]
     2 │ [limits]
     3 │ max_changed_files = "60"
       ·                     ──┬─
       ·                       ╰── here
     4 │ [classes]
       ╰────

    Error:
      × line 5: `product` must be a list, and is a text
       ╭─[policy.toml:5:11]
     4 │ [classes]
     5 │ product = "src/**"
       ·           ────┬───
       ·               ╰── here
       ╰────
    "#);
}

#[test]
fn every_fault_is_shown_at_once() {
    let text = r#"schema = 2
[classes]
allowed = ["docs/**", "!docs/x", "a["]
[limits]
max_changed_files = 0
[oracles]
root = "../elsewhere"
[freeze]
keep = ['(']
[[property]]
id = "one"
command = ["python3", "../x.py"]
timeout = "soon"
[[property]]
id = "one"
command = []
"#;
    assert_snapshot!(refusal(text), @r#"
      × policy.toml is no policy that can be used

    Error:
      × line 1: `schema` must be 1
       ╭─[policy.toml:1:10]
     1 │ schema = 2
       ·          ┬
       ·          ╰── here
     2 │ [classes]
       ╰────

    Error:
      × line 3: `!docs/x` starts with `!`, and patterns cannot take something out of a class
       ╭─[policy.toml:3:23]
     2 │ [classes]
     3 │ allowed = ["docs/**", "!docs/x", "a["]
       ·                       ────┬────
       ·                           ╰── here
     4 │ [limits]
       ╰────

    Error:
      × line 3: `a[` is no pattern: unclosed character class; missing ']'
       ╭─[policy.toml:3:34]
     2 │ [classes]
     3 │ allowed = ["docs/**", "!docs/x", "a["]
       ·                                  ──┬─
       ·                                    ╰── here
     4 │ [limits]
       ╰────

    Error:
      × line 5: `max_changed_files` must be a whole number, at least 1
       ╭─[policy.toml:5:21]
     4 │ [limits]
     5 │ max_changed_files = 0
       ·                     ┬
       ·                     ╰── here
     6 │ [oracles]
       ╰────

    Error:
      × line 7: `../elsewhere` does not stay inside the repository: paths are counted from its root and have no leading
      │ slash, empty part, `.`, `..` or backslash
       ╭─[policy.toml:7:8]
     6 │ [oracles]
     7 │ root = "../elsewhere"
       ·        ───────┬──────
       ·               ╰── here
     8 │ [freeze]
       ╰────

    Error:
      × line 9: `(` is no regular expression: unclosed group
        ╭─[policy.toml:9:9]
      8 │ [freeze]
      9 │ keep = ['(']
        ·         ─┬─
        ·          ╰── here
     10 │ [[property]]
        ╰────

    Error:
      × line 12: `../x.py` leads out of the folder in which the command runs; for a property that is `oracles.root`
        ╭─[policy.toml:12:11]
     11 │ id = "one"
     12 │ command = ["python3", "../x.py"]
        ·           ───────────┬──────────
        ·                      ╰── here
     13 │ timeout = "soon"
        ╰────

    Error:
      × line 15: the property id `one` stands twice
        ╭─[policy.toml:15:6]
     14 │ [[property]]
     15 │ id = "one"
        ·      ──┬──
        ·        ╰── here
     16 │ command = []
        ╰────

    Error:
      × line 16: a command is a list that begins with a program, like ["python3", "-I", "check.py"]
        ╭─[policy.toml:16:11]
     15 │ id = "one"
     16 │ command = []
        ·           ─┬
        ·            ╰── here
        ╰────
    "#);
}

#[test]
fn text_that_is_no_toml_is_refused_with_its_place() {
    assert_snapshot!(refusal("schema = 1\n[limits\nmax = \n"), @r#"
      × policy.toml is no policy that can be used

    Error:
      × line 2: unclosed table, expected `]`
       ╭─[policy.toml:2:8]
     1 │ schema = 1
     2 │ [limits
       ·        ▲
       ·        ╰── here
     3 │ max =
       ╰────
    "#);
}

#[test]
fn an_empty_text_is_no_policy() {
    assert_snapshot!(parse("", "policy.toml").unwrap_err().one_line(), @"line 1: `schema = 1` is missing; write `schema = 1` as the first line");
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    assert_snapshot!(parse("schema = 1\nschema = 1\n", "policy.toml").unwrap_err().one_line(), @"line 2: duplicate key");
}

#[test]
fn a_text_beyond_the_limit_is_refused_before_it_is_read() {
    let text = format!("schema = 1\n# {}", "x".repeat(1024 * 1024));
    assert_snapshot!(parse(&text, "policy.toml").unwrap_err().one_line(), @"line 1: the file has 1048589 bytes, and a policy may have 1048576");
}

#[test]
fn faults_name_the_key_that_is_missing() {
    assert_snapshot!(parse("schema = 1\n[[property]]\nid = \"x\"\n", "p").unwrap_err().one_line(), @"line 3: `command` is missing in [[property]]");
    assert_snapshot!(parse("schema = 1\n[tree_tests]\nreport = \"x\"\n", "p").unwrap_err().one_line(), @"line 3: `command` is missing in [tree_tests]");
    assert_snapshot!(parse("schema = 1\n[[markers.extra]]\nkind = \"skip\"\n", "p").unwrap_err().one_line(), @"line 3: `text` is missing in `extra`");
    assert_snapshot!(parse("schema = 1\n[[markers.extra]]\ntext = \"@x\"\nkinds = 3\n", "p").unwrap_err().one_line(), @"line 4: unknown key `kinds` in `extra`; did you mean `kind`?");
}

#[test]
fn every_key_of_the_schema_is_described() {
    fn walk(value: &serde_json::Value, path: &str, missing: &mut Vec<String>) {
        if let Some(properties) = value.get("properties").and_then(|value| value.as_object()) {
            for (key, inner) in properties {
                if inner.get("description").is_none() {
                    missing.push(format!("{path}.{key}"));
                }
            }
        }
        for (key, inner) in value.get("$defs").and_then(|value| value.as_object()).into_iter().flatten() {
            walk(inner, key, missing);
        }
    }
    let schema = schema();
    let mut missing = Vec::new();
    walk(&schema, "", &mut missing);
    assert_eq!(missing, Vec::<String>::new());
    assert_eq!(schema["required"], serde_json::json!(["schema"]));
    assert_eq!(schema["additionalProperties"], serde_json::json!(false));
}

#[test]
fn every_built_in_pattern_could_stand_in_a_policy_once() {
    let all: Vec<_> = built_in(&Ecosystem::ALL).collect();
    let mut seen = std::collections::BTreeSet::new();
    for pattern in &all {
        Pattern::new(pattern.text).unwrap_or_else(|error| panic!("{}: {error}", pattern.text));
        assert_ne!(pattern.class, Class::Other);
        let other = seen.insert((pattern.text, pattern.class, pattern.set));
        assert!(other, "{} stands twice in {}", pattern.text, pattern.set);
    }
    assert!(all.len() > 400, "{}", all.len());
}

#[test]
fn no_choice_of_sets_gives_up_policies_ledgers_and_oracles() {
    let always: Vec<_> = built_in(&[]).collect();
    for class in [Class::Policy, Class::FreezeLedger, Class::Oracle] {
        assert!(always.iter().any(|pattern| pattern.class == class));
    }
    for sets in [&[Ecosystem::Go][..], &Ecosystem::ALL] {
        let patterns: Vec<_> = built_in(sets).collect();
        assert!(always.iter().all(|pattern| patterns.contains(pattern)));
    }
}

#[test]
fn the_check_command_says_what_it_read_and_exits_65_on_a_fault() {
    use evidence_gate::desk::checked;
    let said = checked(EXAMPLE, "policy.toml", Colour::Never).unwrap();
    assert_snapshot!(said, @"policy.toml is a policy: 3 patterns of its own, 1 property");
    let error = checked("schema = 1\nx = 1\n", "policy.toml", Colour::Never).unwrap_err();
    assert_eq!(error.exit_code(), 65);
    assert!(error.to_string().contains("policy.toml is no policy that can be used"), "{error}");
}

#[test]
fn the_explain_command_names_class_pattern_and_origin() {
    use evidence_gate::desk::explained;
    let paths = ["src/retry/a.py", "tests/fixtures/a.json", "notes.bin", "../x", "oracle/p.py", "a\tb"];
    let mut paths: Vec<BytePath> = paths.into_iter().map(BytePath::new).collect();
    paths.push(BytePath::new(*b"src/\xff.py"));
    assert_snapshot!(explained(&parse(EXAMPLE, "policy.toml").unwrap(), &paths), @r#"
    src/retry/a.py: product, by src/** in line 11 of the policy
    tests/fixtures/a.json: fixture (evidence), by **/fixtures/** in the built-in set `generic`
    notes.bin: other, since no pattern matches
    ../x: no path of a repository, since it has a part `.` or `..`
    oracle/p.py: oracle (evidence), by oracle in `oracles.root` of the policy
    a\x09b: other, since no pattern matches
    src/\xff.py: other, since its name is no UTF-8 text
    "#);
    assert_snapshot!(explained(&Policy::default(), &paths[..2]), @r#"
    src/retry/a.py: product, by **/src/** in the built-in set `generic`
    tests/fixtures/a.json: fixture (evidence), by **/fixtures/** in the built-in set `generic`
    "#);
}
