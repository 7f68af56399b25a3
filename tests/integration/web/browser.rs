//! A real browser and an independent judge of accessibility on every page: `tests/browser/look.mjs`.
#![expect(clippy::disallowed_methods, reason = "the browser is started here")]

use std::path::Path;
use std::process::Command;

use evidence_gate::queue::{EvaluationId, Exhibits as _, Generation, Pass, SqliteOptions, SqliteQueue};
use evidence_gate::web::{Exhibit, NewPass};
use serde_json::{Value, json};

use crate::dsl::{Change, Gate, opened, pr};

const TOKEN: &str = "operators-token-that-nobody-can-guess";

/// Source lines and freezes as a worker with a coverage map keeps them.
fn exhibit() -> Vec<u8> {
    let line = |number: u32, text: &str, seen: &str, changed: bool| json!({"number": number, "text": text, "seen": seen, "changed": changed});
    let same = |old: u32, new: u32, text: &str, seen: &str| json!({"lines": {"old": line(old, text, seen, false), "new": line(new, text, seen, false)}});
    let rows = json!([
        {"left_out": {"lines": 11, "frozen_only": 0}},
        same(12, 12, "", "not_code"),
        same(13, 13, "def backoff(attempt, base=0.5, most=30.0):", "live"),
        same(14, 14, "    # Doubles, up to a bound.", "not_code"),
        {"lines": {"old": line(15, "    pause = base * 2 ** attempt", "frozen_only", true), "new": line(15, "    pause = base * 2 ** (attempt + 1)", "frozen_only", true)}},
        {"lines": {"old": line(16, "    if pause > most:", "frozen_only", true), "new": line(16, "    if pause >= most:", "frozen_only", true)}},
        same(17, 17, "        return most", "frozen_only"),
        {"lines": {"old": null, "new": line(18, "    log.debug(\"waiting %s seconds before try %s of %s, as the policy of this very long line says\", pause, attempt, most)", "nobody", true)}},
        same(18, 19, "    return pause", "live"),
        {"left_out": {"lines": 140, "frozen_only": 6}},
        same(159, 160, "RETRIES = int(os.environ.get(\"RETRIES\", 3))", "import"),
    ]);
    let freeze = |id: &str, expires: &str, lines: u64| json!({"nodeid": id, "reason": "clock of the runner", "first_seen": "2026-11-10", "expires_on": expires, "lines": lines});
    let kept = json!({
        "v": 1,
        "files": [{"path": "src/retry/backoff.py", "plain": null, "rows": rows}],
        "files_left_out": 0,
        "freezes": {
            "origin": "freeze_ledger.json of the base branch", "unreadable": null, "max_entries": 5, "max_lines": 60, "frozen_lines": 23,
            "entries": [freeze("tests/test_retry.py::test_backoff[slow]", "2099-12-09", 17), freeze("tests/test_retry.py::test_jitter", "2026-11-30", 6)],
        },
    });
    let bytes = kept.to_string().into_bytes();
    Exhibit::read(&bytes).expect("an exhibit of the present shape");
    bytes
}

/// Keeps an exhibit for the evaluation of a pull request, and answers the link to it.
async fn keep(gate: &Gate, number: u64, origin: &str) -> String {
    let id = EvaluationId(gate.runs(number)[0].external_id.as_deref().unwrap().parse().unwrap());
    let pass = NewPass::random().unwrap();
    let queue = SqliteQueue::open(&gate.data(), SqliteOptions::default()).await.unwrap();
    let kept = Pass { hash: pass.hash(), expires: jiff::Timestamp::MAX };
    queue.exhibit(id, Generation(1), &exhibit(), kept).await.unwrap();
    queue.close().await;
    pass.link(&origin.parse().unwrap())
}

fn hostile() -> Change {
    pr(10)
        .adds("src/<script>alert(1)<|script>.py")
        .adds("src/\"><img src=x onerror=\"alert(1)\">.py")
        .adds("src/\u{202e}yp.live\u{2066}.py")
        .adds("src/\u{1b}[31mred\u{1b}[0m.py")
        .adds("src/مرحبا بالعالم.py")
        .adds(format!("src/{}end.py", "very-long-name/".repeat(40)))
}

fn too_wide() -> Change {
    (0..3_500).fold(pr(11), |pull, n| pull.adds(format!("vendor/part-{:02}/file-{n:04}.txt", n % 70)))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium and what tests/browser/install.sh installs"]
async fn every_page_is_readable_in_both_colours_at_two_widths_and_by_keyboard() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let origin = format!("http://127.0.0.1:{port}");
    let mut gate = Gate::world()
        .set("WEB__PUBLIC_URL", &origin)
        .set("WEB__LISTEN", &format!("127.0.0.1:{port}"))
        .set("WEB__SIGN_IN_SECRET", "a-secret-that-seals-cookies-and-more")
        .set("WEB__OPERATOR_TOKEN", TOKEN)
        .pull(pr(6).modifies("src/login.py"))
        .pull(pr(7).modifies("tests/fixtures/users.json").modifies("src/login.py").modifies("pyproject.toml"))
        .pull(pr(8).modifies("pyproject.toml").modifies("Makefile").adds("tests/test_new.py"))
        .pull(pr(9).modifies("src/retry/backoff.py"))
        .pull(hostile())
        .pull(too_wide())
        .pull(pr(12).modifies("src/login.py"))
        .pull(pr(13).modifies("src/login.py"))
        .start()
        .await;
    for number in 6..=11 {
        gate.deliver(opened(number)).await;
        gate.drain().await;
    }
    let details = |number: u64| gate.runs(number)[0].details_url.clone().expect("a link");
    let [review, reject, hold, hostile, wide] = [6, 7, 8, 10, 11].map(details);
    let lines = keep(&gate, 9, &origin).await;
    gate.deliver(opened(12)).await;
    gate.by_hand("UPDATE jobs SET state = 'dead', attempt = 8, error = 'create the check run: GitHub refuses it (403): <b>no</b>'").await.unwrap();
    gate.deliver(opened(13)).await;
    gate.leaves_jobs();

    let pages = gate.start_pages().await;
    let signed = pages.post("/sign-in/operator", &origin, "", &format!("token={TOKEN}")).await;
    let cookie = signed.headers.iter().find(|(name, value)| name == "set-cookie" && !value.contains("Max-Age=0"));
    let cookie = cookie.expect("signed in").1.split(';').next().unwrap().to_owned();
    let repository = format!("{origin}/repositories/github/{}", crate::fake_forge::WIDGETS);
    let open = |name: &str, url: &str, says: Value| json!({"name": name, "url": url, "says": says});
    let inside = |name: &str, url: &str, says: Value| json!({"name": name, "url": url, "cookie": cookie, "says": says});
    let plan = json!({
        "out": Path::new(env!("CARGO_MANIFEST_DIR")).join("target/browser"),
        "pages": [
            open("reject", &reject, json!(["What to do next", "tests/fixtures/users.json"])),
            open("review", &review, json!(["No rule objects"])),
            open("hold", &hold, json!(["A person must look"])),
            open("lines", &lines, json!(["src/retry/backoff.py", "140 lines without a change"])),
            open("hostile", &hostile, json!(["<script>alert(1)"])),
            json!({"name": "wide", "url": wide, "says": ["Changed files (3500)"], "folded": true}),
            json!({"name": "nothing", "url": format!("{origin}/e/x"), "says": ["Nothing to show"], "status": 404}),
            open("welcome", &format!("{origin}/"), json!(["Sign in"])),
            open("sign-in", &format!("{origin}/sign-in"), json!(["Operator's token"])),
            open("rules", &format!("{origin}/rules"), json!(["evidence-edited"])),
            inside("overview", &format!("{origin}/"), json!(["acme/widgets"])),
            inside("repository", &repository, json!(["unscored share", "Most frequently held paths"])),
            inside("queue", &format!("{origin}/queue"), json!(["Failed for good", "<b>no</b>"])),
        ],
    });
    let file = gate.data().join("plan.json");
    std::fs::write(&file, plan.to_string()).unwrap();
    let look = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/look.mjs");
    let said =
        tokio::task::spawn_blocking(move || Command::new("node").arg(look).arg(file).output()).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    pages.stop().await;
    gate.look_at_all_runs();
    gate.end().await;
    assert!(said.status.success(), "{text}");
}
