//! The strings of a window: codes while plain strings of a file repeat, else the strings themselves.

use crate::columnar::Fault;
use brc_core::{Column, Data, Dictionary, StringBuffer, StringsTooLarge};

/// The strings of the next rows to deliver.
#[derive(Default)]
pub(super) struct StringRows {
    /// Codes of the scanner's dictionary, if all rows have one.
    pub(super) codes: Vec<u32>,
    /// The strings of all rows, once one row has no code.
    strings: Option<StringBuffer>,
    /// A buffer for strings, for reuse.
    spare: StringBuffer,
    /// Whether the rows are borrowed from a page, and this is empty.
    pub(super) are_lent: bool,
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
            before.clear();
            self.codes.drain(..).try_for_each(|code| before.push(dictionary.get(code))).map_err(too_large)?;
            self.strings = Some(before);
        }
        match &mut self.strings {
            Some(all) => strings.try_for_each(|string| all.push(string)).map_err(too_large),
            None => Ok(()),
        }
    }

    /// The rows of the window; `dictionary` is that of their codes.
    pub(super) fn as_column<'a>(&'a self, dictionary: &'a Dictionary) -> Column<'a> {
        match &self.strings {
            Some(strings) => Data::Bytes(strings.as_strings()).into(),
            None => Column::codes(&self.codes, dictionary),
        }
    }
}

fn too_large(_: StringsTooLarge) -> Fault {
    Fault::unsupported("some thousand strings have 2 GiB together")
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
