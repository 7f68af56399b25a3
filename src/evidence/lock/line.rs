//! One line of `sha256sum`, there and back.

use std::borrow::Cow;

use crate::change::{BytePath, Sha256};

/// Why a line is none of `sha256sum`.
pub(super) type NoLine = &'static str;

/// The line that `sha256sum` writes for a file, with its end. A name with a backslash, a line feed or a carriage return is escaped,
/// and a backslash before the digest says so (<https://www.gnu.org/software/coreutils/manual/html_node/md5sum-invocation.html>).
pub fn line(path: &BytePath, digest: &Sha256) -> Vec<u8> {
    let name = escaped(path.as_bytes());
    let mut line = Vec::with_capacity(name.len() + 68);
    if matches!(name, Cow::Owned(_)) {
        line.push(b'\\');
    }
    line.extend_from_slice(digest.to_string().as_bytes());
    line.extend_from_slice(b"  ");
    line.extend_from_slice(&name);
    line.push(b'\n');
    line
}

/// The name as `sha256sum -c` prints it before `: OK`: escaped only when it would break the line.
pub fn checked_name(path: &BytePath) -> Vec<u8> {
    if path.as_bytes().contains(&b'\n') {
        [b"\\", &*escaped(path.as_bytes())].concat()
    } else {
        path.as_bytes().to_vec()
    }
}

fn escaped(name: &[u8]) -> Cow<'_, [u8]> {
    if !name.iter().any(|byte| matches!(byte, b'\\' | b'\n' | b'\r')) {
        return Cow::Borrowed(name);
    }
    let mut out = Vec::with_capacity(name.len() + 4);
    for byte in name {
        match byte {
            b'\\' => out.extend_from_slice(br"\\"),
            b'\n' => out.extend_from_slice(br"\n"),
            b'\r' => out.extend_from_slice(br"\r"),
            byte => out.push(*byte),
        }
    }
    Cow::Owned(out)
}

/// Reads one line without its end: digest, a space, `*` or a second space, name; or `SHA256 (name) = digest`, as BSD systems and
/// `sha256sum --tag` write it.
pub(super) fn read_line(line: &[u8]) -> Result<(Vec<u8>, Sha256), NoLine> {
    let (rest, is_escaped) = match line.strip_prefix(b"\\") {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let (name, digest) = match rest.strip_prefix(b"SHA256 (") {
        Some(tagged) => tagged_line(tagged)?,
        None => plain_line(rest)?,
    };
    let name = if is_escaped { unescaped(name)? } else { name.to_vec() };
    Ok((name, digest))
}

fn plain_line(line: &[u8]) -> Result<(&[u8], Sha256), NoLine> {
    let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
    let digest = digest(&line[..end])?;
    match &line[end..] {
        [b' ', b' ' | b'*', name @ ..] => Ok((name, digest)),
        _ => Err("has no two spaces, or a space and `*`, between digest and path"),
    }
}

fn tagged_line(line: &[u8]) -> Result<(&[u8], Sha256), NoLine> {
    let middle = b") = ";
    let at = line.windows(middle.len()).rposition(|window| window == middle);
    let at = at.ok_or("begins with `SHA256 (` and has no `) = ` behind the path")?;
    Ok((&line[..at], digest(&line[at + middle.len()..])?))
}

fn digest(text: &[u8]) -> Result<Sha256, NoLine> {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or("does not have a sha256 of 64 hexadecimal digits")
}

fn unescaped(name: &[u8]) -> Result<Vec<u8>, NoLine> {
    let mut out = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => out.push(match bytes.next() {
                Some(b'\\') => b'\\',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                _ => return Err("begins with a backslash, and its path has a backslash that escapes nothing"),
            }),
            byte => out.push(*byte),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_back(name in prop::collection::vec(1_u8.., 1..40), digest in any::<[u8; 32]>()) {
            let (path, digest) = (BytePath::new(name.clone()), Sha256(digest));
            let mut written = line(&path, &digest);
            prop_assert_eq!(written.pop(), Some(b'\n'));
            prop_assert!(!written.contains(&b'\n') && !written.contains(&b'\r'));
            prop_assert_eq!(read_line(&written).unwrap(), (name, digest));
        }

        #[test]
        fn no_line_makes_it_panic(line in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = read_line(&line);
        }
    }

    #[test]
    fn a_name_that_needs_it_is_escaped_as_coreutils_does() {
        let zero = Sha256([0; 32]);
        let written = |name: &str| String::from_utf8(line(&BytePath::new(name), &zero)).unwrap();
        let digits = "0".repeat(64);
        assert_eq!(written("a b"), format!("{digits}  a b\n"));
        assert_eq!(written("a\nb"), format!("\\{digits}  a\\nb\n"));
        assert_eq!(written("c\\d\r"), format!("\\{digits}  c\\\\d\\r\n"));
        assert_eq!(checked_name(&BytePath::new("c\\d")), b"c\\d");
        assert_eq!(checked_name(&BytePath::new("c\\\nd")), b"\\c\\\\\\nd");
    }

    #[test]
    fn the_other_spellings_of_a_line_are_read() {
        let digits = "AB".repeat(32);
        let expected = (b"a (b) = c".to_vec(), Sha256([0xab; 32]));
        for text in [format!("{digits} *a (b) = c"), format!("SHA256 (a (b) = c) = {digits}")] {
            assert_eq!(read_line(text.as_bytes()).unwrap(), expected, "{text}");
        }
    }
}
