//! The parts of a dialect, and their text forms.

use super::DialectError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The separator between the fields of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Delimiter {
    /// This byte. Two in sequence enclose an empty field.
    Byte(u8),
    /// One or more spaces or tabs. Blanks at the start and end of a row, and in the last column, do not separate
    /// fields.
    Blanks,
}

impl Delimiter {
    /// As shown in messages: `','`, but `tab`.
    pub fn quoted(self) -> impl fmt::Display {
        let text = self.to_string();
        if text.len() == 1 { format!("'{text}'") } else { text }
    }
}

/// `,` `tab` `space` `blanks` `\x01`: what [`FromStr`] accepts.
impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Delimiter::Byte(byte) => Byte(byte).fmt(f),
            Delimiter::Blanks => f.write_str("blanks"),
        }
    }
}

impl FromStr for Delimiter {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Self, DialectError> {
        if text == "blanks" { Ok(Delimiter::Blanks) } else { text.parse().map(|Byte(byte)| Delimiter::Byte(byte)) }
    }
}

/// The end of a row. Readers accept CRLF where LF is expected and vice versa, because files mix them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineEnd {
    /// A line feed.
    Lf,
    /// A carriage return and a line feed.
    CrLf,
    /// A carriage return alone, as on classic Mac OS.
    Cr,
}

impl LineEnd {
    /// The bytes.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            LineEnd::Lf => b"\n",
            LineEnd::CrLf => b"\r\n",
            LineEnd::Cr => b"\r",
        }
    }

    /// The last byte, which readers search for.
    pub fn last_byte(self) -> u8 {
        if self == LineEnd::Cr { b'\r' } else { b'\n' }
    }
}

impl fmt::Display for LineEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LineEnd::Lf => "LF",
            LineEnd::CrLf => "CRLF",
            LineEnd::Cr => "CR",
        })
    }
}

impl FromStr for LineEnd {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Self, DialectError> {
        [LineEnd::Lf, LineEnd::CrLf, LineEnd::Cr]
            .into_iter()
            .find(|line_end| line_end.to_string().eq_ignore_ascii_case(text))
            .ok_or_else(|| DialectError::UnknownLineEnd { text: text.to_owned() })
    }
}

/// A byte with a meaning in a dialect, displayed in printable form: `,` `"` `tab` `space` `\x01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Byte(pub u8);

impl fmt::Display for Byte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\t' => f.write_str("tab"),
            b' ' => f.write_str("space"),
            byte if byte.is_ascii_graphic() => write!(f, "{}", char::from(byte)),
            byte => write!(f, "\\x{byte:02x}"),
        }
    }
}

impl FromStr for Byte {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Self, DialectError> {
        match text {
            "tab" | "\\t" => return Ok(Byte(b'\t')),
            "space" => return Ok(Byte(b' ')),
            _ => {}
        }
        if let [byte] = text.as_bytes() {
            return Ok(Byte(*byte));
        }
        let hex = text.strip_prefix("\\x").or_else(|| text.strip_prefix("0x"));
        hex.filter(|hex| hex.len() == 2 && hex.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok())
            .map(Byte)
            .ok_or_else(|| DialectError::NotOneByte { text: text.to_owned() })
    }
}

/// Serialises an optional byte as an optional string.
pub(super) mod byte {
    use super::Byte;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(byte: &Option<u8>, serializer: S) -> Result<S::Ok, S::Error> {
        byte.map(|byte| Byte(byte).to_string()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map(|Byte(byte)| byte)).transpose().map_err(D::Error::custom)
    }
}

/// Serialises a part that may be explicitly absent as a list: `null` means not set, `[null]` means absent.
pub(super) mod explicit_option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        option: &Option<Option<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        option.as_ref().map(|part| [part]).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Ok(Option::<[Option<T>; 1]>::deserialize(deserializer)?.map(|[part]| part))
    }
}

as_text!(Delimiter);
