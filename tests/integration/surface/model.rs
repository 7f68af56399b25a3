//! Small files, edits and maps at random; the answer must be that of a plain model of explicit sets.
//!
//! Every line is another one, so that there is only one way to tell what was kept.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Tree, subtracted};
use evidence_gate::maps::{FileSurface, Surface};

/// What happens to a line, and what comes in behind it.
#[derive(Clone, Debug)]
struct Edit {
    keep: bool,
    behind: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Code,
    Blank,
    Comment,
}

#[derive(Clone, Debug)]
struct Case {
    /// The old lines: code, blank or comment.
    old: Vec<Piece>,
    /// What comes in before the first line.
    before: Vec<Piece>,
    edits: Vec<Edit>,
    live: BTreeSet<u32>,
    frozen: BTreeMap<u32, BTreeSet<u8>>,
    import: BTreeSet<u32>,
    executable: Option<BTreeSet<u32>>,
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![4 => Just(Piece::Code), 1 => Just(Piece::Blank), 1 => Just(Piece::Comment)]
}

fn case() -> impl Strategy<Value = Case> {
    prop::collection::vec(piece(), 1..14).prop_flat_map(|old| {
        let length = u32::try_from(old.len()).unwrap();
        let edit = (prop::bool::weighted(0.7), prop::collection::vec(piece(), 0..3), prop::bool::weighted(0.3))
            .prop_map(|(keep, behind, comes)| Edit { keep, behind: if comes { behind } else { Vec::new() } });
        let lines = || prop::collection::btree_set(1..=length + 2, 0..8);
        (
            prop::collection::vec(edit, old.len()),
            prop::collection::vec(piece(), 0..2),
            lines(),
            prop::collection::btree_map(1..=length + 2, prop::collection::btree_set(0_u8..3, 1..3), 0..8),
            prop::collection::btree_set(1..=length + 2, 0..3),
            prop::option::of(lines()),
        )
            .prop_map(move |(edits, before, live, frozen, import, executable)| Case {
                old: old.clone(),
                before,
                edits,
                live,
                frozen,
                import,
                executable,
            })
    })
}

fn written(piece: Piece, id: usize, grammar: bool) -> String {
    match piece {
        Piece::Code => format!("name_{id} = {id}\n"),
        Piece::Blank => "\n".to_owned(),
        // Without a grammar nobody knows a comment, so the model has none there.
        Piece::Comment if grammar => format!("# note {id}\n"),
        Piece::Comment => "   \n".to_owned(),
    }
}

/// What the model says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    changed: BTreeSet<u32>,
    overlap: BTreeMap<u32, BTreeSet<String>>,
    import: BTreeSet<u32>,
    unobserved: BTreeSet<(Option<u32>, Option<u32>)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    Live,
    Import,
    Frozen,
    Nobody,
}

/// Old lines that are gone, new lines that came in, and the old lines of code before and after them.
type Group = (Vec<u32>, Vec<u32>, Option<u32>, Option<u32>);

impl Case {
    fn text(&self, grammar: bool) -> (String, String) {
        let mut old = String::new();
        let mut new = String::new();
        let mut next = 1_000;
        let mut come = |pieces: &[Piece], new: &mut String| {
            for piece in pieces {
                next += 1;
                new.push_str(&written(*piece, next, grammar));
            }
        };
        come(&self.before, &mut new);
        for (at, (piece, edit)) in self.old.iter().zip(&self.edits).enumerate() {
            let line = written(*piece, at, grammar);
            old.push_str(&line);
            if edit.keep {
                new.push_str(&line);
            }
            come(&edit.behind, &mut new);
        }
        (old, new)
    }

    fn hole(&self) -> BTreeSet<u32> {
        let frozen: BTreeSet<u32> = self.frozen.keys().copied().collect();
        let seen: BTreeSet<u32> = self.live.union(&self.import).copied().collect();
        frozen.difference(&seen).copied().collect()
    }

    fn seen(&self, line: u32) -> Seen {
        let hole = self.hole();
        match line {
            line if hole.contains(&line) => Seen::Frozen,
            line if self.import.contains(&line) && !hole.is_empty() => Seen::Import,
            line if self.import.contains(&line) || self.live.contains(&line) => Seen::Live,
            _ => Seen::Nobody,
        }
    }

    fn tests(&self, line: u32) -> BTreeSet<String> {
        self.frozen[&line].iter().map(|test| format!("t{test}")).collect()
    }

    /// Groups what is gone and what came in between two lines of code that stayed.
    fn groups(&self) -> Vec<Group> {
        // Lines of code in the order of an edited text: (old number, new number).
        let mut order: Vec<(Option<u32>, Option<u32>)> = Vec::new();
        let mut head = 0;
        let come = |pieces: &[Piece], head: &mut u32, order: &mut Vec<_>| {
            for piece in pieces {
                *head += 1;
                if *piece == Piece::Code {
                    order.push((None, Some(*head)));
                }
            }
        };
        come(&self.before, &mut head, &mut order);
        for ((number, piece), edit) in (1_u32..).zip(&self.old).zip(&self.edits) {
            head += u32::from(edit.keep);
            if *piece == Piece::Code {
                order.push((Some(number), edit.keep.then_some(head)));
            }
            come(&edit.behind, &mut head, &mut order);
        }
        let mut groups = Vec::new();
        let (mut gone, mut came, mut above) = (Vec::new(), Vec::new(), None);
        for (old, new) in order.into_iter().map(|pair| (pair.0, pair.1)).chain([(Some(u32::MAX), Some(0))]) {
            match (old, new) {
                (Some(old), Some(_)) => {
                    let below = (old != u32::MAX).then_some(old);
                    if !gone.is_empty() || !came.is_empty() {
                        groups.push((std::mem::take(&mut gone), std::mem::take(&mut came), above, below));
                    }
                    above = below;
                }
                (Some(old), None) => gone.push(old),
                (None, Some(new)) => came.push(new),
                (None, None) => unreachable!("a line is on some side"),
            }
        }
        groups
    }

    fn answer(&self) -> Answer {
        let mut answer = Answer::default();
        for (gone, came, above, below) in self.groups() {
            for (at, old) in gone.iter().enumerate() {
                answer.changed.insert(*old);
                match self.seen(*old) {
                    Seen::Live => {}
                    Seen::Import => drop(answer.import.insert(*old)),
                    Seen::Frozen => drop(answer.overlap.insert(*old, self.tests(*old))),
                    Seen::Nobody => {
                        let head = came.get(at).or(came.last()).copied();
                        answer.unobserved.insert((Some(*old), head));
                    }
                }
            }
            let neighbours: Vec<u32> = [above, below].into_iter().flatten().collect();
            if gone.is_empty() {
                answer.changed.extend(&neighbours);
                if neighbours.iter().all(|line| self.seen(*line) == Seen::Nobody) {
                    answer.unobserved.extend(came.iter().map(|new| (neighbours.first().copied(), Some(*new))));
                }
            }
            for line in neighbours.into_iter().filter(|_| came.len() > gone.len()) {
                match self.seen(line) {
                    Seen::Frozen => {
                        answer.changed.insert(line);
                        answer.overlap.insert(line, self.tests(line));
                    }
                    Seen::Import if gone.is_empty() => drop(answer.import.insert(line)),
                    Seen::Import | Seen::Live | Seen::Nobody => {}
                }
            }
        }
        answer
    }

    fn surface(&self, path: &str) -> Surface {
        let file = FileSurface {
            live: self.live.iter().copied().collect(),
            frozen: self
                .frozen
                .iter()
                .map(|(line, tests)| (*line, tests.iter().map(|test| format!("t{test}")).collect()))
                .collect(),
            import: self.import.iter().copied().collect(),
            executable: self.executable.as_ref().map(|lines| lines.iter().copied().collect()),
        };
        Surface { files: [(path.to_owned(), file)].into(), ..Surface::default() }
    }
}

fn found(case: &Case, path: &str, grammar: bool) -> Answer {
    let (old, new) = case.text(grammar);
    let tree = |text: String| Tree::from([(path.to_owned(), text.into_bytes())]);
    let subtraction = subtracted(&tree(old), &tree(new), &case.surface(path));
    let mut answer = Answer::default();
    for file in subtraction.files {
        answer.changed.extend(file.changed);
        for overlap in file.overlap {
            let tests = overlap.frozen_tests.into_iter().collect();
            answer.overlap.insert(overlap.line.old_line.unwrap(), tests);
        }
        answer.import.extend(file.import.into_iter().filter_map(|line| line.old_line));
        answer.unobserved.extend(file.unobserved.into_iter().map(|line| (line.old_line, line.head_line)));
    }
    answer
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_edit_under_any_map_has_the_answer_of_the_plain_model(case in case()) {
        prop_assert_eq!(found(&case, "src/a.conf", false), case.answer());
        prop_assert_eq!(found(&case, "src/a.py", true), case.answer());
    }

    #[test]
    fn a_further_frozen_line_never_takes_an_overlap_away(case in case(), line in 1_u32..14) {
        let before = found(&case, "src/a.py", true);
        let mut more = case.clone();
        more.frozen.entry(line).or_default().insert(2);
        more.live.remove(&line);
        let after = found(&more, "src/a.py", true);
        prop_assert!(before.overlap.keys().all(|line| after.overlap.contains_key(line)));
    }
}
