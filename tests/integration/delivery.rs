//! The receiver, over real sockets.

pub mod door;
mod upload;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evidence_gate::delivery::{Delivery, HeaderFault, Limits, Refusal, SignatureFault, Stopped};
use http::{HeaderName, HeaderValue};
use proptest::prelude::*;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use door::{
    Door, Mood, answer, arrival, drawn_secret, github_headers, ping, ping_of, pull_request, secrets, signature,
};

// ---- R1 to R3: the signature

#[tokio::test]
async fn a_signed_delivery_is_stored_as_it_came_and_answered_with_202() {
    let door = Door::open().await;
    let body = pull_request("opened").to_string().into_bytes();
    let headers = door.headers("pull_request", &body);
    let id = headers["x-github-delivery"].to_str().unwrap().to_owned();

    let answer = door.post(headers, body.clone()).await;

    assert_eq!(answer.status, 202);
    assert_eq!(answer.body, json!({"outcome": "queued", "delivery": id}));
    assert_eq!(answer.id.as_deref(), Some(&*id), "the answer carries the delivery id");
    let [kept] = &door.inbox.kept()[..] else { panic!("one delivery is kept") };
    assert_eq!(kept.body(), &body);
    assert_eq!((kept.id().as_str(), kept.event(), kept.hook()), (&*id, "pull_request", "292430182"));
    assert_eq!(kept.received(), arrival());
    assert_eq!(kept.matched_secret(), 1, "the second secret signed it");
    assert_eq!(door.stop().await, Stopped::Drained);
}

#[tokio::test]
async fn every_fault_of_a_signature_looks_alike_outside() {
    let door = Door::open().await;
    let body = ping();
    let good = signature(&door.secret, &body);
    let mut flipped = good.clone().into_bytes();
    *flipped.last_mut().unwrap() ^= 1;
    let faults: [(&str, Vec<String>); 9] = [
        ("missing", vec![]),
        ("repeated", vec![good.clone(), good.clone()]),
        ("another secret", vec![signature(&drawn_secret(), &body)]),
        ("a flipped bit", vec![String::from_utf8(flipped).unwrap()]),
        ("short", vec![good[..good.len() - 1].to_owned()]),
        ("long", vec![format!("{good}0")]),
        ("no prefix", vec![good["sha256=".len()..].to_owned()]),
        ("upper case", vec![good.to_uppercase()]),
        ("the older algorithm", vec![good.replace("sha256", "sha1")]),
    ];
    let mut answers = Vec::new();
    for (fault, values) in faults {
        let mut headers = github_headers(&door.secret, "ping", "one-id-for-all", &body);
        headers.remove("x-hub-signature-256");
        for value in values {
            headers.append("x-hub-signature-256", value.parse().unwrap());
        }
        let answer = door.post(headers, body.clone()).await;
        assert_eq!(answer.outcome(), (401, "unauthenticated"), "{fault}");
        answers.push(answer.body);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(door.inbox.kept().is_empty(), "nothing unsigned reaches the store (R10)");
}

#[tokio::test]
async fn a_flipped_bit_of_the_body_is_refused() {
    let door = Door::open().await;
    let mut body = ping();
    let headers = door.headers("ping", &body);
    body[9] ^= 1;
    assert_eq!(door.post(headers, body).await.outcome(), (401, "unauthenticated"));
}

#[tokio::test]
async fn bodies_with_emoji_and_with_line_ends_of_both_kinds_verify_byte_for_byte() {
    let door = Door::open().await;
    for body in [
        "{\"zen\": \"\u{1f980}\u{200d}\u{1f3fd} \\ud83e\\udd80 \u{e9} e\u{301}\", \"hook_id\": 1}",
        "{\r\n\t\"zen\":\r\n \"a\",\n\"hook_id\": 1}\r\n",
        "{\"zen\": \"a\",\n\"hook_id\": 1}\n",
    ] {
        assert_eq!(door.deliver("ping", body).await.outcome(), (200, "ignored"), "{body:?}");
        assert!(door.inbox.kept().iter().any(|kept| kept.body() == body.as_bytes()), "{body:?} was changed");
    }
}

#[test]
fn each_of_several_secrets_verifies_and_says_which_one_it_was() {
    let all: Vec<String> = (0..4).map(|_| drawn_secret()).collect();
    let active = secrets(&all.iter().map(String::as_str).collect::<Vec<_>>());
    for (index, secret) in all.iter().enumerate() {
        let headers = github_headers(secret, "ping", "an-id", &ping());
        let delivery = Delivery::verify_github(&headers, ping().into(), &active, arrival()).unwrap();
        assert_eq!(delivery.matched_secret(), index);
    }
    let headers = github_headers(&drawn_secret(), "ping", "an-id", &ping());
    let refusal = Delivery::verify_github(&headers, ping().into(), &active, arrival()).unwrap_err();
    assert_eq!(refusal, Refusal::Unauthenticated(SignatureFault::Mismatch));
}

proptest! {
    #[test]
    fn any_changed_byte_of_a_body_or_of_its_signature_fails(
        body in proptest::collection::vec(any::<u8>(), 1..600),
        place in any::<proptest::sample::Index>(),
        change in 1_u8..,
    ) {
        let secret = "0f4bb6d1c7a2935e8d60b1f7a9c3e25d4786";
        let active = secrets(&[secret]);
        let good = github_headers(secret, "ping", "an-id", &body);
        prop_assert!(Delivery::verify_github(&good, body.clone().into(), &active, arrival()).is_ok());

        let mut other_body = body.clone();
        other_body[place.index(body.len())] ^= change;
        let refusal = Delivery::verify_github(&good, other_body.into(), &active, arrival()).unwrap_err();
        prop_assert_eq!(refusal, Refusal::Unauthenticated(SignatureFault::Mismatch));

        let mut signature = good["x-hub-signature-256"].as_bytes().to_vec();
        let place = place.index(signature.len());
        signature[place] ^= change;
        if let Ok(value) = HeaderValue::from_bytes(&signature) {
            let mut other = good.clone();
            other.insert("x-hub-signature-256", value);
            let refusal = Delivery::verify_github(&other, body.into(), &active, arrival()).unwrap_err();
            prop_assert!(matches!(refusal, Refusal::Unauthenticated(_)), "{:?}", refusal);
        }
    }
}

// ---- R4: size and time

#[tokio::test]
async fn a_body_of_exactly_25_mib_passes() {
    let door = Door::open().await;
    let body = ping_of(25 * 1024 * 1024);
    assert_eq!(body.len(), 26_214_400);
    assert_eq!(door.deliver("ping", body).await.outcome(), (200, "ignored"));
    assert_eq!(door.inbox.kept()[0].body().len(), 26_214_400);
}

#[tokio::test]
async fn a_body_that_declares_one_byte_more_than_25_mib_is_refused_unread() {
    let door = Door::open().await;
    let headers = door.headers("ping", b"");
    let mut stream = door.head(&headers, "content-length: 26214401").await;
    assert_eq!(answer(&mut stream).await.outcome(), (413, "too_large"));
    let counted = r#"evidence_gate_deliveries_total{forge="github",event="ping",outcome="too_large"} 1"#;
    assert!(door.metrics.render().contains(counted), "{}", door.metrics.render());
}

#[tokio::test]
async fn a_body_that_hides_its_length_is_cut_off_at_25_mib() {
    let door = Door::open().await;
    let body = ping_of(25 * 1024 * 1024 + 1);
    let headers = door.headers("ping", &body);
    let mut stream = door.head(&headers, "transfer-encoding: chunked").await;
    for chunk in body.chunks(1024 * 1024) {
        stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes()).await.unwrap();
        stream.write_all(chunk).await.unwrap();
        stream.write_all(b"\r\n").await.unwrap();
    }
    assert_eq!(answer(&mut stream).await.outcome(), (413, "too_large"));
    assert!(door.inbox.kept().is_empty());
}

#[tokio::test]
async fn long_bodies_that_come_in_halves_do_not_wait_for_each_other_for_ever() {
    let limits = Limits { body: 1024 * 1024, long_bodies: 1024 * 1024, ..Limits::default() };
    let door = Door::with(limits, Duration::from_secs(10)).await;
    let body = ping_of(1024 * 1024);
    let (first, second) = body.split_at(body.len() / 2);
    let framing = format!("content-length: {}", body.len());
    let mut streams = Vec::new();
    for _ in 0..6 {
        streams.push(door.head(&door.headers("ping", &body), &framing).await);
    }
    // Together the first halves are three times the budget.
    for stream in &mut streams {
        stream.write_all(first).await.unwrap();
    }
    let finished = streams.iter_mut().map(|stream| async {
        stream.write_all(second).await.unwrap();
        answer(stream).await.status
    });
    assert_eq!(futures::future::join_all(finished).await, [200; 6]);
    assert_eq!(door.inbox.kept().len(), 6);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_answered_before_the_forge_gives_up() {
    let limits = Limits { answer_within: Duration::from_millis(200), ..Limits::default() };
    assert!(Limits::default().answer_within < Duration::from_secs(10), "GitHub waits ten seconds");
    let door = Door::with(limits, Duration::from_secs(10)).await;
    let headers = door.headers("ping", &ping());
    let mut stream = door.head(&headers, &format!("content-length: {}", ping().len())).await;
    stream.write_all(&ping()[..10]).await.unwrap();
    assert_eq!(answer(&mut stream).await.outcome(), (503, "timed_out"));
    assert!(door.inbox.kept().is_empty());
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_a_503_in_time() {
    let limits = Limits { answer_within: Duration::from_millis(200), ..Limits::default() };
    let door = Door::with(limits, Duration::from_secs(10)).await;
    door.inbox.is(Mood::Holding);
    assert_eq!(door.deliver("ping", ping()).await.outcome(), (503, "timed_out"));
}

// ---- R5, R6: the other headers

#[tokio::test]
async fn a_form_is_refused_with_the_setting_to_change() {
    let door = Door::open().await;
    let body = b"payload=%7B%22zen%22%3A%22a%22%7D".to_vec();
    let mut headers = door.headers("ping", &body);
    for (content_type, found) in [
        (Some("application/x-www-form-urlencoded"), "`application/x-www-form-urlencoded`"),
        (Some("text/json"), "`text/json`"),
        (None, "no content type"),
    ] {
        headers.remove("content-type");
        if let Some(content_type) = content_type {
            headers.insert("content-type", content_type.parse().unwrap());
        }
        let answer = door.post(headers.clone(), body.clone()).await;
        assert_eq!(answer.outcome(), (415, "content_type"));
        let reason = answer.body["reason"].as_str().unwrap();
        assert!(reason.contains(found) && reason.contains("set the content type to `application/json`"), "{reason}");
    }
    headers.insert("content-type", "Application/JSON; charset=utf-8".parse().unwrap());
    headers.insert("x-hub-signature-256", signature(&door.secret, &ping()).parse().unwrap());
    assert_eq!(door.post(headers, ping()).await.outcome(), (200, "ignored"));
}

#[tokio::test]
async fn an_unsigned_form_learns_nothing_but_that_it_is_unsigned() {
    let door = Door::open().await;
    let mut headers = github_headers(&drawn_secret(), "ping", "an-id", b"payload=1");
    headers.insert("content-type", "application/x-www-form-urlencoded".parse().unwrap());
    headers.remove("x-github-event");
    assert_eq!(door.post(headers, b"payload=1".to_vec()).await.outcome(), (401, "unauthenticated"));
}

#[test]
fn the_delivery_id_and_the_event_must_be_there_once_and_be_possible() {
    let secret = drawn_secret();
    let check = |name: &'static str, values: &[&[u8]]| {
        let mut headers = github_headers(&secret, "ping", "an-id", &ping());
        headers.remove(name);
        for value in values {
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        match Delivery::verify_github(&headers, ping().into(), &secrets(&[&secret]), arrival()).unwrap_err() {
            Refusal::Header { name: named, problem } if named == name => problem,
            other => panic!("{other:?}"),
        }
    };
    for name in ["x-github-delivery", "x-github-event"] {
        assert_eq!(check(name, &[]), HeaderFault::Missing);
        assert_eq!(check(name, &[b"one", b"one"]), HeaderFault::Repeated);
        assert_eq!(check(name, &[b""]), HeaderFault::Value);
        assert_eq!(check(name, &[b"two words"]), HeaderFault::Value);
        assert_eq!(check(name, &["\u{e9}".as_bytes()]), HeaderFault::Value);
        assert_eq!(check(name, &[&[b'a'; 201]]), HeaderFault::Value);
    }
    assert_eq!(check("x-github-hook-id", &[b"1", b"2"]), HeaderFault::Repeated);
}

#[tokio::test]
async fn a_signed_request_without_a_delivery_id_is_a_400_that_names_the_header() {
    let door = Door::open().await;
    let mut headers = door.headers("ping", &ping());
    headers.remove("x-github-delivery");
    let answer = door.post(headers, ping()).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.body, json!({"outcome": "bad_header", "reason": "the header x-github-delivery is missing"}));
}

// ---- R7 to R13: what the store says

#[tokio::test]
async fn the_answer_waits_until_the_store_has_the_delivery() {
    let door = Door::open().await;
    door.inbox.is(Mood::Holding);
    let body = pull_request("opened").to_string();
    let posted = door.deliver("pull_request", body);
    let mut posted = std::pin::pin!(posted);
    tokio::select! {
        answer = &mut posted => panic!("answered {} before the store did", answer.status),
        () = door.inbox.entered.notified() => {}
    }
    assert!(door.inbox.kept().is_empty());
    door.inbox.released.notify_one();
    assert_eq!(posted.await.outcome(), (202, "queued"));
}

#[tokio::test]
async fn the_same_delivery_again_is_a_200_and_with_another_body_a_409() {
    let door = Door::open().await;
    let body = pull_request("opened").to_string().into_bytes();
    let headers = door.headers("pull_request", &body);
    assert_eq!(door.post(headers.clone(), body.clone()).await.outcome(), (202, "queued"));
    assert_eq!(door.post(headers.clone(), body).await.outcome(), (200, "duplicate"));

    let other = pull_request("closed").to_string().into_bytes();
    let mut headers = headers;
    headers.insert("x-hub-signature-256", signature(&door.secret, &other).parse().unwrap());
    let answer = door.post(headers, other).await;
    assert_eq!(answer.outcome(), (409, "other_body"));
    assert_eq!(answer.body["reason"], "delivery id seen before with another body");
}

#[tokio::test]
async fn a_full_disk_is_a_503_without_its_cause_and_the_receiver_is_not_ready() {
    let door = Door::open().await;
    assert_eq!(door.get("/readyz").await, (200, "ready\n".to_owned()));
    door.inbox.is(Mood::Full);
    let answer = door.deliver("ping", ping()).await;
    assert_eq!(answer.outcome(), (503, "unavailable"));
    assert_eq!(answer.body["reason"], "the store did not take the delivery");
    assert_eq!(door.get("/readyz").await, (503, "not ready: the store takes no deliveries\n".to_owned()));
    assert_eq!(door.get("/healthz").await, (200, "ok\n".to_owned()), "the process itself is well");
}

#[tokio::test]
async fn a_panic_is_a_500_and_the_next_delivery_is_taken() {
    let door = Door::open().await;
    door.inbox.is(Mood::Panicking);
    assert_eq!(door.deliver("ping", ping()).await.outcome(), (500, "failed"));
    door.inbox.is(Mood::Well);
    assert_eq!(door.deliver("ping", ping()).await.outcome(), (200, "ignored"));
}

#[tokio::test]
async fn truncated_json_and_a_header_that_disagrees_with_the_body_are_a_400() {
    let door = Door::open().await;
    let body = pull_request("opened").to_string();
    for (event, body) in [
        ("pull_request", &body[..body.len() - 1]),
        ("pull_request", ""),
        ("pull_request", "[]"),
        ("pull_request", r#"{"zen": "a", "hook_id": 1}"#),
        ("merge_group", &body),
        ("check_run", &body),
        ("ping", &body),
    ] {
        let answer = door.deliver(event, body).await;
        assert_eq!(answer.outcome(), (400, "malformed"), "{event}: {body}");
        assert_eq!(answer.body["reason"], "the body is not what the event header says");
    }
    assert!(door.inbox.kept().is_empty());
}

#[tokio::test]
async fn unknown_events_and_actions_are_answered_2xx_with_a_reason_and_counted_without_their_name() {
    let door = Door::open().await;
    for (event, body, reason) in [
        ("quantum_leap", json!({"action": "leapt"}), r#"event "quantum_leap""#),
        ("wormhole", json!({}), r#"event "wormhole""#),
        ("pull_request", pull_request("teleported"), r#"event "pull_request", action "teleported""#),
    ] {
        let answer = door.deliver(event, body.to_string()).await;
        assert_eq!(answer.outcome(), (200, "ignored"));
        assert_eq!(answer.body["reason"], reason);
    }
    let (_, metrics) = door.get("/metrics").await;
    for line in [
        r#"evidence_gate_deliveries_total{forge="github",event="other",outcome="ignored"} 2"#,
        r#"evidence_gate_deliveries_total{forge="github",event="pull_request",outcome="ignored"} 1"#,
        r#"evidence_gate_webhook_secret_matches_total{forge="github",secret="1"} 3"#,
        "# HELP evidence_gate_deliveries_total Requests to a webhook address by forge, event and outcome.",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    assert!(!metrics.contains("quantum"), "a sender must not be able to grow the metrics:\n{metrics}");
}

// ---- R14: the log

/// What was logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn only_allowed_headers_are_logged_and_no_byte_of_a_body() {
    let door = Door::open().await;
    // A log line that another test's thread meets for the first time while this one begins to listen can stay unheard for good, so
    // both kinds of line are met here before.
    for (id, body) in [("fine", pull_request("opened").to_string()), ("faulty", "{".to_owned())] {
        let headers = github_headers(&door.secret, "pull_request", id, body.as_bytes());
        door.post(headers, body.into_bytes()).await;
    }
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let mut private = pull_request("opened");
    private["pull_request"]["title"] = json!("PRIVATE-TITLE");
    let mut wrong_type = private.clone();
    wrong_type["number"] = json!("PRIVATE-NUMBER");
    let cases = [
        ("accepted", private.to_string(), true),
        ("malformed", wrong_type.to_string(), true),
        ("truncated", private.to_string()[..200].to_owned(), true),
        ("unsigned", private.to_string(), false),
    ];
    for (id, body, signed) in cases {
        let secret = if signed { door.secret.clone() } else { drawn_secret() };
        let mut headers = github_headers(&secret, "pull_request", id, body.as_bytes());
        for name in ["x-hub-signature", "x-github-encoded-secret", "authorization", "x-gitlab-token", "cookie", "x-new"]
        {
            headers.insert(HeaderName::from_static(name), "PRIVATE-HEADER".parse().unwrap());
        }
        let signature = headers["x-hub-signature-256"].to_str().unwrap()["sha256=".len()..].to_owned();
        door.post(headers, body.into_bytes()).await;

        let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let line = text.lines().find(|line| line.contains(&format!("delivery {id} (pull_request)"))).unwrap();
        assert_eq!(line.contains(r#"x-github-hook-id=\"292430182\""#), id != "accepted", "{line}");
        let ours: Vec<&str> = text.lines().filter(|line| line.contains("evidence_gate::")).collect();
        assert!(!ours.is_empty());
        for line in ours {
            for secret in ["PRIVATE", &signature, &secret] {
                assert!(!line.contains(secret), "{secret} was logged: {line}");
            }
        }
    }
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for cause in ["made with no active secret over these bytes", "a value is not u64", "EOF while parsing"] {
        assert!(text.contains(cause), "the log tells the cause: {cause}\n{text}");
    }
}

// ---- R16 and the end

#[tokio::test]
async fn a_request_in_flight_is_finished_when_the_receiver_stops() {
    let door = Door::open().await;
    door.inbox.is(Mood::Holding);
    let body = ping();
    let request = door.client.post(format!("http://{}/webhooks/github", door.address));
    let sent = tokio::spawn(request.headers(door.headers("ping", &body)).body(body).send());
    door.inbox.entered.notified().await;

    door.stop.cancel();
    let closed = async {
        while TcpStream::connect(door.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), closed).await.expect("no new connection is taken");
    assert!(!door.serving.is_finished());

    door.inbox.released.notify_one();
    assert_eq!(sent.await.unwrap().unwrap().status(), 200);
    assert_eq!(door.stop().await, Stopped::Drained);
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_off_after_the_grace() {
    let door = Door::with(Limits::default(), Duration::from_millis(100)).await;
    door.inbox.is(Mood::Holding);
    let mut stream = door.head(&door.headers("ping", &ping()), &format!("content-length: {}", ping().len())).await;
    stream.write_all(&ping()).await.unwrap();
    door.inbox.entered.notified().await;
    assert_eq!(door.stop().await, Stopped::CutOff(1));
    assert_eq!(stream.read(&mut [0; 16]).await.unwrap_or(0), 0, "the connection is closed");
}

#[tokio::test]
async fn idle_connections_do_not_delay_the_end() {
    let door = Door::with(Limits::default(), Duration::from_mins(1)).await;
    assert_eq!(door.get("/healthz").await.0, 200);
    let _idle = TcpStream::connect(door.address).await.unwrap();
    assert_eq!(door.stop().await, Stopped::Drained);
}

// ---- real payloads

/// One line of what the replay reports.
#[derive(serde::Deserialize)]
struct Replayed {
    event: String,
    action: Option<String>,
    status: u16,
    outcome: String,
    reason: Option<String>,
}

/// All 329 recorded payloads of `@octokit/webhooks-examples`, each signed by `@octokit/webhooks-methods`.
#[tokio::test]
#[ignore = "needs `npm ci` in tests/counterparts/payloads"]
async fn every_recorded_payload_is_accepted_or_ignored_with_a_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/counterparts/payloads");
    assert!(
        folder.join("node_modules").is_dir(),
        "the recorded payloads are not installed: run `npm ci` in {} and start this test again",
        folder.display()
    );
    let door = Door::open().await;
    #[expect(clippy::disallowed_methods, reason = "the independent signer is a program of its own")]
    let replay = tokio::process::Command::new("node")
        .arg("replay.mjs")
        .arg(format!("http://{}/webhooks/github", door.address))
        .env("WEBHOOK_SECRET", &door.secret)
        .current_dir(&folder)
        .kill_on_drop(true)
        .output()
        .await
        .expect("`node` 20 or newer must be installed to replay the recorded payloads");
    assert!(replay.status.success(), "the replay failed: {}", String::from_utf8_lossy(&replay.stderr));

    let replayed: Vec<Replayed> =
        serde_json::Deserializer::from_slice(&replay.stdout).into_iter().map(Result::unwrap).collect();
    assert_eq!(replayed.len(), 329, "every payload of version 7.6.1 was sent");
    let looked_at = [
        "opened",
        "reopened",
        "synchronize",
        "ready_for_review",
        "converted_to_draft",
        "closed",
        "labeled",
        "unlabeled",
    ];
    let mut queued: BTreeMap<&str, usize> = BTreeMap::new();
    for Replayed { event, action, status, outcome, reason } in &replayed {
        let wanted = outcome == "queued";
        let expected = if wanted { (202, "queued") } else { (200, "ignored") };
        assert_eq!((*status, &**outcome), expected, "{event} {action:?}: {reason:?}");
        assert_eq!(reason.is_some(), !wanted, "{event} {action:?} is ignored with a reason");
        if event == "pull_request" {
            assert_eq!(action.as_deref().is_some_and(|action| looked_at.contains(&action)), wanted, "{action:?}");
        }
        *queued.entry(event.as_str()).or_default() += usize::from(wanted);
    }
    queued.retain(|_, number| *number > 0);
    let wanted = [
        ("check_run", 3),
        ("check_suite", 2),
        ("installation", 7),
        ("installation_repositories", 3),
        ("merge_group", 2),
        ("pull_request", 19),
        ("pull_request_review", 1),
        ("push", 2),
        ("repository", 4),
    ];
    assert_eq!(queued, BTreeMap::from(wanted));
    assert_eq!(door.inbox.kept().len(), 329);
}
