//! Record -> check run, text, Markdown, JSON; and what the forge made of it.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use evidence_gate::change::{BytePath, Status};
use evidence_gate::evidence::{Finding, Location};
use evidence_gate::forge::{
    Annotation, AnnotationLevel, Conclusion, Forge, ForgeError, NewRun, Output, PostedRun, Pull, PullCommit, Remote,
    Review, RunUpdate,
};
use evidence_gate::policy::Class;
use evidence_gate::report::{
    Colour, MOST_BYTES, PostError, Posting, RULES_PAGE, Target, annotations, conclusion, fallback, json, markdown,
    output, post, read_back, text, waiting, word,
};
use evidence_gate::score::{Judged, Record};
use evidence_gate::words::{
    BaseSha, ForgeKind, HeadSha, InstallationId, PullNumber, RepoRef, RepositoryId, Role, RunId, Verdict,
};
use insta::assert_snapshot;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser};

use crate::score::{FIXTURE, PRODUCT, Row, digests, finding, not_observed, record, record_of, rule, subject};

const VERDICTS: [Verdict; 4] = [Verdict::Review, Verdict::Hold, Verdict::Unscored, Verdict::Reject];

fn default_record(verdict: Verdict) -> Record {
    let message = "tests/fixtures/fees.json is a fixture, and its content was changed.";
    match verdict {
        Verdict::Review => record(&[PRODUCT], vec![]),
        Verdict::Hold | Verdict::Unscored | Verdict::Reject => {
            record(&[PRODUCT, FIXTURE], vec![finding(verdict, message, &[b"tests/fixtures/fees.json"])])
        }
    }
}

fn hostile_names() -> Vec<Vec<u8>> {
    let long = [b"deep/".to_vec(), vec![b'n'; 4_000], b"/end.rs".to_vec()].concat();
    [
        &b"a\nb\tc\"d'e\\f.rs"[..],
        b"not\xffutf8\xc3.rs",
        "right\u{202e}sr.evil\u{2066}.rs".as_bytes(),
        b"``x` | @team #12 <img src=x onerror=alert(1)>.rs",
        b"::error file=x::pwned",
        b"##[error]pwned",
        b"\x1b]0;title\x07\x1b[31mred",
        b"[a](http://example.org) ![b](c) www.example.org",
        &long,
    ]
    .map(<[u8]>::to_vec)
    .to_vec()
}

fn hostile_record() -> Record {
    let names = hostile_names();
    let rows: Vec<Row<'_>> = names.iter().map(|name| (Status::Added, name.as_slice(), Class::Other)).collect();
    let said = names.iter().map(|name| {
        let text = format!("The file {} is of no known class.", BytePath::new(name.as_slice()));
        finding(Verdict::Hold, &text, &[name])
    });
    record(&rows, said.collect())
}

fn huge_record(files: usize) -> Record {
    let classes = [Class::Product, Class::Fixture, Class::Test, Class::Other];
    let names: Vec<String> =
        (0..files).map(|n| format!("src/module_{:03}/a_rather_long_name_{n}.rs", n % 97)).collect();
    let rows: Vec<Row<'_>> =
        names.iter().enumerate().map(|(n, name)| (Status::Modified, name.as_bytes(), classes[n % 4])).collect();
    let of = |verdict, nth: usize| {
        let paths: Vec<&[u8]> = names.iter().skip(nth).step_by(4).map(String::as_bytes).collect();
        finding(verdict, "These files are not the product.", &paths)
    };
    record(&rows, vec![of(Verdict::Reject, 1), of(Verdict::Hold, 2), of(Verdict::Hold, 3)])
}

/// The whole Markdown of a record, told what of it is more than text, code and our own structure.
fn foreign(markdown: &str) -> Vec<String> {
    Parser::new_ext(markdown, Options::all())
        .filter_map(|event| match event {
            Event::Html(html) | Event::InlineHtml(html) => Some(html.to_string()),
            Event::Start(pulldown_cmark::Tag::Link { dest_url, .. }) if !dest_url.starts_with(RULES_PAGE) => {
                Some(dest_url.to_string())
            }
            Event::Start(pulldown_cmark::Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
            Event::Text(text) if text.contains(['@', '\u{202e}']) => Some(text.to_string()),
            _ => None,
        })
        .collect()
}

#[test]
fn every_verdict_has_one_conclusion_on_every_forge() {
    for (verdict, meant, github, gitlab) in [
        (Verdict::Review, Conclusion::Success, "success", "success"),
        (Verdict::Hold, Conclusion::ActionRequired, "action_required", "failed"),
        (Verdict::Unscored, Conclusion::ActionRequired, "action_required", "failed"),
        (Verdict::Reject, Conclusion::Failure, "failure", "failed"),
    ] {
        assert_eq!(conclusion(&default_record(verdict)), meant, "{verdict}");
        assert_eq!(word(ForgeKind::Github, meant), github);
        assert_eq!(word(ForgeKind::Gitlab, meant), gitlab);
    }
}

#[test]
fn a_review_that_is_not_complete_blocks() {
    let mut record = default_record(Verdict::Review);
    record.merged_tree = None;
    assert_eq!(conclusion(&record), Conclusion::ActionRequired);
}

#[test]
fn each_verdict_has_its_check_run() {
    for verdict in VERDICTS {
        let Output { title, summary, text } = output(&default_record(verdict), RULES_PAGE);
        let whole = format!("{title}\n\n{summary}\n---- text\n{}", text.unwrap());
        insta::assert_snapshot!(format!("check_run_{verdict}"), whole);
    }
}

#[test]
fn each_verdict_has_its_text_for_a_terminal() {
    for verdict in VERDICTS {
        insta::assert_snapshot!(format!("text_{verdict}"), text(&default_record(verdict), Colour::Never, 80));
    }
}

#[test]
fn colour_is_there_only_when_it_is_asked_for() {
    let record = default_record(Verdict::Reject);
    let plain = text(&record, Colour::Never, 80);
    let painted = text(&record, Colour::Always, 80);
    assert!(!plain.contains('\x1b'));
    assert!(painted.starts_with("\x1b[1m\x1b[31mREJECT: sample-reject"), "{painted:?}");
    assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
}

#[test]
fn hostile_names_are_shown_and_do_nothing() {
    let record = hostile_record();
    let Output { title, summary, text: every } = output(&record, RULES_PAGE);
    insta::assert_snapshot!("check_run_hostile", format!("{title}\n\n{summary}\n---- text\n{}", every.unwrap()));
    insta::assert_snapshot!("text_hostile", text(&record, Colour::Never, 80));
    assert_eq!(foreign(&markdown(&record, RULES_PAGE)), [""; 0]);
}

#[test]
fn nothing_that_is_printed_can_move_a_cursor_reorder_text_or_command_a_runner() {
    let record = hostile_record();
    for printed in
        [text(&record, Colour::Never, 80), markdown(&record, RULES_PAGE), json(&record), record.title.clone()]
    {
        for line in printed.lines() {
            assert!(!line.trim_start().starts_with("::"), "{line}");
            assert!(!line.contains("##["), "{line}");
            assert!(!line.contains(|c: char| c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c)), "{line:?}");
            assert!(!line.contains(['\u{2066}', '\u{200f}']), "{line:?}");
        }
    }
    let read: Record = serde_json::from_str(&json(&record)).unwrap();
    assert_eq!(read, record);
}

#[test]
fn a_line_that_looks_like_a_command_loses_its_colons() {
    let mut record = default_record(Verdict::Hold);
    record.findings[0].message = format!("{} ::error::x", "word ".repeat(15));
    record.findings[0].locations[0].path = "::set-output name=a::b".into();
    let text = text(&record, Colour::Never, 80);
    assert!(text.contains(r"\x3a:error::x"), "{text}");
    assert!(text.contains(r"    \x3a:set-output name=a::b"), "{text}");
}

#[test]
fn a_huge_change_fits_and_says_what_is_left_out() {
    let record = huge_record(3_500);
    let Output { title, summary, text: every } = output(&record, RULES_PAGE);
    let every = every.unwrap();
    assert!(summary.len() <= MOST_BYTES && every.len() <= MOST_BYTES, "{} {}", summary.len(), every.len());
    assert_snapshot!(title, @"REJECT: sample-reject: src/module_000/a_rather_long_name_1261.rs and 874 more");
    insta::assert_snapshot!("summary_huge", summary);
    let listed = every.lines().filter(|line| line.starts_with("| ") && line.contains(".rs")).count();
    let last = every.lines().last().unwrap();
    assert_eq!(last, format!("| … | {} omitted; the record has them all |", 3_500 - listed));
    assert!(listed > 500, "{listed}");
}

#[test]
fn the_digests_keep_their_place_when_everything_else_is_cut() {
    let name = "\u{202e}|`".repeat(1_400);
    let rows: Vec<Row<'_>> =
        (0..3_500).map(|n| (Status::Added, name.as_bytes(), Class::ALL[n % Class::ALL.len()])).collect();
    let findings =
        (0..300).map(|n| finding(VERDICTS[n % 4], &format!("{n} {}", "@`\u{202e} ".repeat(900)), &[name.as_bytes()]));
    let absent = vec!["\u{202e} @x ".repeat(500); 80];
    let judged = Judged { digests: digests(), not_observed: absent, ..Judged::default() };
    let record = record_of(subject(), &rows, findings.collect(), judged);
    let Output { title, summary, text } = output(&record, RULES_PAGE);
    assert!(title.len() <= 1_000);
    assert!(summary.len() <= MOST_BYTES, "{}", summary.len());
    assert!(text.is_some_and(|text| text.len() <= MOST_BYTES));
    assert!(summary.contains("findings omitted"));
    assert!(summary.trim_end().ends_with(&format!("| judged by | `evidence-gate {}` |", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn the_fallback_is_small_whatever_the_record_holds() {
    for record in [hostile_record(), huge_record(3_500), default_record(Verdict::Review)] {
        let Output { title, summary, text } = fallback(&record);
        assert!(title.len() + summary.len() < 1_000, "{} {}", title.len(), summary.len());
        assert_eq!(text, None);
    }
    let small = fallback(&default_record(Verdict::Reject));
    insta::assert_snapshot!("fallback", format!("{}\n\n{}", small.title, small.summary));
}

#[test]
fn a_finding_on_a_whole_file_is_marked_at_its_first_line() {
    let record = default_record(Verdict::Reject);
    assert_eq!(
        annotations(&record),
        [Annotation {
            path: "tests/fixtures/fees.json".into(),
            line: 1,
            end_line: 1,
            level: AnnotationLevel::Failure,
            title: "reject: sample-reject".into(),
            message: "tests/fixtures/fees.json is a fixture, and its content was changed.\n\nNext: Take these files out of the pull request.".into(),
        }]
    );
}

#[test]
fn a_file_that_is_gone_or_was_never_changed_is_not_marked() {
    let gone: Row<'_> = (Status::Deleted, b"tests/old.rs", Class::Test);
    let record = record(&[gone, PRODUCT], vec![finding(Verdict::Reject, "m", &[b"tests/old.rs", b"elsewhere.rs"])]);
    assert_eq!(annotations(&record), []);
    assert!(output(&record, RULES_PAGE).summary.contains("`tests/old.rs`"));
}

#[test]
fn marks_stay_inside_the_forges_limits() {
    let mut record = huge_record(3_500);
    record.findings[0].message = "ä".repeat(80_000);
    record.findings[0].rule = "r".repeat(400);
    record.findings[0].locations[0].line = Some(0);
    record.findings[0].locations[1].line = Some(9);
    record.findings[0].locations[1].end_line = Some(3);
    let marks = annotations(&record);
    assert_eq!(marks.len(), 500);
    assert!(marks.iter().all(|mark| mark.line >= 1 && mark.end_line >= mark.line));
    assert!(marks.iter().all(|mark| mark.title.chars().count() <= 255 && mark.message.len() <= 64_000));
    assert!(output(&record, RULES_PAGE).summary.contains("500 of 2625 places are marked in the diff."));
}

#[test]
fn marks_carry_the_lines_of_the_finding() {
    let path = BytePath::new(*b"src/login.rs");
    let found = Finding::new(rule(Verdict::Hold), "m").at([Location::lines(&path, 3, 5), Location::line(&path, 9)]);
    let record = record(&[PRODUCT], vec![found]);
    let lines: Vec<(u32, u32)> = annotations(&record).iter().map(|mark| (mark.line, mark.end_line)).collect();
    assert_eq!(lines, [(3, 5), (9, 9)]);
    assert_eq!(annotations(&record)[0].level, AnnotationLevel::Warning);
}

proptest! {
    #[test]
    fn no_record_breaks_a_limit_or_smuggles_markup(
        names in prop::collection::vec(prop_oneof![prop::collection::vec(any::<u8>(), 1..40), "[`|<>@#\\\\\\[\\]()!*:. a-z]{1,40}".prop_map(String::into_bytes)], 1..12),
        messages in prop::collection::vec("[`|<>@#\\\\\\[\\]()!*:. a-z\u{202e}]{0,60}", 0..6),
    ) {
        let rows: Vec<Row<'_>> = names.iter().map(|name| (Status::Added, name.as_slice(), Class::Other)).collect();
        let findings = messages.iter().zip(names.iter().cycle()).map(|(message, name)| finding(Verdict::Hold, message, &[name]));
        let record = record(&rows, findings.collect());
        let page = markdown(&record, RULES_PAGE);
        let foreign = foreign(&page);
        prop_assert!(foreign.is_empty(), "{foreign:?} in {page}");
        let printed = text(&record, Colour::Never, 60);
        prop_assert!(printed.lines().all(|line| !line.trim_start().starts_with("::") && !line.contains("##[")));
    }
}

/// A forge that holds one run and can be told to lose or change what it is given.
struct OneRun {
    shown: Mutex<Option<PostedRun>>,
    refuse: Option<fn() -> ForgeError>,
    updates: Mutex<Vec<RunUpdate>>,
}

impl OneRun {
    fn open() -> Self {
        let run = PostedRun {
            id: RunId(5),
            head: head(),
            external_id: Some("evaluation-1".into()),
            completed: false,
            conclusion: None,
        };
        Self { shown: Mutex::new(Some(run)), refuse: None, updates: Mutex::default() }
    }

    fn change(&self, change: impl FnOnce(&mut Option<PostedRun>)) {
        change(&mut self.shown.lock().unwrap());
    }
}

fn head() -> HeadSha {
    subject().head
}

fn nothing_else<T>() -> Result<T, ForgeError> {
    Err(ForgeError::GiveUp { doing: "posting", why: "a posting asks for nothing else".into() })
}

#[async_trait]
impl Forge for OneRun {
    async fn pull(&self, _: &RepoRef, _: Option<InstallationId>, _: PullNumber) -> Result<Pull, ForgeError> {
        nothing_else()
    }

    async fn remote(&self, _: &RepoRef, _: Option<InstallationId>) -> Result<Remote, ForgeError> {
        nothing_else()
    }

    async fn branch_tip(&self, _: &RepoRef, _: Option<InstallationId>, _: &str) -> Result<BaseSha, ForgeError> {
        nothing_else()
    }

    async fn role(&self, _: &RepoRef, _: Option<InstallationId>, _: &str) -> Result<Option<Role>, ForgeError> {
        nothing_else()
    }

    async fn reviews(&self, _: &RepoRef, _: Option<InstallationId>, _: PullNumber) -> Result<Vec<Review>, ForgeError> {
        nothing_else()
    }

    async fn pull_commits(
        &self,
        _: &RepoRef,
        _: Option<InstallationId>,
        _: PullNumber,
    ) -> Result<Vec<PullCommit>, ForgeError> {
        nothing_else()
    }

    async fn open_run(&self, _: &RepoRef, _: Option<InstallationId>, _: &NewRun) -> Result<RunId, ForgeError> {
        nothing_else()
    }

    async fn find_run(
        &self,
        _: &RepoRef,
        _: Option<InstallationId>,
        _: &HeadSha,
        _: &str,
    ) -> Result<Option<PostedRun>, ForgeError> {
        nothing_else()
    }

    async fn newest_run(
        &self,
        _: &RepoRef,
        _: Option<InstallationId>,
        asked: &HeadSha,
    ) -> Result<Option<PostedRun>, ForgeError> {
        assert_eq!(asked, &head());
        Ok(self.shown.lock().unwrap().clone())
    }

    async fn update_run(
        &self,
        repo: &RepoRef,
        _: Option<InstallationId>,
        run: RunId,
        update: &RunUpdate,
    ) -> Result<(), ForgeError> {
        if let Some(refuse) = self.refuse {
            return Err(refuse());
        }
        self.updates.lock().unwrap().push(update.clone());
        let RunUpdate::Completed { conclusion, .. } = update else { return Ok(()) };
        self.change(|shown| {
            if let Some(shown) = shown.as_mut().filter(|shown| shown.id == run) {
                shown.completed = true;
                shown.conclusion = Some(word(repo.forge, *conclusion).into());
            }
        });
        Ok(())
    }
}

fn repo() -> RepoRef {
    RepoRef { forge: ForgeKind::Github, id: RepositoryId(42), name: "acme/widgets".parse().unwrap() }
}

async fn post_to(forge: &OneRun, verdict: Verdict, run: RunId) -> Result<PostedRun, PostError> {
    let (repo, head) = (repo(), head());
    let target = Target { repo: &repo, installation: None, run, head: &head, external_id: "evaluation-1" };
    post(forge, &target, &Posting::of(&default_record(verdict), RULES_PAGE)).await
}

#[tokio::test]
async fn a_posted_verdict_is_read_back_as_it_was_meant() {
    for verdict in VERDICTS {
        let forge = OneRun::open();
        let shown = post_to(&forge, verdict, RunId(5)).await.unwrap();
        let meant = word(ForgeKind::Github, conclusion(&default_record(verdict)));
        assert_eq!((shown.completed, shown.conclusion.as_deref()), (true, Some(meant)));
        let updates = forge.updates.into_inner().unwrap();
        let [RunUpdate::Completed { output, fallback, buttons, .. }] = updates.as_slice() else {
            panic!("{updates:?}")
        };
        assert_eq!(output.title, default_record(verdict).title);
        assert!(fallback.summary.len() < 1_000);
        assert_eq!(buttons, &evidence_gate::report::buttons());
    }
}

/// What the forge did behind our back, and the words that must be in the error.
type Betrayal = (fn(&mut Option<PostedRun>), &'static str);

#[tokio::test]
async fn whatever_else_the_forge_shows_is_a_mismatch_and_is_tried_again() {
    let betrayals: [Betrayal; 5] = [
        (|shown| *shown = None, "no run at all"),
        (|shown| shown.as_mut().unwrap().id = RunId(6), "run 6"),
        (|shown| shown.as_mut().unwrap().conclusion = Some("neutral".into()), "conclusion neutral"),
        (|shown| shown.as_mut().unwrap().external_id = Some("evaluation-2".into()), "evaluation-2"),
        (|shown| shown.as_mut().unwrap().completed = false, "not completed"),
    ];
    for (betray, words) in betrayals {
        let forge = OneRun::open();
        post_to(&forge, Verdict::Review, RunId(5)).await.unwrap();
        forge.change(betray);
        let (repo, head) = (repo(), head());
        let target =
            Target { repo: &repo, installation: None, run: RunId(5), head: &head, external_id: "evaluation-1" };
        let error = read_back(&forge, &target, Conclusion::Success).await.unwrap_err();
        assert!(matches!(error, PostError::Mismatch { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(5)));
    }
}

#[tokio::test]
async fn a_run_that_lost_to_a_newer_one_is_no_success() {
    let forge = OneRun::open();
    let error = post_to(&forge, Verdict::Review, RunId(4)).await.unwrap_err();
    assert!(matches!(error, PostError::Mismatch { .. }), "{error:?}");
}

/// What the forge answers, and how long to wait then.
type Refusal = (fn() -> ForgeError, Option<Duration>);

#[tokio::test]
async fn a_refusal_keeps_the_forges_own_answer_to_try_again_or_not() {
    let retry = || ForgeError::Retry { doing: "updating", why: "503".into(), after: Duration::from_mins(1) };
    let give_up = || ForgeError::GiveUp { doing: "updating", why: "checks: write is missing".into() };
    let gone = || ForgeError::NotFound { doing: "updating" };
    let refusals: [Refusal; 3] = [(retry, Some(Duration::from_mins(1))), (give_up, None), (gone, None)];
    for (refuse, after) in refusals {
        let forge = OneRun { refuse: Some(refuse), ..OneRun::open() };
        let error = post_to(&forge, Verdict::Reject, RunId(5)).await.unwrap_err();
        assert_eq!(error.retry_after(), after, "{error}");
    }
}

#[tokio::test]
async fn a_record_about_another_head_is_never_posted() {
    let forge = OneRun::open();
    let mut record = default_record(Verdict::Review);
    record.head = "f".repeat(40);
    let (repo, head) = (repo(), head());
    let target = Target { repo: &repo, installation: None, run: RunId(5), head: &head, external_id: "evaluation-1" };
    let error = post(&forge, &target, &Posting::of(&record, RULES_PAGE)).await.unwrap_err();
    assert!(matches!(error, PostError::OtherHead { .. }), "{error:?}");
    assert_eq!(forge.updates.into_inner().unwrap(), []);
}

#[test]
fn what_was_not_observed_is_said() {
    let record = default_record(Verdict::Review);
    let summary = output(&record, RULES_PAGE).summary;
    for absent in not_observed() {
        let shown = text(&record, Colour::Never, 80);
        assert!(shown.contains(&absent) && summary.contains(&absent), "{absent}");
    }
}

#[test]
fn the_json_is_the_record_and_nothing_else() {
    let printed = json(&default_record(Verdict::Reject));
    insta::assert_snapshot!("json_reject", printed);
    assert!(printed.starts_with('{') && printed.ends_with("}\n"));
}

#[test]
fn a_run_that_waits_says_so_and_shows_a_hostile_branch_as_it_is() {
    let Output { title, summary, text } = waiting("a`b<img>", &head());
    assert_snapshot!(title, @"Waiting for a verdict");
    assert_snapshot!(summary, @"The change from ``a`b<img>`` to `4ead111111111111111111111111111111111111` is being judged. Until the verdict is here this check does not pass.");
    assert_eq!(text, None);
}
