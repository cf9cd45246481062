//! JSON documents about tables, such as results and settings. Not an encoding of rows.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A text is not the expected document; includes line and column.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DocumentError(#[from] serde_json::Error);

/// The value as indented JSON, with a newline at the end.
///
/// # Errors
/// If JSON cannot express the value, such as a map whose keys are not strings.
pub fn to_json<T: Serialize>(value: &T) -> Result<String, DocumentError> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text)
}

/// Parses a JSON text.
///
/// # Errors
/// If it is not JSON, or does not describe such a value.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, DocumentError> {
    Ok(serde_json::from_str(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn values_round_trip() {
        let value: BTreeMap<String, Vec<u64>> = [("a \"b\"".to_owned(), vec![1, u64::MAX])].into();
        let text = to_json(&value).unwrap();
        assert_eq!(text, "{\n  \"a \\\"b\\\"\": [\n    1,\n    18446744073709551615\n  ]\n}\n");
        assert_eq!(from_json::<BTreeMap<String, Vec<u64>>>(&text).unwrap(), value);
    }

    #[test]
    fn errors_include_the_position() {
        let error = from_json::<Vec<u64>>("[1,\n x]").unwrap_err().to_string();
        assert!(error.contains("line 2 column 2"), "{error}");
        assert!(to_json(&BTreeMap::from([((1, 2), 3)])).is_err());
    }
}
