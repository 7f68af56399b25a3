//! Signed records: what holds, what is refused and why, and how keys live.

mod keys;
mod others;
mod stories;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use evidence_gate::proof::{
    Envelope, Expected, Life, Linked, PAYLOAD_TYPE, Place, Refused, Sealed, SigningKey, Trusted, Walk, canonical, pae,
    seal, show, statement_schema, verify,
};
use evidence_gate::score::{PropertyRow, Record, RepositoryRow, Run, Subject};
use evidence_gate::words::{ForgeKind, PullNumber, RepositoryId};
use insta::assert_snapshot;
use jiff::Timestamp;
use serde_json::{Value, json};

pub fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn noon() -> Timestamp {
    moment("2026-12-01T12:00:00Z")
}

/// A record of `acme/widgets`, pull request 7.
fn record(repository: u64) -> Record {
    let run = Run {
        started: noon().to_string(),
        finished: noon().to_string(),
        runner: "worker".to_owned(),
        host_version: "0.1.0".to_owned(),
    };
    let subject = Subject {
        forge: ForgeKind::Github,
        repository: RepositoryRow { id: Some(RepositoryId(repository)), name: "acme/widgets".to_owned() },
        pull: Some(PullNumber(7)),
        base_ref: "main".to_owned(),
        base: "b".repeat(40).parse().unwrap(),
        head: "a".repeat(40).parse().unwrap(),
        merge_base: None,
        merged_tree: None,
    };
    Record::unscored(subject, "the disk of the scoring host is full", run)
}

fn trusted(key: &SigningKey) -> Vec<Trusted> {
    let life = Life { from: moment("2026-11-01T00:00:00Z"), to: Some(moment("2026-12-31T00:00:00Z")) };
    vec![Trusted { key: key.public(), life: Some(life) }]
}

/// A key and a record that it signed at noon.
fn sealed() -> (SigningKey, Sealed) {
    let key = SigningKey::generate().unwrap();
    let sealed = seal(&record(10), &Place::first(), &key, noon()).unwrap();
    (key, sealed)
}

fn refused(bytes: &[u8], key: &SigningKey) -> Refused {
    verify(bytes, &trusted(key), &Expected::default()).unwrap_err()
}

/// The envelope with one of its parts changed, in its one spelling.
fn with(sealed: &Sealed, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(&sealed.envelope).unwrap();
    change(&mut value);
    canonical(&value).unwrap()
}

/// An envelope around any payload, signed as ours are.
fn signed(payload: &[u8], key: &SigningKey) -> Vec<u8> {
    let sig = key.sign(&pae(PAYLOAD_TYPE, payload));
    let envelope = json!({
        "payloadType": PAYLOAD_TYPE, "payload": STANDARD.encode(payload),
        "signatures": [{ "keyid": key.public().id(), "sig": STANDARD.encode(sig) }],
    });
    canonical(&envelope).unwrap()
}

fn payload(sealed: &Sealed) -> Vec<u8> {
    let envelope: Envelope = serde_json::from_slice(&sealed.envelope).unwrap();
    STANDARD.decode(envelope.payload).unwrap()
}

#[test]
fn a_signed_record_holds_and_says_what_it_is_about() {
    let (key, sealed) = sealed();
    let expected = |repository: &str| Expected { repository: Some(repository.to_owned()), head: Some("a".repeat(40)) };
    for repository in ["acme/widgets", "10"] {
        let verified = verify(&sealed.envelope, &trusted(&key), &expected(repository)).unwrap();
        assert_eq!((verified.number, verified.previous, verified.digest), (1, None, sealed.digest.clone()));
        assert_eq!((verified.signed, verified.key, verified.pull), (noon(), key.public().id(), Some(PullNumber(7))));
        assert_eq!(serde_json::from_value::<Record>(verified.record).unwrap(), record(10));
    }
    let shown = show(&sealed.envelope).unwrap();
    assert_eq!((shown.key, shown.number, shown.digest), (key.public().id(), 1, sealed.digest));
}

#[test]
fn equal_records_at_one_moment_make_equal_bytes() {
    let (key, sealed) = sealed();
    assert_eq!(seal(&record(10), &Place::first(), &key, noon()).unwrap(), sealed);
}

#[test]
fn no_byte_of_a_signed_record_can_be_altered() {
    let (key, sealed) = sealed();
    let trusted = trusted(&key);
    for at in 0..sealed.envelope.len() {
        for mask in [1, 0x20] {
            let mut altered = sealed.envelope.clone();
            altered[at] ^= mask;
            let answer = verify(&altered, &trusted, &Expected::default());
            assert!(answer.is_err(), "byte {at} was altered by {mask:#x} unseen");
        }
        let cut = verify(&sealed.envelope[..at], &trusted, &Expected::default());
        assert!(cut.is_err(), "cut at {at} unseen");
    }
}

#[test]
fn a_record_that_nobody_signed_gets_a_clear_answer() {
    let key = SigningKey::generate().unwrap();
    let plain = serde_json::to_vec_pretty(&record(10)).unwrap();
    assert_eq!(refused(&plain, &key), Refused::Unsigned);
    assert!(matches!(refused(b"{}", &key), Refused::NotAnEnvelope(_)));
    assert!(matches!(refused(b"", &key), Refused::NotAnEnvelope(_)));
}

#[test]
fn an_unknown_key_is_named() {
    let ((key, sealed), other) = (sealed(), SigningKey::generate().unwrap());
    assert_eq!(refused(&sealed.envelope, &other), Refused::UnknownKey(key.public().id()));
    let renamed = with(&sealed, |value| value["signatures"][0]["keyid"] = json!(other.public().id()));
    assert_eq!(refused(&renamed, &other), Refused::Signature(other.public().id()));
}

#[test]
fn another_repository_or_commit_is_named() {
    let (key, sealed) = sealed();
    let refused = |repository: Option<&str>, head: Option<&str>| {
        let expected = Expected { repository: repository.map(str::to_owned), head: head.map(str::to_owned) };
        verify(&sealed.envelope, &trusted(&key), &expected).unwrap_err().to_string()
    };
    assert_snapshot!(refused(Some("acme/gadgets"), None), @"it is about the repository acme/widgets, and not about acme/gadgets");
    assert_snapshot!(refused(Some("11"), None), @"it is about the repository acme/widgets, and not about 11");
    assert_snapshot!(refused(None, Some("cccc")), @"it is about the commit aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, and not about cccc");
}

#[test]
fn a_moment_outside_the_keys_life_is_refused() {
    let key = SigningKey::generate().unwrap();
    for (at, good) in [
        ("2026-10-31T23:59:59Z", false),
        ("2026-11-01T00:00:00Z", true),
        ("2026-12-31T00:00:00Z", true),
        ("2026-12-31T00:00:01Z", false),
    ] {
        let sealed = seal(&record(10), &Place::first(), &key, moment(at)).unwrap();
        let answer = verify(&sealed.envelope, &trusted(&key), &Expected::default());
        assert_eq!(answer.is_ok(), good, "{at}: {answer:?}");
        assert!(good || matches!(answer, Err(Refused::OutOfLife { .. })), "{at}");
        let bare = [Trusted { key: key.public(), life: None }];
        assert!(verify(&sealed.envelope, &bare, &Expected::default()).is_ok(), "of a bare key no life is known");
    }
}

#[test]
fn another_payload_type_is_refused_even_where_it_was_signed() {
    let (key, sealed) = sealed();
    let renamed = with(&sealed, |value| value["payloadType"] = json!("application/json"));
    assert_eq!(refused(&renamed, &key), Refused::PayloadType("application/json".to_owned()));
}

#[test]
fn base64_in_another_spelling_is_refused() {
    let (key, sealed) = sealed();
    let bytes = payload(&sealed);
    let respelled = [URL_SAFE.encode(&bytes), STANDARD_NO_PAD.encode(&bytes), format!("{}\n", STANDARD.encode(&bytes))];
    for text in respelled.into_iter().filter(|text| *text != STANDARD.encode(&bytes)) {
        let altered = with(&sealed, |value| value["payload"] = json!(text));
        assert_eq!(refused(&altered, &key), Refused::Base64("payload"));
    }
    // 64 bytes leave four bits over, which decoders may ignore.
    let altered = with(&sealed, |value| {
        let sig = value["signatures"][0]["sig"].as_str().unwrap().to_owned();
        let last = sig.trim_end_matches('=').chars().last().unwrap();
        let next = char::from(u8::try_from(last).unwrap() + 1);
        value["signatures"][0]["sig"] = json!(sig.replace(&format!("{last}=="), &format!("{next}==")));
    });
    assert_eq!(refused(&altered, &key), Refused::Base64("signature"));
}

#[test]
fn two_signatures_or_none_are_refused() {
    let (key, sealed) = sealed();
    let twice = with(&sealed, |value| {
        let first = value["signatures"][0].clone();
        value["signatures"].as_array_mut().unwrap().push(first);
    });
    assert_eq!(refused(&twice, &key), Refused::Signatures(2));
    let none = with(&sealed, |value| value["signatures"] = json!([]));
    assert_eq!(refused(&none, &key), Refused::Signatures(0));
}

#[test]
fn the_same_envelope_in_other_bytes_is_refused() {
    let (key, sealed) = sealed();
    let value: Value = serde_json::from_slice(&sealed.envelope).unwrap();
    let pretty = serde_json::to_vec_pretty(&value).unwrap();
    let padded = [&sealed.envelope[..], b" "].concat();
    let escaped = String::from_utf8(sealed.envelope.clone()).unwrap().replacen("payload", "p\\u0061yload", 1);
    for bytes in [&pretty, &padded, escaped.as_bytes()] {
        assert_eq!(refused(bytes, &key), Refused::Spelling);
    }
    let trailing = [&sealed.envelope[..], b"x"].concat();
    assert!(matches!(refused(&trailing, &key), Refused::NotAnEnvelope(_)));
    let more = with(&sealed, |value| value["note"] = json!("more"));
    assert!(matches!(refused(&more, &key), Refused::NotAnEnvelope(_)));
}

#[test]
fn what_our_key_signed_and_is_no_verdict_is_refused() {
    let (key, sealed) = sealed();
    let statement: Value = serde_json::from_slice(&payload(&sealed)).unwrap();
    let mut others = vec![b"hello".to_vec(), serde_json::to_vec_pretty(&statement).unwrap()];
    let changes: [fn(&mut Value); 6] = [
        |value| value["_type"] = json!("https://in-toto.io/Statement/v0.1"),
        |value| value["predicateType"] = json!("https://slsa.dev/provenance/v1"),
        |value| value["predicate"]["schema"] = json!(2),
        |value| value["subject"][0]["digest"]["gitCommit"] = json!("c".repeat(40)),
        |value| value["subject"] = json!([]),
        |value| value["predicate"]["signed"] = json!("yesterday"),
    ];
    for change in changes {
        let mut other = statement.clone();
        change(&mut other);
        others.push(canonical(&other).unwrap());
    }
    assert!(verify(&signed(&payload(&sealed), &key), &trusted(&key), &Expected::default()).is_ok());
    for other in others {
        let answer = refused(&signed(&other, &key), &key);
        assert!(matches!(answer, Refused::Statement(_)), "{answer}: {}", String::from_utf8_lossy(&other));
    }
}

#[test]
fn numbers_that_a_double_would_round_are_signed_as_text() {
    let key = SigningKey::generate().unwrap();
    let mut record = record(10);
    record.properties.push(PropertyRow {
        id: "retry".to_owned(),
        runner: "worker".to_owned(),
        isolation: "in-process".to_owned(),
        seed: Some(i64::MAX),
        trials: Some(200),
        hits: Some(200),
        counterexample: Some(json!({"delay": 9_007_199_254_740_993_u64, "jitter": 0.1})),
        exc_type: None,
        message: None,
        signature: None,
        sample: None,
        known_bad: None,
        log: None,
    });
    let sealed = seal(&record, &Place::first(), &key, noon()).unwrap();
    let verified = verify(&sealed.envelope, &trusted(&key), &Expected::default()).unwrap();
    let property = &verified.record["properties"][0];
    assert_eq!(property["seed"], json!("9223372036854775807"));
    assert_eq!(property["counterexample"], json!({"delay": "9007199254740993", "jitter": 0.1}));
}

#[test]
fn a_statement_is_as_its_published_schema_says() {
    let (_, sealed) = sealed();
    let statement: Value = serde_json::from_slice(&payload(&sealed)).unwrap();
    let schema = jsonschema::validator_for(&statement_schema()).unwrap();
    let wrong: Vec<String> = schema.iter_errors(&statement).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(statement["subject"][0]["digest"]["gitCommit"], json!("a".repeat(40)));
}

// The chain.

/// So many records of one repository, each naming the one before it.
fn chain(key: &SigningKey, count: u64) -> Vec<Linked> {
    let mut place = Place::first();
    let mut links = Vec::new();
    for number in 1..=count {
        let sealed = seal(&record(10), &place, key, noon()).unwrap();
        place = Place::after(number, sealed.digest.clone());
        links.push(Linked { number, digest: sealed.digest, envelope: sealed.envelope });
    }
    links
}

/// Where a chain breaks.
fn broken(key: &SigningKey, links: &[Linked]) -> Option<String> {
    let trusted = trusted(key);
    let mut walk = Walk::new(RepositoryId(10), &trusted);
    links.iter().find_map(|link| walk.step(link).err()).map(|broken| broken.to_string())
}

#[test]
fn a_chain_holds_from_its_first_record_on() {
    let key = SigningKey::generate().unwrap();
    assert_eq!(broken(&key, &chain(&key, 5)), None);
    assert_eq!(broken(&key, &[]), None);
}

#[test]
fn a_record_that_was_taken_out_is_named() {
    let key = SigningKey::generate().unwrap();
    let mut links = chain(&key, 5);
    links.remove(2);
    assert_eq!(broken(&key, &links).unwrap(), "record 3: it is missing; the next one that is there is 4");
    links[2].number = 3;
    assert_eq!(broken(&key, &links).unwrap(), "record 3: it was signed as record 4");
    assert!(broken(&key, &chain(&key, 3)[1..]).unwrap().starts_with("record 1: it is missing"));
}

#[test]
fn a_record_that_was_exchanged_breaks_the_one_after_it() {
    let key = SigningKey::generate().unwrap();
    let mut links = chain(&key, 3);
    let place = Place::after(1, links[0].digest.clone());
    let other = seal(&record(10), &place, &key, moment("2026-12-01T12:00:01Z")).unwrap();
    links[1] = Linked { number: 2, digest: other.digest, envelope: other.envelope };
    let told = broken(&key, &links).unwrap();
    assert!(told.starts_with("record 3: it names ") && told.contains("as the record before it"), "{told}");
}

#[test]
fn a_record_of_another_repository_breaks_the_chain() {
    let key = SigningKey::generate().unwrap();
    let mut links = chain(&key, 2);
    let place = Place::after(1, links[0].digest.clone());
    let other = seal(&record(11), &place, &key, noon()).unwrap();
    links[1] = Linked { number: 2, digest: other.digest, envelope: other.envelope };
    assert_eq!(broken(&key, &links).unwrap(), "record 2: it is about the repository acme/widgets, and not about 10");
}
