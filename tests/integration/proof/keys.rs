//! The keys of a scoring host: made once, rotated with overlap, ended where they leaked.

use std::os::unix::fs::PermissionsExt as _;

use evidence_gate::proof::{KeyError, Keys, Keyset, PublicKey, Trusted};

use super::moment;

#[test]
fn the_first_start_makes_a_key_and_later_ones_take_it() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(folder.path().join("keys"));
    let first = keys.ensure(moment("2026-12-01T00:00:00Z")).unwrap();
    let second = keys.ensure(moment("2026-12-02T00:00:00Z")).unwrap();
    assert_eq!(first.public(), second.public());
    let mode = |name: &str| folder.path().join("keys").join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("signing.pem"), mode("public-keys.json")), (0o600, 0o644));
    let public = std::fs::read_to_string(Keys::public_file(&folder.path().join("keys"))).unwrap();
    assert!(!public.contains("PRIVATE") && public.contains("PUBLIC KEY"), "{public}");
}

#[test]
fn workers_that_start_at_once_make_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let start = || Keys::at(folder.path()).ensure(moment("2026-12-01T00:00:00Z")).unwrap().public();
    let made: Vec<PublicKey> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(made.iter().all(|key| *key == made[0]));
    assert_eq!(Keys::at(folder.path()).public().unwrap().keys().len(), 1);
}

#[test]
fn a_rotated_key_counts_until_the_overlap_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(folder.path());
    let old = keys.ensure(moment("2026-12-01T00:00:00Z")).unwrap().public().id();
    let new = keys.rotate(moment("2026-12-05T00:00:00Z"), moment("2026-12-12T00:00:00Z")).unwrap().public().id();
    assert_eq!(keys.signing(moment("2026-12-05T00:00:00Z")).unwrap().public().id(), new);
    let public = keys.public().unwrap();
    let (old, new) = (public.life(&old).unwrap(), public.life(&new).unwrap());
    assert!(old.holds(moment("2026-12-12T00:00:00Z")) && !old.holds(moment("2026-12-12T00:00:01Z")));
    assert!(new.holds(moment("2027-12-01T00:00:00Z")) && !new.holds(moment("2026-12-04T23:59:59Z")));
}

#[test]
fn a_key_that_leaked_ends_in_the_past_and_no_later_rotation_gives_it_more() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(folder.path());
    let leaked = keys.ensure(moment("2026-12-01T00:00:00Z")).unwrap().public().id();
    keys.rotate(moment("2026-12-05T00:00:00Z"), moment("2026-12-03T00:00:00Z")).unwrap();
    keys.rotate(moment("2026-12-06T00:00:00Z"), moment("2026-12-13T00:00:00Z")).unwrap();
    assert_eq!(keys.public().unwrap().life(&leaked).unwrap().to, Some(moment("2026-12-03T00:00:00Z")));
}

#[test]
fn a_key_that_others_can_read_signs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(folder.path());
    keys.ensure(moment("2026-12-01T00:00:00Z")).unwrap();
    let private = folder.path().join("signing.pem");
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(keys.signing(moment("2026-12-01T00:00:00Z")), Err(KeyError::Open { .. })));
}

#[test]
fn a_key_that_is_not_published_signs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(folder.path());
    let now = moment("2026-12-01T00:00:00Z");
    keys.ensure(now).unwrap();
    std::fs::remove_file(Keys::public_file(folder.path())).unwrap();
    assert!(matches!(keys.ensure(now), Err(KeyError::Unpublished { .. })));
    keys.rotate(now, now).unwrap();
    keys.ensure(now).unwrap();
}

#[test]
fn a_keyset_whose_names_are_not_its_keys_digests_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::at(folder.path());
    let id = keys.ensure(moment("2026-12-01T00:00:00Z")).unwrap().public().id();
    let text = keys.public().unwrap().to_json();
    assert_eq!(Keyset::parse(text.as_bytes()).unwrap(), keys.public().unwrap());
    let renamed = text.replace(&id.0, &"0".repeat(64));
    let told = Keyset::parse(renamed.as_bytes()).unwrap_err().to_string();
    assert!(told.contains("its name is not its own digest"), "{told}");
    for (from, to) in [("ed25519", "rsa"), ("\"schema\": 1", "\"schema\": 2"), ("2026-12-01T", "yesterday")] {
        assert!(Keyset::parse(text.replace(from, to).as_bytes()).is_err(), "{to}");
    }
    assert!(Trusted::bare(&text).is_err());
}
