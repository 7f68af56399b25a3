//! Subtraction of what only frozen tests observe: the vectors, the attacks, and a slow model.

mod model;
mod stories;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evidence_gate::change::{BytePath, Mode, PathChange, Side, Status};
use evidence_gate::evidence::surface::{FileSubtraction, Subtraction, files, subtract};
use evidence_gate::evidence::{Blob, Blobs, ClassedRow};
use evidence_gate::maps::{FileSurface, Surface};
use evidence_gate::policy::Class;
use evidence_gate::words::ObjectId;

/// Files by path.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

pub(crate) fn tree<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Tree {
    files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect()
}

fn side(path: &str, bytes: &[u8], blobs: &mut Blobs) -> Side {
    let digest = evidence_gate::change::Sha256::of(bytes).to_string();
    let blob: ObjectId = digest[..40].parse().unwrap();
    blobs.0.insert(blob.clone(), Blob::Whole(bytes.into()));
    Side { path: BytePath::new(path), mode: Mode::FILE, blob }
}

/// What the map says of a change of the product from one tree to another.
pub(crate) fn subtracted(base: &Tree, head: &Tree, surface: &Surface) -> Subtraction {
    let mut blobs = Blobs::default();
    let mut rows = Vec::new();
    let paths: std::collections::BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    for path in paths.into_iter().filter(|path| base.get(*path) != head.get(*path)) {
        let old = base.get(path).map(|bytes| side(path, bytes, &mut blobs));
        let new = head.get(path).map(|bytes| side(path, bytes, &mut blobs));
        let status = match (&old, &new) {
            (None, _) => Status::Added,
            (_, None) => Status::Deleted,
            _ => Status::Modified,
        };
        rows.push(PathChange { status, old, new });
    }
    let rows: Vec<ClassedRow<'_>> = rows.iter().map(|row| ClassedRow { row, class: Class::Product }).collect();
    subtract(&files(&rows, &blobs), surface)
}

/// A map of one file: `live` and `import` lines, and lines of the frozen test `t`.
pub(crate) fn map_of(path: &str, live: &[u32], frozen: &[u32], import: &[u32]) -> Surface {
    let file = FileSurface {
        live: live.iter().copied().collect(),
        frozen: frozen.iter().map(|line| (*line, vec!["t".to_owned()])).collect(),
        import: import.iter().copied().collect(),
        executable: None,
    };
    Surface { files: [(path.to_owned(), file)].into(), ..Surface::default() }
}

/// What a subtraction found, in a few words: `path [changed] overlap: old>head; import: ...; nobody: ...`.
fn told(subtraction: &Subtraction) -> String {
    let number = |line: Option<u32>| line.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let lines: Vec<String> = subtraction
        .files
        .iter()
        .map(|file| {
            let line = |line: &evidence_gate::evidence::surface::ChangedLine| {
                format!("{}>{}", number(line.old_line), number(line.head_line))
            };
            let overlap: Vec<String> = file.overlap.iter().map(|overlap| line(&overlap.line)).collect();
            let import: Vec<String> = file.import.iter().map(line).collect();
            let nobody: Vec<String> = file.unobserved.iter().map(line).collect();
            let changed: Vec<String> = file.changed.iter().map(ToString::to_string).collect();
            let mut out = format!("{} [{}]", file.path, changed.join(" "));
            for (name, lines) in [("overlap", overlap), ("import", import), ("nobody", nobody)] {
                if !lines.is_empty() {
                    write!(out, " {name}: {}", lines.join(" ")).unwrap();
                }
            }
            out
        })
        .collect();
    lines.join("\n")
}

/// Base and head of one Python file, with a map of it.
fn python(base: &str, head: &str, live: &[u32], frozen: &[u32], import: &[u32]) -> String {
    let map = map_of("src/a.py", live, frozen, import);
    told(&subtracted(&tree([("src/a.py", base)]), &tree([("src/a.py", head)]), &map))
}

const TWO: &str = "\
def live(a):
    b = a + 1
    return b


def frozen(a):
    # only a flaky test comes here
    b = a + 2
    return b
";

fn two(head: &str) -> String {
    python(TWO, head, &[2, 3], &[8, 9], &[1, 6])
}

#[test]
fn a_replaced_line_is_its_old_line_wherever_it_stands_now() {
    let head = TWO.replace("a + 2", "a + 3").replace("def live", "\n\n\ndef live");
    assert_eq!(two(&head), "src/a.py [8] overlap: 8>11");
    let head = TWO.replace("a + 1", "a + 3");
    assert_eq!(two(&head), "src/a.py [2]");
}

#[test]
fn comments_blank_lines_and_documentation_are_no_change() {
    let head = TWO.replace("only a flaky", "no").replace("    b = a + 2", "    '''Adds.'''\n\n    b = a + 2  # two");
    assert_eq!(two(&head), "");
    let directive = TWO.replace("    b = a + 2", "    b = a + 2  # noqa");
    assert_eq!(two(&directive), "src/a.py [8] overlap: 8>8");
}

#[test]
fn an_insertion_is_judged_by_its_neighbours_inside_its_own_block() {
    let first = TWO.replace("    b = a + 2", "    a = 0\n    b = a + 2");
    assert_eq!(two(&first), "src/a.py [8] overlap: 8>8", "the head of the function is outside of its block");
    let last = TWO.replace("    return b\n\n", "    b = 0\n    return b\n\n");
    assert_eq!(two(&last), "src/a.py [2 3]");
    let between = TWO.replace("    b = a + 2\n", "    b = a + 2\n    b = 0\n");
    assert_eq!(two(&between), "src/a.py [8 9] overlap: 8>9 9>9");
    let after_live = TWO.replacen("    return b\n", "    if b:\n        b = 0\n    return b\n", 1);
    assert_eq!(two(&after_live), "src/a.py [2 3]");
}

#[test]
fn a_new_block_is_judged_by_what_is_around_it() {
    let new = TWO.replace("    return b\n\n\ndef frozen", "    return b\n\n\ndef new():\n    return 0\n\n\ndef frozen");
    assert_eq!(two(&new), "src/a.py [3 6] import: 6>7");
    let wrapped = TWO.replace("    b = a + 2\n", "    if False:\n        b = a + 2\n");
    assert_eq!(two(&wrapped), "src/a.py [8 9] overlap: 8>8 9>9");
}

#[test]
fn what_is_added_to_a_replaced_line_does_not_hide_behind_it() {
    let base = "def f(a):\n    b = 1\n    c = 2\n";
    let head = "def f(a):\n    b = 1.0\n    evil()\n    c = 2\n";
    assert_eq!(python(base, head, &[2], &[3], &[1]), "src/a.py [2 3] overlap: 3>3");
    assert_eq!(python(base, head, &[2, 3], &[], &[1]), "src/a.py [2]");
}

#[test]
fn a_line_that_only_shapes_is_judged_by_what_it_shapes() {
    let base = "def f(a):\n    if a:\n        b = 1\n    else:\n        b = 2\n    return b\n";
    let head = base.replace("else:", "elif False:");
    assert_eq!(python(base, &head, &[2, 3, 6], &[5], &[1]), "src/a.py [3 5] overlap: 5>4");
    assert_eq!(python(base, &head, &[2, 3, 5, 6], &[], &[1]), "src/a.py [3 5]");
    assert_eq!(python(base, &head, &[], &[], &[]), "src/a.py [4] nobody: 4>4");
}

#[test]
fn a_statement_of_several_lines_has_the_observers_of_any_of_them() {
    let base = "def f(a):\n    return g(\n        a,\n        1,\n    )\n";
    let head = base.replace("1,", "2,");
    assert_eq!(python(base, &head, &[], &[2], &[1]), "src/a.py [4] overlap: 4>4");
    assert_eq!(python(base, &head, &[2], &[], &[1]), "src/a.py [4]");
}

#[test]
fn a_line_that_runs_at_import_is_live_unless_the_file_has_a_hole() {
    let base = "A = 1\n\n\ndef f():\n    return A\n";
    let head = base.replace("A = 1", "A = 2");
    assert_eq!(python(base, &head, &[], &[5], &[1, 4]), "src/a.py [1] import: 1>1");
    assert_eq!(python(base, &head, &[5], &[5], &[1, 4]), "src/a.py [1]");
    // Whichever test happened to import the file first.
    assert_eq!(python(base, &head, &[5], &[1], &[1, 4]), "src/a.py [1]");
}

#[test]
fn a_new_file_is_nobodys_and_a_file_that_is_gone_lost_every_line() {
    let none = Tree::new();
    let base = tree([("src/a.py", TWO)]);
    let map = map_of("src/a.py", &[2, 3], &[8, 9], &[1, 6]);
    let new = subtracted(&none, &tree([("src/b.py", "A = 1\n# x\nB = 2\n")]), &map);
    assert_eq!(told(&new), "src/b.py [] nobody: ->1 ->3");
    assert_eq!(new.changed(), 2);
    let gone = subtracted(&base, &none, &map);
    assert_eq!(told(&gone), "src/a.py [1 2 3 6 8 9] overlap: 8>- 9>- import: 1>- 6>-");
}

#[test]
fn a_moved_file_keeps_its_old_path_even_if_it_was_edited_on_the_way() {
    let base = tree([("src/a.py", TWO)]);
    let map = map_of("src/a.py", &[2, 3], &[8, 9], &[1, 6]);
    assert_eq!(told(&subtracted(&base, &tree([("src/b.py", TWO)]), &map)), "");
    let edited = TWO.replace("a + 2", "a + 3");
    assert_eq!(told(&subtracted(&base, &tree([("src/b.py", edited.as_str())]), &map)), "src/b.py [8] overlap: 8>8");
    let other = subtracted(&base, &tree([("src/b.py", "x = 1\ny = 2\n")]), &map);
    assert_eq!(other.overlapping(), 2, "{}", told(&other));
}

#[test]
fn tests_inside_a_rust_file_are_judged_elsewhere() {
    let base = "pub fn f() -> u8 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        assert_eq!(super::f(), 1);\n    }\n}\n";
    let map = map_of("src/lib.rs", &[1], &[2, 8, 9], &[]);
    let with = |head: &str| told(&subtracted(&tree([("src/lib.rs", base)]), &tree([("src/lib.rs", head)]), &map));
    assert_eq!(with(&base.replace("f(), 1", "f(), 2")), "");
    assert_eq!(with(&base.replace("    1\n", "    2\n")), "src/lib.rs [2] overlap: 2>2");
}

#[test]
fn a_file_that_cannot_be_read_may_have_changed_in_any_line() {
    let old = Side { path: BytePath::new("src/a.py"), mode: Mode::FILE, blob: "1".repeat(40).parse().unwrap() };
    let new = Side { blob: "2".repeat(40).parse().unwrap(), ..old.clone() };
    let row = PathChange { status: Status::Modified, old: Some(old.clone()), new: Some(new.clone()) };
    let mut blobs = Blobs::default();
    blobs.0.insert(old.blob, Blob::TooLarge(9 << 20));
    blobs.0.insert(new.blob, Blob::Missing);
    let rows = [ClassedRow { row: &row, class: Class::Product }];
    let map = map_of("src/a.py", &[2, 3], &[3, 8, 9], &[1, 9]);
    assert_eq!(told(&subtract(&files(&rows, &blobs), &map)), "src/a.py [8] overlap: 8>-");
}

#[test]
fn a_file_without_a_grammar_is_judged_by_plain_neighbours_and_says_so() {
    let map = map_of("src/a.conf", &[1], &[2], &[]);
    let found = subtracted(&tree([("src/a.conf", "# a\nb\n")]), &tree([("src/a.conf", "# a\nc\nb\n")]), &map);
    assert_eq!(told(&found), "src/a.conf [1 2] overlap: 2>2");
    assert_eq!(found.files[0].plain.as_deref(), Some("no grammar for a file of this name"));
}

#[test]
fn the_vectors_have_the_overlap_that_they_say() {
    let vectors = crate::working_copy::vectors("surface.json");
    let cases = vectors.as_array().unwrap();
    assert_eq!(cases.len(), 17);
    for case in cases {
        let of = |side: &str| -> Tree {
            let files = case[side].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("src/"));
            files.map(|(path, text)| (path.clone(), text.as_str().unwrap().as_bytes().to_vec())).collect()
        };
        let frozen = case["frozen"][0]["nodeid"].as_str().unwrap();
        let mut surface = Surface::default();
        for (test, files) in case["map"].as_object().unwrap() {
            for (path, lines) in files.as_object().unwrap() {
                let file = surface.files.entry(path.clone()).or_default();
                for line in lines.as_array().unwrap() {
                    let line = u32::try_from(line.as_u64().unwrap()).unwrap();
                    if test.starts_with(frozen) {
                        file.frozen.entry(line).or_default().push(test.clone());
                    } else {
                        file.live.insert(line);
                    }
                }
            }
        }
        let found = subtracted(&of("base"), &of("head"), &surface);
        let overlap: Vec<u32> = found.files.iter().flat_map(FileSubtraction::overlap_lines).collect();
        assert_eq!(serde_json::json!(overlap), case["overlap_parent_lines"], "{}: {}", case["case"], told(&found));
    }
}
