//! Names and texts that want to be more than text.

use evidence_gate::queue::{EvaluationId, Exhibits as _, Generation, Pass, SqliteOptions, SqliteQueue};
use evidence_gate::web::{Exhibit, NewPass};
use serde_json::json;

use super::world;
use crate::dsl::{opened, pr};

/// Whether a page holds nothing that acts.
fn harmless(body: &str) {
    for bad in ["<script", "<img", "onerror=\"", "\u{1b}", "\u{202e}", "\u{2066}", "\u{200f}", "javascript:"] {
        assert!(!body.contains(bad), "{bad:?} stands in\n{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_stay_text() {
    let long = format!("src/{}end.py", "very-long-name/".repeat(60));
    let pull = pr(7)
        .adds("src/<script>alert(1)<|script>.py")
        .adds("src/\"><img src=x onerror=\"alert(1)\">.py")
        .adds("src/\u{202e}yp.live\u{2066}.py")
        .adds("src/\u{1b}[31mred\u{1b}[0m.py")
        .adds("src/مرحبا.py")
        .adds(&long)
        .saying("javascript:alert(1) <script>");
    let mut gate = world().pull(pull).start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let link = gate.details(7).expect("a link");
    let pages = gate.start_pages().await;
    let page = pages.get(&link).await;
    assert_eq!(page.status, 200);
    harmless(&page.body.replace("onerror=&quot;", ""));
    for words in ["&lt;script&gt;alert(1)", "\\u{202e}yp.live", "\\x1b[31mred", "مرحبا.py", "/end.py"] {
        assert!(page.body.contains(words), "{words:?} is missing from\n{}", page.body);
    }
    pages.stop().await;
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_and_a_half_thousand_paths_are_one_readable_page() {
    let pull = (0..3_500).fold(pr(7), |pull, n| pull.adds(format!("vendor/part-{:02}/file-{n:04}.txt", n % 70)));
    let mut gate = world().pull(pull).start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let link = gate.details(7).expect("a link");
    let pages = gate.start_pages().await;
    let page = pages.get(&link).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Changed files (3500)"));
    assert!(page.body.contains("file-0000.txt") && page.body.contains("file-3499.txt"));
    assert!(page.body.len() < 2_000_000, "{} bytes", page.body.len());
    pages.stop().await;
    gate.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn source_lines_stay_text_beside_the_word_for_who_runs_them() {
    let mut gate = world().pull(pr(7).modifies("src/login.py")).start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    gate.look_at_all_runs();
    let line = |number: u32, text: &str, seen: &str, changed: bool| json!({"number": number, "text": text, "seen": seen, "changed": changed});
    let rows = json!([
        {"left_out": {"lines": 40, "frozen_only": 3}},
        {"lines": {"old": line(41, "def f():", "live", false), "new": line(41, "def f():", "live", false)}},
        {"lines": {"old": line(42, "\treturn '<script>'", "frozen_only", true), "new": line(42, "\treturn '\u{202e}'", "frozen_only", true)}},
        {"lines": {"old": null, "new": line(43, "<img src=x onerror=\"y\">", "nobody", true)}},
    ]);
    let file = json!({"path": "src/login.py", "plain": null, "rows": rows});
    let kept = json!({"v": 1, "files": [file], "files_left_out": 2, "freezes": null}).to_string();
    Exhibit::read(kept.as_bytes()).expect("an exhibit");
    let id = EvaluationId(gate.runs(7)[0].external_id.as_deref().unwrap().parse().unwrap());
    let pass = NewPass::random().unwrap();
    let queue = SqliteQueue::open(&gate.data(), SqliteOptions::default()).await.unwrap();
    let kept_as = Pass { hash: pass.hash(), expires: jiff::Timestamp::MAX };
    queue.exhibit(id, Generation(1), kept.as_bytes(), kept_as).await.unwrap();
    queue.close().await;
    let link = pass.link(&"https://gate.example.org".parse().unwrap());
    let pages = gate.start_pages().await;
    let page = pages.get(link.strip_prefix("https://gate.example.org").unwrap()).await;
    assert_eq!(page.status, 200);
    harmless(&page.body.replace("onerror=&quot;", ""));
    for words in [
        "40 lines without a change, 3 of them run by frozen tests only",
        "    return &#39;&lt;script&gt;&#39;",
        "2 more changed files",
    ] {
        let plain = words.replace("&#39;", "'");
        assert!(page.body.contains(words) || page.body.contains(&plain), "{words:?} is missing from\n{}", page.body);
    }
    pages.stop().await;
    gate.end().await;
}
