//! The syntax of a JSON object: locates its keys and values.
//!
//! A row is an object whose values are mostly scalar, so no tree is built: each member is a range of the text, from
//! which numbers are parsed exactly and strings without escapes are borrowed. Nested values are checked and skipped
//! without recursion, at any depth. Beyond the standard, `NaN`, `Infinity` and `-Infinity` are values, because DuckDB
//! and Python write them.

use crate::text::BadRow;
use brc_core::RowFault;
use memchr::memchr2;
use std::ops::Range;

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: JsonString,
    pub(super) kind: ValueKind,
    /// The bytes of the value; of a string, those between its quotes.
    pub(super) value: Range<usize>,
}

/// A string between its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonString {
    pub(super) bytes: Range<usize>,
    pub(super) has_escapes: bool,
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Null,
    True,
    False,
    Number,
    /// `NaN`, `Infinity` or `-Infinity`, without quotes.
    NotFinite,
    String {
        has_escapes: bool,
    },
    Array,
    Object,
}

impl ValueKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::String { .. } => "a string",
            Self::Number | Self::NotFinite => "a number",
            Self::Null => "null",
            Self::True | Self::False => "a boolean",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// Why a text is not an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) reason: Reason,
    /// The key of the value at fault, if it is in one.
    pub(super) key: Option<JsonString>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The text does not begin with an object.
    NoObject,
    /// The text ends before the object does.
    Ended,
    /// The error, and the byte before which it is.
    At(usize, &'static str),
}

impl Malformed {
    /// The error of a row that begins at the byte `start` of the text.
    pub(super) fn fault(&self, start: usize) -> RowFault {
        match self.reason {
            Reason::NoObject => RowFault::NoObject,
            Reason::Ended => RowFault::ObjectNotEnded,
            Reason::At(at, reason) => RowFault::MalformedJson { reason: reason.to_owned(), at: at + 1 - start },
        }
    }
}

/// Whether a byte is whitespace between JSON tokens.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The position of the first byte from `at` on that is not whitespace.
pub(super) fn skip_spaces(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| is_space(**byte)).count()
}

/// Parses the object at offset `at` of a text into `members`, which it replaces; returns its end. Its strings are
/// UTF-8 only if the text is.
///
/// # Errors
/// If it is malformed.
pub(super) fn object(text: &[u8], at: usize, members: &mut Vec<Member>) -> Result<usize, Malformed> {
    members.clear();
    let mut cursor = Cursor { text, at };
    if cursor.peek() != Some(b'{') {
        return Err(Malformed { reason: Reason::NoObject, key: None });
    }
    cursor.at += 1;
    let mut key = None;
    let end = cursor.members(members, &mut key);
    end.map_err(|reason| Malformed { reason, key })
}

/// The kind of the value at the start of a text, and its length, including the quotes of a string.
pub(super) fn value(text: &[u8]) -> Option<(ValueKind, usize)> {
    let mut cursor = Cursor { text, at: 0 };
    let (kind, _) = cursor.value().ok()?;
    Some((kind, cursor.at))
}

struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn wrong(&self, reason: &'static str) -> Reason {
        if self.at < self.text.len() { Reason::At(self.at, reason) } else { Reason::Ended }
    }

    /// The next byte that is not whitespace.
    fn token(&mut self) -> Option<u8> {
        self.at = skip_spaces(self.text, self.at);
        self.peek()
    }

    /// Parses members up to the end of the object. `key` is the key of the current value.
    fn members(&mut self, members: &mut Vec<Member>, key: &mut Option<JsonString>) -> Result<usize, Reason> {
        if self.token() == Some(b'}') {
            self.at += 1;
            return Ok(self.at);
        }
        loop {
            let name = self.key()?;
            self.token();
            let of = key.insert(name).clone();
            let (kind, value) = self.value()?;
            *key = None;
            members.push(Member { key: of, kind, value });
            match self.token() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(self.at);
                }
                _ => return Err(self.wrong("expected `,` or `}`")),
            }
            if self.token() == Some(b'}') {
                return Err(self.wrong("trailing comma"));
            }
        }
    }

    /// Parses a key and its colon.
    fn key(&mut self) -> Result<JsonString, Reason> {
        if self.token() != Some(b'"') {
            return Err(self.wrong("key must be a string"));
        }
        let key = self.string()?;
        if self.token() != Some(b':') {
            return Err(self.wrong("expected `:`"));
        }
        self.at += 1;
        Ok(key)
    }

    fn value(&mut self) -> Result<(ValueKind, Range<usize>), Reason> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'"') => {
                let text = self.string()?;
                return Ok((ValueKind::String { has_escapes: text.has_escapes }, text.bytes));
            }
            Some(b'-') if self.text.get(start + 1) == Some(&b'I') => {
                self.at += 1;
                self.word(b"Infinity", ValueKind::NotFinite)?
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'n') => self.word(b"null", ValueKind::Null)?,
            Some(b't') => self.word(b"true", ValueKind::True)?,
            Some(b'f') => self.word(b"false", ValueKind::False)?,
            Some(b'N') => self.word(b"NaN", ValueKind::NotFinite)?,
            Some(b'I') => self.word(b"Infinity", ValueKind::NotFinite)?,
            Some(first @ (b'{' | b'[')) => {
                self.nested()?;
                if first == b'{' { ValueKind::Object } else { ValueKind::Array }
            }
            _ => return Err(self.wrong("expected value")),
        };
        Ok((kind, start..self.at))
    }

    fn word(&mut self, word: &[u8], kind: ValueKind) -> Result<ValueKind, Reason> {
        for &letter in word {
            if self.peek() != Some(letter) {
                return Err(self.wrong("expected value"));
            }
            self.at += 1;
        }
        Ok(kind)
    }

    /// Parses a string; returns the bytes between its quotes.
    fn string(&mut self) -> Result<JsonString, Reason> {
        self.at += 1;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = memchr2(b'"', b'\\', rest) else {
                self.no_controls(self.text.len())?;
                return Err(Reason::Ended);
            };
            self.no_controls(self.at + length)?;
            if rest[length] == b'"' {
                let bytes = start..self.at + length;
                self.at = bytes.end + 1;
                return Ok(JsonString { bytes, has_escapes });
            }
            has_escapes = true;
            self.at += length + 1;
            self.escape()?;
        }
    }

    /// Checks that the bytes up to `end` of a string include none that must be escaped.
    fn no_controls(&mut self, end: usize) -> Result<(), Reason> {
        match self.text[self.at..end].iter().position(|&byte| byte < b' ') {
            Some(control) => Err(Reason::At(self.at + control, "control character in a string")),
            None => Ok(()),
        }
    }

    /// Skips the rest of an escape after its backslash.
    fn escape(&mut self) -> Result<(), Reason> {
        let digits = match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            _ => return Err(self.wrong("invalid escape")),
        };
        self.at += 1;
        for _ in 0..digits {
            if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.wrong("invalid escape"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<ValueKind, Reason> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if let Some(b'0'..=b'9') = self.peek() {
            return Err(self.wrong("invalid number"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(ValueKind::Number)
    }

    fn digits(&mut self) -> Result<(), Reason> {
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        if digits == 0 { Err(self.wrong("invalid number")) } else { Ok(()) }
    }

    /// Skips a list or an object. Open brackets are kept on an explicit stack, because only the length of the row
    /// limits the depth.
    fn nested(&mut self) -> Result<(), Reason> {
        let mut open = Vec::new();
        loop {
            // A value begins here.
            match self.token() {
                Some(first @ (b'{' | b'[')) => {
                    open.push(first);
                    self.at += 1;
                    if self.token() != Some(end_of(first)) {
                        if first == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                _ => {
                    self.value()?;
                }
            }
            // A value has ended, or a list or object may end while it is empty.
            while let Some(&first) = open.last() {
                match self.token() {
                    Some(end) if end == end_of(first) => {
                        self.at += 1;
                        open.pop();
                    }
                    Some(b',') => {
                        self.at += 1;
                        if self.token() == Some(end_of(first)) {
                            return Err(self.wrong("trailing comma"));
                        }
                        if first == b'{' {
                            self.key()?;
                        }
                        break;
                    }
                    _ if first == b'{' => return Err(self.wrong("expected `,` or `}`")),
                    _ => return Err(self.wrong("expected `,` or `]`")),
                }
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }
}

fn end_of(first: u8) -> u8 {
    if first == b'{' { b'}' } else { b']' }
}

/// Appends a list or an object without whitespace between its tokens.
pub(super) fn compact(nested: &[u8], out: &mut Vec<u8>) {
    let mut rest = nested;
    let mut in_string = false;
    while let Some((&byte, more)) = rest.split_first() {
        match byte {
            b'\\' if in_string => {
                out.push(byte);
                out.extend(more.first());
                rest = more.get(1..).unwrap_or_default();
                continue;
            }
            b'"' => in_string = !in_string,
            _ => {}
        }
        if in_string || !is_space(byte) {
            out.push(byte);
        }
        rest = more;
    }
}

/// The error of a row that is not UTF-8.
pub(super) fn not_utf8(row: &[u8]) -> Option<BadRow> {
    let error = std::str::from_utf8(row).err()?;
    let fault = RowFault::MalformedJson { reason: "not UTF-8".to_owned(), at: error.valid_up_to() + 1 };
    Some(BadRow { column: None, fault })
}
