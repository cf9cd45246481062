//! Hive folder names, such as `city=K%C3%B6ln%2FBonn`: bytes that a path cannot contain are written as `%` and two
//! hexadecimal digits.

use std::ffi::OsStr;

/// The directory name of a null.
const NULL: &[u8] = b"__HIVE_DEFAULT_PARTITION__";

/// The characters that are percent-encoded, besides unprintable ones.
const ESCAPED: &[u8] = b"\"#%'*/:=?\\{[]^";

/// The characters that Windows does not allow in names, percent-encoded there.
const ESCAPED_BY_SYSTEM: &[u8] = if cfg!(windows) { b"<>|" } else { b"" };

/// The column and the value of a directory name, if it has them; a null is `None`.
#[must_use]
pub fn column_of_folder(name: &OsStr) -> Option<(String, Option<Vec<u8>>)> {
    let name = name.as_encoded_bytes();
    let end = name.iter().position(|&byte| byte == b'=').filter(|&end| end > 0)?;
    let (column, value) = (decoded(&name[..end]), &name[end + 1..]);
    Some((String::from_utf8(column).ok()?, (value != NULL).then(|| decoded(value))))
}

/// The directory name of a value of a column.
pub(crate) fn folder(column: &str, value: Option<&[u8]>) -> String {
    let mut name = Vec::new();
    encode(column.as_bytes(), &mut name);
    name.push(b'=');
    match value {
        None => name.extend_from_slice(NULL),
        // A string that is spelt like null would be read as null.
        Some(NULL) => {
            name.extend_from_slice(b"%5F");
            name.extend_from_slice(&NULL[1..]);
        }
        Some(value) => encode(value, &mut name),
    }
    // Bytes that are not UTF-8 are percent-encoded by now.
    String::from_utf8_lossy(&name).into_owned()
}

fn encode(text: &[u8], name: &mut Vec<u8>) {
    let is_text = std::str::from_utf8(text).is_ok();
    for (at, &byte) in text.iter().enumerate() {
        let is_hidden = at == 0 && matches!(byte, b'.' | b'_') && name.is_empty();
        // Windows removes a trailing dot or space from names.
        let is_left_out = cfg!(windows) && at + 1 == text.len() && matches!(byte, b'.' | b' ');
        let is_special = byte.is_ascii_control() || ESCAPED.contains(&byte) || ESCAPED_BY_SYSTEM.contains(&byte);
        if is_special || is_hidden || is_left_out || !(is_text || byte.is_ascii()) {
            name.extend_from_slice(format!("%{byte:02X}").as_bytes());
        } else {
            name.push(byte);
        }
    }
}

/// The bytes of a percent-encoded name.
fn decoded(name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).filter(|_| *first == b'%');
        let byte = digits.filter(|it| it.iter().all(u8::is_ascii_hexdigit)).and_then(|it| std::str::from_utf8(it).ok());
        match byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip() {
        for (column, value, name) in [
            ("city", Some("Köln/Bonn"), "city=Köln%2FBonn"),
            ("a=b", Some("50 %"), "a%3Db=50 %25"),
            ("_x", Some("_y"), "%5Fx=_y"),
            ("t", Some("2024-01-01 12:30"), "t=2024-01-01 12%3A30"),
            ("t", Some(""), "t="),
            ("t", None, "t=__HIVE_DEFAULT_PARTITION__"),
            ("t", Some("__HIVE_DEFAULT_PARTITION__"), "t=%5F_HIVE_DEFAULT_PARTITION__"),
        ] {
            let folder = folder(column, value.map(str::as_bytes));
            assert_eq!(folder, name);
            assert_eq!(
                column_of_folder(OsStr::new(&folder)),
                Some((column.to_owned(), value.map(|it| it.as_bytes().to_vec())))
            );
        }
        let bytes = [0xff, b'/', 0xc3];
        assert_eq!(
            column_of_folder(OsStr::new(&folder("b", Some(&bytes)))),
            Some(("b".to_owned(), Some(bytes.to_vec())))
        );
        assert_eq!(column_of_folder(OsStr::new("c=%zz%4")), Some(("c".to_owned(), Some(b"%zz%4".to_vec()))));
        for none in ["plain", "=x", ""] {
            assert_eq!(column_of_folder(OsStr::new(none)), None);
        }
    }
}
