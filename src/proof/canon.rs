//! One spelling of JSON.

use serde::Serialize;
use serde_json::{Number, Value};

/// The largest whole number that every JSON reader reads exactly: 2^53 - 1.
const EXACT: u64 = (1 << 53) - 1;

/// The bytes of a value in the JSON Canonicalization Scheme, <https://www.rfc-editor.org/rfc/rfc8785>. Numbers are IEEE doubles there, so
/// whole numbers past 2^53 - 1, which a double would round, become strings of their digits, as RFC 7493 advises.
pub fn canonical(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut value = serde_json::to_value(value)?;
    make_exact(&mut value);
    serde_json_canonicalizer::to_vec(&value)
}

fn make_exact(value: &mut Value) {
    match value {
        Value::Number(number) if !is_exact(number) => *value = Value::String(number.to_string()),
        Value::Array(items) => items.iter_mut().for_each(make_exact),
        Value::Object(fields) => fields.values_mut().for_each(make_exact),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_exact(number: &Number) -> bool {
    match (number.as_u64(), number.as_i64()) {
        (Some(whole), _) => whole <= EXACT,
        (None, Some(negative)) => negative.unsigned_abs() <= EXACT,
        (None, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: &Value, spelled: &str) {
        assert_eq!(String::from_utf8(canonical(value).unwrap()).unwrap(), spelled);
    }

    #[test]
    fn keys_are_sorted_by_utf16_and_nothing_stands_between() {
        check(&json!({"b": [1, true, null], "a": {"d": "x", "c": 1.0}}), r#"{"a":{"c":1,"d":"x"},"b":[1,true,null]}"#);
        check(&json!({"\u{fb33}": 1, "\u{1f600}": 2, "\r": 3}), "{\"\\r\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn numbers_are_written_as_a_browser_writes_them() {
        let numbers = json!([333_333_333.333_333_3, 1e30, 4.50, 2e-3, 1e-27, -0.0]);
        check(&numbers, "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]");
    }

    #[test]
    fn a_whole_number_that_a_double_would_round_becomes_text() {
        check(&json!(9_007_199_254_740_991_u64), "9007199254740991");
        check(&json!(9_007_199_254_740_993_u64), r#""9007199254740993""#);
        check(&json!([i64::MIN, u64::MAX]), r#"["-9223372036854775808","18446744073709551615"]"#);
    }
}
