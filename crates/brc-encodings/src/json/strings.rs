//! The strings of a column: as codes as long as they repeat, else one by one.

use brc_core::{ByteStrings, Data};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;

pub(super) struct Strings {
    /// `None` once there were too many distinct strings.
    interner: Option<Box<Interner>>,
    codes: Vec<u32>,
    /// For each code, whether its string stands for itself between quotes.
    literal: Vec<bool>,
    /// How many rows were codes.
    rows: u64,
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        let interner = Some(Box::new(Interner::new(Level::best())));
        Self { interner, codes: Vec::new(), literal: Vec::new(), rows: 0, offsets: vec![0], bytes: Vec::new() }
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

    /// Adds the string that the first `length` bytes of the text stand for, which come before a quote, if that is just these.
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

    /// Adds a null, for which any string stands.
    pub(super) fn push_null(&mut self) {
        match self.interner {
            Some(_) => self.codes.push(self.codes.last().copied().unwrap_or(0)),
            None => self.push_bytes(&[]),
        }
    }

    /// A batch has far fewer than 2 GiB of strings.
    fn push_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.offsets.push(i32::try_from(self.bytes.len()).unwrap_or(i32::MAX));
    }

    pub(super) fn lend(&self) -> Data<'_> {
        match &self.interner {
            Some(interner) => Data::Codes { codes: &self.codes, dictionary: interner.dictionary() },
            None => Data::Bytes(ByteStrings::new(&self.offsets, &self.bytes)),
        }
    }

    /// Forgets all but the first `rows` strings.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.codes.truncate(rows);
        self.offsets.truncate(rows + 1);
        self.bytes.truncate(self.offsets.last().map_or(0, |&end| end as usize));
    }

    /// Forgets all strings; codes keep their meaning.
    pub(super) fn clear(&mut self) {
        self.rows += self.codes.len() as u64;
        self.truncate(0);
        self.interner.take_if(|interner| !interner.pays(self.rows));
    }
}

/// Whether these bytes between quotes are a string of JSON that stands for just them.
pub(super) fn is_literal(text: &[u8]) -> bool {
    let special = |&byte: &u8| byte < b' ' || byte == b'\\' || byte == b'"';
    !text.iter().any(special) && std::str::from_utf8(text).is_ok()
}
