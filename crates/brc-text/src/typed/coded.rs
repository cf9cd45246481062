//! Strings as dictionary codes while there are few distinct ones, else as plain strings.

use brc_core::{Data, StringBuffer};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;

/// Strings of a column, batch by batch.
pub struct CodedStrings {
    /// `None` once there were too many distinct strings.
    interner: Option<Box<Interner>>,
    codes: Vec<u32>,
    /// The number of rows of earlier batches that were encoded as codes.
    rows: u64,
    plain: StringBuffer,
}

impl Default for CodedStrings {
    fn default() -> Self {
        let interner = Some(Box::new(Interner::new(Level::best())));
        Self { interner, codes: Vec::new(), rows: 0, plain: StringBuffer::default() }
    }
}

impl CodedStrings {
    /// Whether strings are codes.
    #[inline]
    #[must_use]
    pub fn are_coded(&self) -> bool {
        self.interner.is_some()
    }

    /// The dictionary and the codes, unless strings are plain.
    #[inline]
    pub fn coded(&mut self) -> Option<(&mut Interner, &mut Vec<u32>)> {
        self.interner.as_deref_mut().map(|interner| (interner, &mut self.codes))
    }

    /// Appends the plain string that `write` appends.
    #[inline(always)]
    pub fn push_plain(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let pushed = self.plain.push_with(write);
        debug_assert!(pushed.is_ok(), "batches are delivered long before they hold 2 GiB of strings");
    }

    /// The total length of the strings in bytes; 0 if they are codes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.plain.len_bytes()
    }

    /// The strings.
    #[must_use]
    pub fn as_data(&self) -> Data<'_> {
        match &self.interner {
            Some(interner) => Data::Codes { codes: &self.codes, dictionary: interner.dictionary() },
            None => Data::Bytes(self.plain.as_strings()),
        }
    }

    /// Keeps only the strings of these rows, in this order.
    pub fn keep(&mut self, rows: &[usize]) {
        if self.are_coded() {
            self.codes = rows.iter().map(|&row| self.codes[row]).collect();
            return;
        }
        let all = std::mem::take(&mut self.plain);
        for &row in rows {
            self.push_plain(|bytes| bytes.extend_from_slice(all.as_strings().get(row)));
        }
    }

    /// Keeps only the first `rows` strings.
    pub fn truncate(&mut self, rows: usize) {
        self.codes.truncate(rows);
        self.plain.truncate(rows);
    }

    /// Removes all strings; codes keep their meaning.
    pub fn clear(&mut self) {
        self.rows += self.codes.len() as u64;
        self.truncate(0);
        self.interner.take_if(|interner| !interner.pays(self.rows));
    }
}
