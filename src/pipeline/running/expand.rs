//! Names of tests in the words of a command.

/// Words that name some tests, in the dialect of a runner (`tree_tests.deselect`); none when there is no test to name.
pub(super) fn expand(words: &[String], ids: &[String]) -> Vec<String> {
    if ids.is_empty() {
        return Vec::new();
    }
    if words.iter().any(|word| word.contains("{nodeid}")) {
        return ids.iter().flat_map(|id| words.iter().map(|word| word.replace("{nodeid}", id))).collect();
    }
    words.iter().map(|word| joined(word, ids)).collect()
}

/// `{nodeids:SEP}` becomes all tests with `SEP` between them.
fn joined(word: &str, ids: &[String]) -> String {
    let Some((before, rest)) = word.split_once("{nodeids:") else { return word.to_owned() };
    let Some((separator, after)) = rest.split_once('}') else { return word.to_owned() };
    format!("{before}{}{after}", ids.join(separator))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runner_is_told_in_its_own_dialect() {
        let ids = ["a".to_owned(), "b".to_owned()];
        let of = |words: &[&str]| expand(&words.iter().map(ToString::to_string).collect::<Vec<_>>(), &ids);
        assert_eq!(of(&["--deselect", "{nodeid}"]), ["--deselect", "a", "--deselect", "b"]);
        assert_eq!(of(&["-E", "not (test(={nodeids:) | test(=}))"]), ["-E", "not (test(=a) | test(=b))"]);
        assert_eq!(of(&["-skip", "^({nodeids:|})$"]), ["-skip", "^(a|b)$"]);
        assert_eq!(of(&["-Dtest=!{nodeids:,!}"]), ["-Dtest=!a,!b"]);
        assert_eq!(of(&["--exclude-filter", "{nodeids:|}"]), ["--exclude-filter", "a|b"]);
        assert!(expand(&["--deselect".to_owned(), "{nodeid}".to_owned()], &[]).is_empty());
    }
}
