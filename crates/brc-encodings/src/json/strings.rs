//! The strings of a column: as codes while they repeat, else as strings.

use brc_core::{Data, StringBuffer};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;

pub(super) struct Strings {
    /// `None` after too many distinct strings.
    interner: Option<Box<Interner>>,
    codes: Vec<u32>,
    /// For each code, whether its string needs no escapes between quotes.
    literal: Vec<bool>,
    /// The number of rows appended as codes.
    rows: u64,
    plain: StringBuffer,
}

impl Default for Strings {
    fn default() -> Self {
        let interner = Some(Box::new(Interner::new(Level::best())));
        Self { interner, codes: Vec::new(), literal: Vec::new(), rows: 0, plain: StringBuffer::default() }
    }
}

impl Strings {
    /// Adds a string.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Some(interner) = &mut self.interner else { return self.push_bytes(bytes) };
        let code = interner.intern(bytes);
        if code as usize == self.literal.len() {
            self.literal.push(is_literal(bytes));
        }
        self.codes.push(code);
    }

    /// Appends the first `length` bytes of the text, which precede a quote, if they are a string without escapes.
    #[inline]
    pub(super) fn push_literal(&mut self, text: &[u8], length: usize) -> Option<()> {
        let Some(interner) = &mut self.interner else {
            let string = Some(&text[..length]).filter(|string| is_literal(string))?;
            self.push_bytes(string);
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
        self.codes.push(code);
        Some(())
    }

    /// Appends the arbitrary string under a null.
    pub(super) fn push_null(&mut self) {
        match self.interner {
            Some(_) => self.codes.push(self.codes.last().copied().unwrap_or(0)),
            None => self.push_bytes(&[]),
        }
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        let pushed = self.plain.push(bytes);
        debug_assert!(pushed.is_ok(), "a batch has far less than 2 GiB of strings");
    }

    pub(super) fn as_data(&self) -> Data<'_> {
        match &self.interner {
            Some(interner) => Data::Codes { codes: &self.codes, dictionary: interner.dictionary() },
            None => Data::Bytes(self.plain.as_strings()),
        }
    }

    /// Keeps only the first `rows` strings.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.codes.truncate(rows);
        self.plain.truncate(rows);
    }

    /// Removes all strings; codes keep their meaning.
    pub(super) fn clear(&mut self) {
        self.rows += self.codes.len() as u64;
        self.truncate(0);
        self.interner.take_if(|interner| !interner.pays(self.rows));
    }
}

/// Whether these bytes between quotes are a valid JSON string without escapes.
pub(super) fn is_literal(text: &[u8]) -> bool {
    let special = |&byte: &u8| byte < b' ' || byte == b'\\' || byte == b'"';
    !text.iter().any(special) && std::str::from_utf8(text).is_ok()
}
