//! The strings of a column: as codes while they repeat, else as strings.

use brc_text::typed::CodedStrings;

#[derive(Default)]
pub(super) struct Strings {
    pub(super) values: CodedStrings,
    /// For each code, whether its string needs no escapes between quotes.
    literal: Vec<bool>,
}

impl Strings {
    /// Adds a string.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Some((interner, codes)) = self.values.coded() else {
            return self.values.push_plain(|out| out.extend_from_slice(bytes));
        };
        let code = interner.intern(bytes);
        if code as usize == self.literal.len() {
            self.literal.push(is_literal(bytes));
        }
        codes.push(code);
    }

    /// Appends the first `length` bytes of the text, which precede a quote, if they are a string without escapes.
    #[inline]
    pub(super) fn push_literal(&mut self, text: &[u8], length: usize) -> Option<()> {
        let Some((interner, codes)) = self.values.coded() else {
            let string = Some(&text[..length]).filter(|string| is_literal(string))?;
            self.values.push_plain(|out| out.extend_from_slice(string));
            return Some(());
        };
        let code = match interner.get_prefix(text, length) {
            Some(code) if self.literal[code as usize] => code,
            None if is_literal(&text[..length]) => {
                self.literal.push(true);
                interner.intern(&text[..length])
            }
            _ => return None,
        };
        codes.push(code);
        Some(())
    }

    /// Appends the arbitrary string under a null.
    pub(super) fn push_null(&mut self) {
        match self.values.coded() {
            Some((_, codes)) => codes.push(codes.last().copied().unwrap_or(0)),
            None => self.values.push_plain(|_| {}),
        }
    }
}

/// Whether these bytes between quotes are a valid JSON string without escapes.
pub(super) fn is_literal(text: &[u8]) -> bool {
    let special = |&byte: &u8| byte < b' ' || byte == b'\\' || byte == b'"';
    !text.iter().any(special) && std::str::from_utf8(text).is_ok()
}
