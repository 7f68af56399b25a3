//! Programs of others read what we sign.
#![expect(clippy::disallowed_methods, reason = "the counterparts are started here")]

use std::path::Path;
use std::process::Command;

use evidence_gate::proof::{Keys, Place, seal};
use serde_json::{Value, json};

use super::{noon, record};

/// `sh tests/proof/install.sh` installs it.
#[test]
#[ignore = "needs securesystemslib: sh tests/proof/install.sh"]
fn an_independent_library_verifies_our_envelope_and_refuses_an_altered_one() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proof");
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(folder.path());
    let key = keys.ensure(noon()).unwrap();
    let sealed = seal(&record(10), &Place::first(), &key, noon()).unwrap();
    let python = |envelope: &[u8]| {
        let file = folder.path().join("envelope.json");
        std::fs::write(&file, envelope).unwrap();
        let mut python = Command::new(here.join("venv/bin/python"));
        python.arg("-I").arg(here.join("verify.py")).arg(file).arg(Keys::public_file(folder.path())).output().unwrap()
    };

    let out = python(&sealed.envelope);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let read: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(read["type"], json!("application/vnd.in-toto+json"));
    assert_eq!(read["statement"]["predicate"]["record"]["verdict"], json!("unscored"));

    let altered = String::from_utf8(sealed.envelope).unwrap().replacen("\"payload\":\"eyJ", "\"payload\":\"eyI", 1);
    let out = python(altered.as_bytes());
    assert!(!out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    assert!(String::from_utf8_lossy(&out.stderr).contains("Accepted signatures do not match threshold"));
}

#[test]
#[ignore = "needs the program openssl"]
fn openssl_reads_the_keys_that_we_write() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(folder.path());
    let key = keys.ensure(noon()).unwrap();
    let out = Command::new("openssl").args(["pkey", "-pubout", "-in"]).arg(folder.path().join("signing.pem")).output();
    let out = out.unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(String::from_utf8(out.stdout).unwrap(), key.public().to_pem());
}
