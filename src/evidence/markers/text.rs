//! The fallback: markers by text patterns, for files that no grammar reads. Comments and strings cannot be told from code here for
//! certain, so a finding from here says that it comes from text.

use aho_corasick::AhoCorasick;

use super::marker::{Condition, Marker, MarkerKind};
use crate::evidence::grammar::Syntax;

/// A team's own spelling and what it does.
pub(super) type Own = (String, MarkerKind);

/// A spelling in files of some endings.
struct Pattern {
    endings: &'static [&'static str],
    needle: &'static str,
    kind: MarkerKind,
    when: bool,
}

const fn skip(endings: &'static [&'static str], needle: &'static str) -> Pattern {
    Pattern { endings, needle, kind: MarkerKind::Skip, when: false }
}

const fn when(endings: &'static [&'static str], needle: &'static str) -> Pattern {
    Pattern { endings, needle, kind: MarkerKind::Skip, when: true }
}

const fn of(kind: MarkerKind, endings: &'static [&'static str], needle: &'static str) -> Pattern {
    Pattern { endings, needle, kind, when: false }
}

const PY: &[&str] = &["py", "pyi"];
const JS: &[&str] = &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"];
const JVM: &[&str] = &["java", "kt", "kts", "groovy", "scala"];
const EXS: &[&str] = &["exs", "ex"];
const CPP: &[&str] = &["c", "cc", "cpp", "cxx", "h", "hpp"];

/// In the order in which a line is tried. A needle that begins or ends with a letter matches whole words only.
const PATTERNS: &[Pattern] = &[
    when(PY, "pytest.mark.skipif"),
    skip(PY, "pytest.mark.skip"),
    skip(PY, "pytest.mark.xfail"),
    skip(PY, "pytest.skip("),
    skip(PY, "pytest.xfail("),
    when(PY, "pytest.importorskip"),
    when(PY, "unittest.skipIf"),
    when(PY, "unittest.skipUnless"),
    skip(PY, "unittest.skip"),
    skip(PY, "SkipTest("),
    skip(PY, "unittest.expectedFailure"),
    skip(PY, ".skipTest("),
    skip(PY, "__test__ = False"),
    when(JS, "it.skipIf"),
    when(JS, "test.skipIf"),
    when(JS, "test.runIf"),
    skip(JS, "it.skip"),
    skip(JS, "test.skip"),
    skip(JS, "describe.skip"),
    skip(JS, "test.todo"),
    skip(JS, "it.todo"),
    skip(JS, "xit("),
    skip(JS, "xtest("),
    skip(JS, "xdescribe("),
    skip(JS, "test.failing"),
    skip(JS, "it.failing"),
    skip(JS, "this.skip()"),
    of(MarkerKind::Focus, JS, "it.only"),
    of(MarkerKind::Focus, JS, "test.only"),
    of(MarkerKind::Focus, JS, "describe.only"),
    of(MarkerKind::Focus, JS, "fit("),
    of(MarkerKind::Focus, JS, "fdescribe("),
    skip(&["rs"], "#[ignore"),
    when(&["rs"], "#[cfg_attr"),
    of(MarkerKind::Inverted, &["rs"], "#[should_panic"),
    skip(&["rs"], "#[cfg(any())]"),
    skip(&["go"], "t.Skip("),
    skip(&["go"], "t.SkipNow("),
    skip(&["go"], "t.Skipf("),
    skip(&["go"], "b.SkipNow("),
    skip(&["go"], "b.Skip("),
    skip(JVM, "@Ignore"),
    skip(JVM, "@Disabled"),
    when(JVM, "@IgnoreIf"),
    skip(JVM, "@PendingFeature"),
    when(JVM, "@Requires("),
    when(JVM, "assumeTrue("),
    when(JVM, "assumeFalse("),
    skip(JVM, "throw new SkipException"),
    skip(JVM, "@Test(enabled"),
    skip(&["scala"], "ignore("),
    skip(&["scala"], "ignore should"),
    skip(&["scala"], "pending"),
    skip(&["cs", "fs", "vb"], "[Ignore"),
    skip(&["cs", "fs", "vb"], "[Explicit"),
    skip(&["cs", "fs", "vb"], "Skip ="),
    skip(&["cs", "fs", "vb"], "Assert.Ignore("),
    skip(&["cs", "fs", "vb"], "Assert.Inconclusive("),
    skip(&["cs", "fs", "vb"], "Assert.Skip("),
    skip(&["fs"], "[<Ignore"),
    skip(&["fs"], "ptest"),
    of(MarkerKind::Focus, &["fs"], "ftest"),
    skip(&["rb"], "xit"),
    skip(&["rb"], "xdescribe"),
    skip(&["rb"], "xcontext"),
    of(MarkerKind::Focus, &["rb"], "fit"),
    of(MarkerKind::Focus, &["rb"], "fdescribe"),
    skip(&["php"], "markTestSkipped("),
    skip(&["php"], "markTestIncomplete("),
    skip(&["php"], "->todo("),
    skip(&["php"], "->skip("),
    skip(EXS, "@tag :skip"),
    skip(EXS, "@tag skip:"),
    skip(EXS, "@moduletag :skip"),
    skip(EXS, "@moduletag skip:"),
    skip(EXS, "@describetag :skip"),
    skip(EXS, "@describetag skip:"),
    of(MarkerKind::Disabled, EXS, "exclude:"),
    of(MarkerKind::Forced, EXS, "exit_status: 0"),
    skip(&["t"], "skip_all"),
    skip(&["t"], "SKIP:"),
    skip(&["t"], "$TODO"),
    skip(&["t"], "todo_skip"),
    skip(&["t"], "TODO:"),
    of(MarkerKind::Forced, &["t"], "exit 0"),
    of(MarkerKind::Forced, &["t"], "exit;"),
    skip(&["bats"], "skip"),
    of(MarkerKind::Focus, &["bats"], "bats:focus"),
    when(&["R", "r"], "skip_if("),
    when(&["R", "r"], "skip_if_not("),
    when(&["R", "r"], "skip_on_cran("),
    when(&["R", "r"], "skip_on_ci("),
    when(&["R", "r"], "skip_on_os("),
    when(&["R", "r"], "skip_if_not_installed("),
    when(&["R", "r"], "skip_if_offline("),
    skip(&["R", "r"], "skip("),
    skip(&["swift"], "XCTSkip("),
    when(&["swift"], "XCTSkipIf("),
    when(&["swift"], "XCTSkipUnless("),
    skip(&["swift"], ".disabled("),
    when(&["swift"], ".enabled(if:"),
    skip(&["swift"], "withKnownIssue"),
    skip(&["swift"], "XCTExpectFailure"),
    skip(CPP, "DISABLED_"),
    skip(CPP, "GTEST_SKIP("),
    skip(CPP, "CHECK_NOFAIL("),
    skip(CPP, "[!mayfail]"),
    skip(CPP, "[!shouldfail]"),
    skip(CPP, "[!hide]"),
    skip(&["rst", "md", "txt"], "doctest: +SKIP"),
    skip(&["dart"], "skip: true"),
    skip(&["dart"], "@Skip("),
    skip(&["lua"], "pending("),
    skip(&["clj"], "^:kaocha/skip"),
    skip(&["ml"], "skip_if"),
];

/// The sign with which a line comment begins.
fn comment_signs(ending: &str) -> &'static [&'static str] {
    match ending {
        "py" | "pyi" | "rb" | "exs" | "ex" | "t" | "R" | "r" | "bats" | "sh" => &["#"],
        "lua" => &["--"],
        "clj" => &[";"],
        "rst" | "md" | "txt" => &[],
        "php" => &["//", "#", "*"],
        _ => &["//", "*"],
    }
}

/// How many lines before a marker are searched for the test that holds it.
const LOOK_BACK: usize = 200;

/// Lists the markers of a text, one a line at most. Only lines that hold a spelling are looked at, so that the cost follows them.
pub(super) fn scan(text: &str, path: &str, extra: &[Own]) -> Vec<Marker> {
    let ending = path.rsplit_once('.').map_or("", |(_, e)| e);
    let patterns: Vec<&Pattern> = PATTERNS.iter().filter(|p| p.endings.contains(&ending)).collect();
    let own_needles = extra.iter().map(|(needle, _)| needle.as_str()).filter(|needle| !needle.is_empty());
    let needles: Vec<&str> = patterns.iter().map(|p| p.needle).chain(own_needles).collect();
    let Ok(hints) = AhoCorasick::new(&needles) else { return Vec::new() };
    let signs = comment_signs(ending);
    let mut markers = Vec::new();
    let (mut number, mut counted, mut done) = (1_u32, 0_usize, 0_usize);
    for found in hints.find_iter(text) {
        if found.start() < done {
            continue;
        }
        let begin = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
        let end = text[found.start()..].find('\n').map_or(text.len(), |at| found.start() + at);
        let breaks = text[counted..begin].matches('\n').count();
        number = number.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
        (counted, done) = (begin, end);
        let line = &text[begin..end];
        let focus = ending == "bats" && line.contains("bats:focus");
        let code = if focus { line } else { without_comment(line, signs) };
        let scope = || {
            text[..end]
                .rsplit('\n')
                .take(LOOK_BACK)
                .find_map(|line| test_name(without_comment(line, signs)))
                .unwrap_or_default()
        };
        if let Some(pattern) = patterns.iter().find(|p| holds_word(code, p.needle)) {
            let mut marker = Marker::new(pattern.kind, pattern.needle.trim_end_matches('('), number);
            marker.scope = scope();
            if pattern.when {
                marker.condition = Condition::When(code.trim().chars().take(160).collect());
            }
            markers.push(marker);
        }
        if extra.iter().any(|(needle, _)| line.contains(needle.as_str())) {
            markers.extend(own(line, number, extra, &scope()));
        }
    }
    markers
}

/// A team's own spellings in a file that parses: they count where they do not stand in a comment or a string.
pub(super) fn extra(syntax: &Syntax<'_>, extra: &[Own]) -> Vec<Marker> {
    if extra.is_empty() || !extra.iter().any(|(e, _)| syntax.source().contains(e.as_str())) {
        return Vec::new();
    }
    let covered: Vec<(usize, usize)> =
        syntax.all().filter(|n| n.is_comment() || n.kind().contains("string")).map(|n| (n.start(), n.end())).collect();
    let mut markers = Vec::new();
    for (needle, kind) in extra.iter().filter(|(e, _)| !e.is_empty()) {
        for (at, _) in syntax.source().match_indices(needle.as_str()) {
            if !covered.iter().any(|(start, end)| (*start..*end).contains(&at)) {
                markers.push(Marker::new(*kind, needle.clone(), syntax.line_of(at)));
            }
        }
    }
    markers
}

fn own(line: &str, number: u32, extra: &[Own], scope: &str) -> Vec<Marker> {
    let hits = extra.iter().filter(|(e, _)| !e.is_empty() && line.contains(e.as_str()));
    let marker = |(needle, kind): &Own| {
        let mut marker = Marker::new(*kind, needle.clone(), number);
        scope.clone_into(&mut marker.scope);
        marker
    };
    hits.map(marker).collect()
}

fn without_comment<'l>(line: &'l str, signs: &[&str]) -> &'l str {
    let trimmed = line.trim_start();
    if signs.iter().any(|sign| trimmed.starts_with(sign)) {
        return "";
    }
    let mut end = line.len();
    for sign in signs.iter().filter(|s| **s != "*") {
        for (at, _) in line.match_indices(sign).take(MATCHES) {
            let before = &line[..at];
            let open = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
            if !open && before.ends_with([' ', '\t', ';', '}', ')']) {
                end = end.min(at);
            }
        }
    }
    &line[..end]
}

/// How often a spelling is looked at on one line.
const MATCHES: usize = 16;

fn holds_word(line: &str, needle: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(needle).take(MATCHES).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + needle.len()..].chars().next();
        let in_string = line[..at].matches('"').count() % 2 == 1 && !needle.starts_with('[');
        let starts =
            !needle.starts_with(letter) || !before.is_some_and(|c| letter(c) || c == '.' || c == '$' || c == '-');
        let ends = !needle.ends_with(|c: char| letter(c) && c != '_') || !after.is_some_and(letter);
        let call = !needle.starts_with(letter)
            || !needle.ends_with(letter)
            || !after.is_some_and(|c| c == '=' || c == ':')
            || needle.contains(' ');
        // In a shell script the word is a command: it stands first.
        let first = needle != "skip"
            || line[..at].trim_end().is_empty()
            || line[..at].trim_end().ends_with([';', '{', '&', '|']);
        starts && ends && call && first && !in_string
    })
}

/// The title of a test that begins on a line, in the languages that have no grammar here.
fn test_name(line: &str) -> Option<String> {
    let line = line.trim_start();
    let begins = ["test ", "test(", "test_that(", "@test ", "it ", "describe ", "func test", "def test", "subtest "];
    begins.iter().any(|b| line.starts_with(b)).then(|| line.chars().take(100).collect())
}
