//! Where a key stands in the text of a policy.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::parse::{get, place};

/// The line, from 1, of the value that some keys lead to: `["classes", "product"]`, or `["property", "0", "paths", "2"]` with numbers
/// for the items of a list. `None` where the text does not say it, so that a default applies, or is no TOML.
pub fn line_of(text: &str, keys: &[&str]) -> Option<u32> {
    let document = DeTable::parse(text).ok()?;
    let (first, rest) = keys.split_first()?;
    let mut value: &Spanned<DeValue<'_>> = get(document.get_ref(), first)?;
    for key in rest {
        value = match value.get_ref() {
            DeValue::Table(table) => get(table, key)?,
            DeValue::Array(items) => items.get(key.parse::<usize>().ok()?)?,
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => return None,
        };
    }
    Some(place(text, value.span().start).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_where_it_stands_and_one_that_is_left_out_nowhere() {
        let text = "schema = 1\n[classes]\nproduct = [\n  \"src/**\",\n]\n[[property]]\nid = \"a\"\npaths = [\"x\"]\n";
        assert_eq!(line_of(text, &["schema"]), Some(1));
        assert_eq!(line_of(text, &["classes", "product"]), Some(3));
        assert_eq!(line_of(text, &["classes", "product", "0"]), Some(4));
        assert_eq!(line_of(text, &["property", "0", "paths", "0"]), Some(8));
        assert_eq!(line_of(text, &["classes", "allowed"]), None);
        assert_eq!(line_of("not = [toml", &["not"]), None);
    }
}
