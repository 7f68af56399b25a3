//! Paths as the tree of a commit has them.

/// Why a path of a map cannot be one of the repository's tree; `Ok` for one that can.
pub(super) fn in_tree(path: &str) -> Result<(), String> {
    let why = if path.is_empty() {
        "an empty path"
    } else if path.contains('\0') {
        "a path with a NUL in it"
    } else if is_absolute(path) {
        "an absolute path"
    } else if path.contains('\\') {
        "a path with backslashes"
    } else if path.split('/').any(|part| part == "..") {
        "a path that leads out of the tree"
    } else if path.split('/').any(|part| part.is_empty() || part == ".") {
        "a path with an empty part"
    } else {
        return Ok(());
    };
    Err(format!("{why}: \"{}\"", path.chars().take(200).collect::<String>()))
}

/// Whether it begins at a root: `/`, `\`, or a drive of Windows.
pub(super) fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with(['/', '\\'])
        || (bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'/' | b'\\'))
}

/// A tool's path below `root`, with `/` between its parts and no `.` among them; unchanged where it is not below `root`. Backslashes
/// part names only where the root or the path shows that the tool ran on Windows.
pub(super) fn below(root: Option<&str>, path: &str) -> String {
    let windows = |text: &str| text.as_bytes().get(1) == Some(&b':') || text.starts_with("\\\\");
    let slashed = |text: &str| {
        if windows(text) || root.is_some_and(windows) { text.replace('\\', "/") } else { text.to_owned() }
    };
    let mut path = slashed(path);
    if let Some(root) = root.map(slashed) {
        let root = root.trim_end_matches('/');
        if let Some(rest) = path.strip_prefix(root).filter(|rest| rest.starts_with('/')) {
            path = rest.trim_start_matches('/').to_owned();
        }
    }
    if is_absolute(&path) {
        return path;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_outside_the_tree_is_named_as_what_it_is() {
        for good in ["src/a.py", "a b.c", "...", "src/..a"] {
            assert_eq!(in_tree(good), Ok(()), "{good}");
        }
        for (bad, why) in [
            ("", "an empty path"),
            ("/build/a.py", "an absolute path"),
            ("C:\\a.py", "an absolute path"),
            ("src\\a.py", "a path with backslashes"),
            ("src/../../a.py", "a path that leads out of the tree"),
            ("./a.py", "a path with an empty part"),
            ("src//a.py", "a path with an empty part"),
        ] {
            assert_eq!(in_tree(bad).unwrap_err().split(':').next(), Some(why), "{bad}");
        }
    }

    #[test]
    fn a_tools_path_is_cut_to_the_tree() {
        assert_eq!(below(Some("/build/app"), "/build/app/src/a.js"), "src/a.js");
        assert_eq!(below(Some("/build/app/"), "/build/app/./src/a.js"), "src/a.js");
        assert_eq!(below(Some("/build/app"), "/build/application/a.js"), "/build/application/a.js");
        assert_eq!(below(Some("C:\\ci"), "C:\\ci\\src\\a.cs"), "src/a.cs");
        assert_eq!(below(None, "./src/a.js"), "src/a.js");
        assert_eq!(below(None, "/src/a.js"), "/src/a.js");
    }
}
