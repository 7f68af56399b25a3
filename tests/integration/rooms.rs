//! The order of the rooms: a room may use earlier rooms and never later ones. The order is read from `src/lib.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

/// A piece of Rust source, as far as arrows need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or a keyword.
    Word(String),
    /// The two colons of a path.
    Colons,
    /// Any other character that is no space.
    Mark(char),
    /// The text of a string literal, as it is written.
    Text(String),
}

/// Splits Rust source into tokens. Comments are left out; numbers, characters and lifetimes come as marks or words that no arrow
/// is made of.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        at += match rest {
            ['/', '/', ..] => until(rest, 0, |rest| rest[0] == '\n'),
            ['/', '*', ..] => comment(rest),
            ['"', ..] | ['b' | 'c', '"', ..] => quoted(rest, &mut tokens),
            ['r', '"' | '#', ..] | ['b' | 'c', 'r', '"' | '#', ..] if raw(rest).is_some() => {
                let (length, text) = raw(rest).unwrap();
                tokens.push(Token::Text(text));
                length
            }
            ['\'', '\\', ..] => until(rest, 3, |rest| rest[0] == '\'') + 1,
            ['\'', _, '\'', ..] => 3,
            [':', ':', ..] => {
                tokens.push(Token::Colons);
                2
            }
            [c, ..] if c.is_alphanumeric() || *c == '_' => {
                let length = until(rest, 0, |rest| !(rest[0].is_alphanumeric() || rest[0] == '_'));
                tokens.push(Token::Word(rest[..length].iter().collect()));
                length
            }
            [c, ..] => {
                if !c.is_whitespace() {
                    tokens.push(Token::Mark(*c));
                }
                1
            }
            [] => unreachable!("the loop ends before"),
        };
    }
    tokens
}

fn until(chars: &[char], from: usize, end: impl Fn(&[char]) -> bool) -> usize {
    (from..chars.len()).find(|at| end(&chars[*at..])).unwrap_or(chars.len())
}

fn comment(chars: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < chars.len() {
        match &chars[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] if depth == 1 => return at + 2,
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

fn quoted(chars: &[char], tokens: &mut Vec<Token>) -> usize {
    let start = until(chars, 0, |rest| rest[0] == '"') + 1;
    let mut at = start;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    tokens.push(Token::Text(chars[start..at.min(chars.len())].iter().collect()));
    at + 1
}

/// Length and text of a raw string, or `None` for a raw name such as `r#type`.
fn raw(chars: &[char]) -> Option<(usize, String)> {
    let fence_at = until(chars, 0, |rest| rest[0] == 'r') + 1;
    let quote = until(chars, fence_at, |rest| rest[0] != '#');
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let hashes = quote - fence_at;
    let closes = |rest: &[char]| rest[0] == '"' && rest[1..].iter().take_while(|c| **c == '#').count() >= hashes;
    let end = until(chars, quote + 1, closes);
    Some((end + 1 + hashes, chars[quote + 1..end].iter().collect()))
}

/// The first names of every path that starts at the crate's root: behind `crate::`, inside its braces, and behind as many
/// `super::` as lead up to it from a module that lies `depth` folders deep.
fn reached(source: &str, depth: usize) -> Vec<String> {
    let tokens = tokens(source);
    let word = |at: usize, wanted: &str| matches!(tokens.get(at), Some(Token::Word(word)) if word == wanted);
    let mut inner: Vec<usize> = Vec::new(); // the brace depths at which inline modules began
    let mut braces = 0_usize;
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        match &tokens[at] {
            Token::Mark('{') => {
                braces += 1;
                if at >= 2 && word(at - 2, "mod") {
                    inner.push(braces);
                }
            }
            Token::Mark('}') => {
                inner.pop_if(|began| *began == braces);
                braces = braces.saturating_sub(1);
            }
            Token::Word(name) if name == "crate" => match tokens.get(at + 1) {
                Some(Token::Colons) => first_names(&tokens, at + 2, &mut found),
                // `pub(crate)`
                Some(Token::Mark(')')) => {}
                _ => found.push("the crate itself, under another name".to_owned()),
            },
            Token::Word(name) if name == "super" && !follows_super(&tokens, at) => {
                let steps = (at..).step_by(2).take_while(|at| word(*at, "super")).count();
                if steps >= depth + inner.len() && tokens.get(at + 2 * steps - 1) == Some(&Token::Colons) {
                    first_names(&tokens, at + 2 * steps, &mut found);
                }
            }
            _ => {}
        }
    }
    found
}

fn follows_super(tokens: &[Token], at: usize) -> bool {
    at >= 2 && tokens[at - 1] == Token::Colons && tokens[at - 2] == Token::Word("super".into())
}

/// The name at `at`, or the first name of each branch of the braces at `at`.
fn first_names(tokens: &[Token], at: usize, found: &mut Vec<String>) {
    match &tokens[at] {
        Token::Word(name) => found.push(name.clone()),
        Token::Mark('{') => {
            let mut depth = 1;
            let mut next = at + 1;
            let mut begins = true;
            while depth > 0 {
                match &tokens[next] {
                    Token::Mark('{') => depth += 1,
                    Token::Mark('}') => depth -= 1,
                    Token::Mark(',') if depth == 1 => begins = true,
                    _ if begins => {
                        first_names(tokens, next, found);
                        begins = false;
                    }
                    _ => {}
                }
                next += 1;
            }
        }
        Token::Mark('*') => found.push("everything".to_owned()),
        other => found.push(format!("{other:?}")),
    }
}

/// The rooms in the order in which `lib.rs` declares them; the binary comes last.
fn order(lib: &str) -> Vec<String> {
    let tokens = tokens(lib);
    let declared = tokens.windows(3).filter_map(|three| match three {
        [Token::Word(keyword), Token::Word(name), Token::Mark(';')] if keyword == "mod" => Some(name.clone()),
        _ => None,
    });
    declared.chain(["main".to_owned()]).collect()
}

/// Every arrow of a file that does not point at its own room or an earlier one, as a sentence.
fn wrong_arrows(order: &[String], file: &str, source: &str) -> Vec<String> {
    let parts: Vec<&str> = file.trim_end_matches(".rs").split('/').filter(|part| *part != "mod").collect();
    let Some(own) = order.iter().position(|room| room == parts[0]) else {
        return vec![format!("{file} is in no room of lib.rs")];
    };
    let wrong =
        reached(source, parts.len()).into_iter().filter_map(|name| match order.iter().position(|room| *room == name) {
            Some(other) if other <= own => None,
            Some(_) => Some(format!("{file} uses {name}, which comes later than {}", parts[0])),
            None => Some(format!("{file} uses {name}, which is no room of lib.rs")),
        });
    wrong.collect::<BTreeSet<String>>().into_iter().collect()
}

/// Every Rust file under `src/`, as path below `src/` and content.
pub fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(rs) if rs == "rs" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn no_room_uses_a_later_one() {
    let sources = sources();
    let lib = &sources.iter().find(|(file, _)| file == "lib.rs").unwrap().1;
    let order = order(lib);
    assert!(order.len() > 10, "lib.rs declares the rooms: {order:?}");
    let wrong: Vec<String> = sources
        .iter()
        .filter(|(file, _)| file != "lib.rs")
        .flat_map(|(file, source)| wrong_arrows(&order, file, source))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_arrow_that_points_the_wrong_way_is_found() {
    let order = order("pub mod words;\npub mod forge; pub(crate) mod score;\n#[cfg(unix)]\nmod report;");
    let check = |file: &str, source: &str| wrong_arrows(&order, file, source).join("; ");

    for innocent in [
        "use crate::words::Verdict; use crate::{forge::{Forge, self}, words};",
        "pub(crate) fn f() {} pub(super) use a::b; pub(in crate::score) struct S;",
        "// use crate::report::text;\n/* crate::report /* crate::report */ */\n//! [`x`](crate::report::x)",
        r##"const A: &str = "crate::report"; const B: &str = r#"crate::report " "#; const C: char = '"';"##,
        "fn f<'a>(x: &'a str, c: char) -> bool { c == '\\'' || c == '\\u{7b}' || c == '{' }",
        "use super::record; mod tests { use super::*; use super::super::record::Record; }",
    ] {
        assert_eq!(check("score/build.rs", innocent), "", "{innocent}");
    }

    for wrong in [
        "use crate::report::text;",
        "use crate::{words, report};",
        "use crate::{words::{A, B}, report::{self, text as t}};",
        "pub use crate :: report :: text;",
        "fn f() { let x = crate::report::text(); }",
        "macro_rules! m { () => { $crate::report::text() } }",
        "use super::super::report::text;",
        "use super::super::{words, report};",
        "mod tests { use super::super::super::report::text; }",
        "fn f<'a>(c: char) { if c == '\"' { crate::report::text() } }",
    ] {
        assert_eq!(
            check("score/build.rs", wrong),
            "score/build.rs uses report, which comes later than score",
            "{wrong}"
        );
    }

    assert_snapshot!(check("score/mod.rs", "use super::report::x;"), @"score/mod.rs uses report, which comes later than score");
    assert_snapshot!(check("words.rs", "use super::forge::x;"), @"words.rs uses forge, which comes later than words");
    assert_snapshot!(check("score/a/b.rs", "use super::super::super::report;"), @"score/a/b.rs uses report, which comes later than score");
    assert_snapshot!(check("score/mod.rs", "use crate::*;"), @"score/mod.rs uses everything, which is no room of lib.rs");
    assert_snapshot!(check("score/mod.rs", "use crate as root;"), @"score/mod.rs uses the crate itself, under another name, which is no room of lib.rs");
    assert_snapshot!(check("score/mod.rs", "use crate::utils::x;"), @"score/mod.rs uses utils, which is no room of lib.rs");
    assert_snapshot!(check("utils.rs", ""), @"utils.rs is in no room of lib.rs");
    assert_eq!(check("main.rs", "use crate::report::x;"), "");
}

/// Functions that a door may hold, since they only walk the list that the door declares.
const AT_THE_DOOR: [(&str, &str); 2] = [("evidence/mod.rs", "rules"), ("evidence/mod.rs", "judge")];

#[test]
fn every_door_says_what_it_promises_and_holds_no_logic() {
    let doors: Vec<(String, String)> = sources().into_iter().filter(|(file, _)| file.ends_with("mod.rs")).collect();
    assert!(doors.len() > 8, "{}", doors.len());
    for (file, source) in doors {
        assert!(source.starts_with("//! "), "{file} begins with what it promises");
        for pair in tokens(&source).windows(2) {
            if let [Token::Word(keyword), Token::Word(name)] = pair
                && keyword == "fn"
            {
                assert!(AT_THE_DOOR.contains(&(file.as_str(), name.as_str())), "{file} holds the function {name}");
            }
        }
    }
}

/// R27: a success is made in one place. The forge's own files read it to send it; nobody else names it.
#[test]
fn only_the_proof_of_a_complete_record_makes_a_success() {
    let makes = |source: &str| {
        tokens(source).windows(3).any(|three| {
            matches!(three, [Token::Word(a), Token::Colons, Token::Word(b)] if a == "Conclusion" && b == "Success")
        })
    };
    let files: Vec<String> = sources().into_iter().filter(|(_, source)| makes(source)).map(|(file, _)| file).collect();
    let elsewhere: Vec<&String> = files.iter().filter(|file| !file.starts_with("forge/")).collect();
    assert_eq!(elsewhere, ["report/conclusion.rs"]);
}

#[test]
fn the_tokeniser_reads_what_rust_reads() {
    let words = |source: &str| {
        let names = tokens(source).into_iter().filter_map(|token| match token {
            Token::Word(word) => Some(word),
            Token::Colons | Token::Mark(_) | Token::Text(_) => None,
        });
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words("a // b\nc /* d /* e */ f */ g"), "a c g");
    assert_eq!(words(r##"a "b \" c" d r"e\" f r#"g"h"# i b"j" k br#"l"# m r#type"##), "a d f i k m r type");
    assert_eq!(words(r"a 'b' c '\'' d '\\' e '\u{1F600}' f"), "a c d e f");
    assert_eq!(words("fn f<'a, 'b: 'a>(x: &'a str)"), "fn f a b a x a str");
}
