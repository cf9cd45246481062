//! The strings of a window: codes while plain strings of a file repeat, else the strings themselves.

use crate::columnar::Fault;
use brc_core::{ByteStrings, Column, Data, Dictionary};

/// The strings of the next rows to deliver.
#[derive(Default)]
pub(super) struct StringRows {
    /// Codes of the scanner's dictionary, if all rows have one.
    pub(super) codes: Vec<u32>,
    /// The strings of all rows, once one row has no code.
    strings: Option<Strings>,
    /// A buffer for strings, for reuse.
    spare: Strings,
    /// Whether the rows are borrowed from a page, and this is empty.
    pub(super) are_lent: bool,
}

#[derive(Default)]
struct Strings {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl StringRows {
    /// Prepares for the next window.
    pub(super) fn clear(&mut self) {
        self.codes.clear();
        self.are_lent = false;
        if let Some(strings) = self.strings.take() {
            self.spare = strings;
        }
    }

    /// Whether all rows have codes.
    pub(super) fn has_codes(&self) -> bool {
        self.strings.is_none()
    }

    /// Appends strings one by one; if earlier rows are codes, they become strings too.
    pub(super) fn push_all<'a>(
        &mut self,
        mut strings: impl Iterator<Item = &'a [u8]>,
        dictionary: &Dictionary,
    ) -> Result<(), Fault> {
        if self.strings.is_none() {
            let mut before = std::mem::take(&mut self.spare);
            before.offsets.clear();
            before.offsets.push(0);
            before.bytes.clear();
            self.codes.drain(..).try_for_each(|code| before.push(dictionary.get(code)))?;
            self.strings = Some(before);
        }
        match &mut self.strings {
            Some(all) => strings.try_for_each(|string| all.push(string)),
            None => Ok(()),
        }
    }

    /// The rows of the window; `dictionary` is that of their codes.
    pub(super) fn as_column<'a>(&'a self, dictionary: &'a Dictionary) -> Column<'a> {
        match &self.strings {
            Some(strings) => Data::Bytes(ByteStrings::new(&strings.offsets, &strings.bytes)).into(),
            None => Column::codes(&self.codes, dictionary),
        }
    }
}

impl Strings {
    fn push(&mut self, string: &[u8]) -> Result<(), Fault> {
        self.bytes.extend_from_slice(string);
        let end = i32::try_from(self.bytes.len());
        self.offsets.push(end.map_err(|_| Fault::unsupported("some thousand strings have 2 GiB together"))?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_strings_once_one_row_has_none() {
        let dictionary: Dictionary = ["a", "b"].into_iter().collect();
        let mut rows = StringRows::default();
        for _ in 0..2 {
            rows.codes.extend([1, 0]);
            assert!(rows.has_codes());
            assert!(matches!(rows.as_column(&dictionary).data, Data::Codes { codes: [1, 0], .. }));
            rows.push_all([b"c".as_slice(), b""].into_iter(), &dictionary).unwrap();
            rows.push_all([b"d".as_slice()].into_iter(), &dictionary).unwrap();
            assert!(!rows.has_codes());
            let Data::Bytes(strings) = rows.as_column(&dictionary).data else { panic!("strings") };
            assert_eq!(strings.iter().collect::<Vec<_>>(), [b"b".as_slice(), b"a", b"c", b"", b"d"]);
            rows.clear();
            assert!(rows.has_codes());
        }
    }
}
