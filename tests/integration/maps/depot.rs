//! Where uploaded maps lie: shards that become one map, maps that are refused, and maps that go.

use std::io::Write as _;
use std::path::Path;

use evidence_gate::delivery::{Kept, NotKept, Upload, Uploader};
use evidence_gate::maps::{Depot, Fate, Limits, Reach, Retention, Room, TakenUp, price};
use evidence_gate::words::{ForgeKind, ObjectId, RepoRef, RepositoryId};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::ids;

const ROOM: Room = Room { unpacked: 1 << 20, pending: 1 << 20 };

struct Place {
    folder: tempfile::TempDir,
    depot: Depot,
}

fn empty() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let depot = Depot::below(folder.path());
    Place { folder, depot }
}

fn repository(id: u64) -> RepoRef {
    RepoRef { forge: ForgeKind::Github, id: RepositoryId(id), name: "acme/widgets".parse().unwrap() }
}

fn commit(digit: u8) -> ObjectId {
    String::from_utf8(vec![b'0' + digit; 40]).unwrap().parse().unwrap()
}

fn at(hours: i64) -> Timestamp {
    let start: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    start + SignedDuration::from_hours(hours)
}

impl Place {
    fn brings(&self, of: &ObjectId, map: &[u8]) -> Result<Kept, NotKept> {
        self.brings_to(&repository(10), of, map)
    }

    fn brings_to(&self, repository: &RepoRef, of: &ObjectId, map: &[u8]) -> Result<Kept, NotKept> {
        let mut packed = self.depot.scratch().unwrap();
        packed.write_all(map).unwrap();
        let by = Uploader { name: repository.name.clone(), reference: None, what: "a job".to_owned(), token: None };
        let (digest, bytes) = (hex::encode(<sha2::Sha256 as sha2::Digest>::digest(map)), map.len() as u64);
        let upload = Upload { repository: repository.clone(), commit: of.clone(), by, received: at(0), digest, bytes };
        self.depot.keep(&upload, packed, &ROOM)
    }

    fn takes_up(&self, of: &ObjectId, now: Timestamp) -> TakenUp {
        self.takes_up_for(&repository(10), of, now)
    }

    fn takes_up_for(&self, repository: &RepoRef, of: &ObjectId, now: Timestamp) -> TakenUp {
        let mut pending = self.depot.pending(repository).unwrap();
        pending.retain(|one| one.commit == *of);
        self.depot.take_up(repository, of, pending, Limits::default(), now).unwrap()
    }

    fn lines(&self, of: &ObjectId) -> Value {
        let index = self.depot.known(&repository(10)).unwrap().by_commit[of];
        let index = self.depot.shelf().find(index).unwrap().unwrap();
        let surface =
            index.look(index.files().map(str::to_owned).collect::<Vec<_>>().iter().map(String::as_str), &[]).unwrap();
        let live = |file: &evidence_gate::maps::FileSurface| json!(file.live.iter().collect::<Vec<_>>());
        surface.files.iter().map(|(path, file)| (path.clone(), live(file))).collect::<serde_json::Map<_, _>>().into()
    }

    fn files(&self) -> Vec<String> {
        fn below(folder: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() { below(&path, found) } else { found.push(path.display().to_string()) }
            }
        }
        let mut found = Vec::new();
        below(self.folder.path(), &mut found);
        found.sort();
        found
    }
}

fn shard(test: &str, lines: &str) -> Vec<u8> {
    json!({"schema": 2, "tests": {test: {"src/a.py": lines}}}).to_string().into_bytes()
}

#[test]
fn shards_of_one_commit_are_one_map_in_whatever_order_they_come() {
    let shards = [shard("t.py::a", "1-2"), shard("t.py::b", "4"), shard("t.py::c", "9")];
    let mut digests = Vec::new();
    for order in [[0, 1, 2], [2, 1, 0]] {
        let place = empty();
        for number in order {
            assert_eq!(place.brings(&commit(1), &shards[number]).unwrap(), Kept::Pending);
            let taken = place.takes_up(&commit(1), at(1));
            assert!(taken.changed && taken.jitter == 0 && taken.receipts[0].fate == Fate::Taken, "{taken:?}");
        }
        assert_eq!(place.lines(&commit(1)), json!({"src/a.py": [1, 2, 4, 9]}));
        digests.push(place.depot.known(&repository(10)).unwrap().by_commit);
        assert_eq!(place.brings(&commit(1), &shards[1]).unwrap(), Kept::Duplicate);
    }
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn maps_that_disagree_about_a_test_are_jitter() {
    let place = empty();
    place.brings(&commit(1), &shard("t.py::a", "1-2")).unwrap();
    place.brings(&commit(1), &shard("t.py::a", "2-3")).unwrap();
    assert_eq!(place.takes_up(&commit(1), at(1)).jitter, 1);
    assert_eq!(place.lines(&commit(1)), json!({"src/a.py": [2]}));
}

#[test]
fn a_map_that_is_none_or_of_another_commit_is_refused_and_the_others_count() {
    let place = empty();
    let other = json!({"schema": 2, "base_sha": commit(2), "tests": {"t.py::a": {"src/a.py": "1"}}}).to_string();
    let absolute =
        shard("t.py::a", "1").iter().map(|byte| *byte as char).collect::<String>().replace("src/a.py", "/src/a.py");
    for map in
        [b"no map".to_vec(), other.into_bytes(), absolute.into_bytes(), shard("t.py::a", "0"), shard("t.py::a", "1")]
    {
        place.brings(&commit(1), &map).unwrap();
    }
    let taken = place.takes_up(&commit(1), at(1));
    let why = |fate: &Fate| if let Fate::Refused(why) = fate { why.clone() } else { "counts".to_owned() };
    let mut fates: Vec<String> = taken.receipts.iter().map(|one| why(&one.fate)).collect();
    fates.sort();
    assert_eq!(fates.len(), 5);
    assert_eq!(fates.iter().filter(|fate| *fate == "counts").count(), 1);
    assert!(fates.iter().any(|fate| fate.contains("is a map of 2222")), "{fates:?}");
    assert!(place.depot.waiting().unwrap().is_empty());
    assert_eq!(place.lines(&commit(1)), json!({"src/a.py": [1]}));
    assert_eq!(place.brings(&commit(1), b"no map").unwrap(), Kept::Pending, "what was refused may come again");
}

#[test]
fn a_worker_that_died_in_between_leaves_everything_to_be_done_once_more() {
    let place = empty();
    place.brings(&commit(1), &shard("t.py::a", "1-2")).unwrap();
    let pending = place.depot.pending(&repository(10)).unwrap();
    let bytes =
        place.files().into_iter().find(|path| path.rsplit_once('.').is_some_and(|(_, end)| end == "map")).unwrap();
    let copy = std::fs::read(&bytes).unwrap();
    let first = place.takes_up(&commit(1), at(1));
    let known = place.depot.known(&repository(10)).unwrap();
    // It died before the receipt was removed: the receipt is still pending, the bytes are where they count.
    let written = bytes.replace(".map", ".json");
    std::fs::write(&written, serde_json::to_vec(&pending[0]).unwrap()).unwrap();
    let second = place.takes_up(&commit(1), at(2));
    assert_eq!((first.receipts, second.changed), (second.receipts, false));
    assert_eq!(place.depot.known(&repository(10)).unwrap(), known);
    // It died before anything was written down: the bytes were moved only.
    let again = empty();
    again.brings(&commit(1), &copy).unwrap();
    let moved =
        again.files().into_iter().find(|path| path.rsplit_once('.').is_some_and(|(_, end)| end == "map")).unwrap();
    let target = moved.replace("/uploads/", "/maps/of/");
    std::fs::create_dir_all(Path::new(&target).parent().unwrap()).unwrap();
    std::fs::rename(&moved, &target).unwrap();
    assert_eq!(again.takes_up(&commit(1), at(1)).receipts[0].fate, Fate::Taken);
}

#[test]
fn what_waits_may_take_only_so_much_room() {
    let place = empty();
    let mut refused = None;
    for number in 0..40 {
        let map = shard("t.py::a", &format!("{}", number + 1));
        let mut large = map.clone();
        large.resize(60_000, b' ');
        if let Err(error) = place.brings(&commit(1), &large) {
            refused = Some((number, error));
            break;
        }
    }
    let (number, error) = refused.expect("1 MiB is not enough for 40 times 60 kB");
    assert!(number == 17 && matches!(error, NotKept::Full(_)), "{number}: {error}");
}

#[test]
fn old_maps_go_and_the_newest_stay_however_old_they_are() {
    let place = empty();
    for number in 1..=5 {
        place.brings(&commit(number), &shard("t.py::a", &number.to_string())).unwrap();
        place.takes_up(&commit(number), at(i64::from(number)));
    }
    let keep = Retention { keep: SignedDuration::from_hours(24), newest: 2, bytes: u64::MAX };
    let known = |place: &Place| place.depot.known(&repository(10)).unwrap().by_commit.into_keys().collect::<Vec<_>>();
    assert_eq!(place.depot.sweep(&keep, at(20)).unwrap().commits, 0);
    let asked = place.depot.known(&repository(10)).unwrap().by_commit[&commit(1)];
    assert_eq!(place.depot.sweep(&keep, at(1000)).unwrap().commits, 3);
    assert_eq!(known(&place), [commit(4), commit(5)]);
    assert!(place.depot.shelf().find(asked).unwrap().is_some(), "whoever had asked for it still finds it");
    // The file was written now by the disk's own clock, so a sweep long after finds it idle.
    place.depot.sweep(&keep, at(100_000)).unwrap();
    assert!(place.depot.shelf().find(asked).unwrap().is_none());
    assert_eq!(place.lines(&commit(5)), json!({"src/a.py": [5]}));
}

#[test]
fn above_the_bound_the_oldest_go_but_never_the_newest_of_a_repository() {
    let place = empty();
    for (id, number) in [(10, 1), (10, 2), (11, 3)] {
        place.brings_to(&repository(id), &commit(number), &shard("t.py::a", &number.to_string())).unwrap();
        place.takes_up_for(&repository(id), &commit(number), at(i64::from(number)));
    }
    let none = Retention { keep: SignedDuration::MAX, newest: 100, bytes: 0 };
    assert_eq!(place.depot.sweep(&none, at(10)).unwrap().commits, 1);
    assert_eq!(place.depot.known(&repository(10)).unwrap().by_commit.into_keys().collect::<Vec<_>>(), [commit(2)]);
    assert_eq!(place.depot.known(&repository(11)).unwrap().by_commit.len(), 1);
}

#[test]
fn a_document_that_is_damaged_makes_its_map_missing_and_nothing_else() {
    let place = empty();
    for number in [1, 2] {
        place.brings(&commit(number), &shard("t.py::a", "1")).unwrap();
        place.takes_up(&commit(number), at(1));
    }
    let damaged = place.files().into_iter().find(|path| path.ends_with(&format!("{}.json", commit(1)))).unwrap();
    std::fs::write(damaged, b"{").unwrap();
    assert_eq!(place.depot.known(&repository(10)).unwrap().by_commit.into_keys().collect::<Vec<_>>(), [commit(2)]);
    assert_eq!(place.depot.list().unwrap().len(), 1);
}

#[test]
fn any_flipped_byte_of_an_index_is_noticed_before_it_is_believed() {
    let place = empty();
    let map = json!({
        "schema": 2, "collected": ["t.py::c"], "executable": {"src/a.py": "1-9"}, "import": {"src/a.py": "1"},
        "tests": {"t.py::a": {"src/a.py": "2-4,7"}, "t.py::b": {"src/a.py": "3-5", "src/b.py": "1-300"}},
    });
    place.brings(&commit(1), map.to_string().as_bytes()).unwrap();
    place.takes_up(&commit(1), at(1));
    let path =
        place.files().into_iter().find(|path| path.rsplit_once('.').is_some_and(|(_, end)| end == "egmap")).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let frozen = ids(&["t.py::a", "t.py::b"]);
    let ask = || {
        let index = evidence_gate::maps::Index::read(Path::new(&path)).map_err(|error| error.to_string())?;
        let files: Vec<String> = index.files().map(str::to_owned).collect();
        let surface = index.look(files.iter().map(String::as_str), &frozen).map_err(|error| error.to_string())?;
        let price = price(&index, &[], &frozen, Reach::Function).map_err(|error| error.to_string())?;
        Ok::<_, String>((surface, price))
    };
    let right = ask().unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x20;
        std::fs::write(&path, &damaged).unwrap();
        assert!(
            ask().is_err_and(|why| why.contains("damaged index") || why.contains("JSON")),
            "byte {at} of {}",
            whole.len()
        );
    }
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(ask().unwrap(), right);
}
