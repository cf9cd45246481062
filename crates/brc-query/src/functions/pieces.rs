//! Patterns of `like` whose only wildcard is `%`: pieces of text that must occur in this order.
//!
//! Where strings lie in sequence, the first piece is searched in all of them at once: strings without it, which
//! mostly are nearly all, are not even read one by one.

use brc_core::ByteStrings;
use memchr::memmem::Finder;

/// The pieces.
#[derive(Debug)]
pub(super) struct Pieces {
    /// What strings begin with.
    start: Vec<u8>,
    /// What they have after that, in this order.
    inner: Vec<Finder<'static>>,
    /// What they end with.
    end: Vec<u8>,
}

impl Pieces {
    pub(super) fn new(start: &str, inner: &[&str], end: &str) -> Self {
        let inner = inner.iter().map(|piece| Finder::new(piece).into_owned()).collect();
        Self { start: start.into(), inner, end: end.into() }
    }

    pub(super) fn are_in(&self, text: &[u8]) -> bool {
        text.strip_prefix(self.start.as_slice()).is_some_and(|rest| self.are_in_rest(&self.inner, rest))
    }

    /// Whether these inner pieces and the end are in what is after all pieces before.
    fn are_in_rest(&self, inner: &[Finder<'_>], mut rest: &[u8]) -> bool {
        if !self.end.is_empty() {
            let Some(before) = rest.strip_suffix(self.end.as_slice()) else { return false };
            rest = before;
        }
        inner.iter().all(|piece| match piece.find(rest) {
            Some(at) => {
                rest = &rest[at + piece.needle().len()..];
                true
            }
            None => false,
        })
    }

    /// Calls `each` with every row whose string has all pieces.
    pub(super) fn search(&self, strings: ByteStrings<'_>, mut each: impl FnMut(usize)) {
        let (offsets, bytes) = strings.parts();
        let (Some((first, others)), true) = (self.inner.split_first(), self.start.is_empty()) else {
            return (0..strings.len()).filter(|&row| self.are_in(strings.get(row))).for_each(each);
        };
        let (mut row, mut from) = (0, offsets[0] as usize);
        let all = &bytes[..offsets[strings.len()] as usize];
        while let Some(at) = all.get(from..).and_then(|left| first.find(left)) {
            let at = from + at;
            row += offsets[row + 1..].iter().take_while(|&&end| end as usize <= at).count();
            let end = offsets[row + 1] as usize;
            let behind = at + first.needle().len();
            if behind > end {
                from = at + 1;
                continue;
            }
            if self.are_in_rest(others, &all[behind..end]) {
                each(row);
            }
            from = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pieces_do_not_overlap() {
        let pieces = Pieces::new("ab", &["b"], "bc");
        for (text, found) in [("abbbc", true), ("abbc", false), ("abc", false), ("abxbxbc", true), ("xabbbc", false)] {
            assert_eq!(pieces.are_in(text.as_bytes()), found, "{text}");
        }
        assert!(Pieces::new("", &[], "").are_in(b""));
    }

    proptest! {
        #[test]
        fn all_strings_are_searched_together(
            texts in prop::collection::vec("[ab]{0,6}", 1..30),
            (start, inner, end) in ("a{0,1}", prop::collection::vec("[ab]{1,3}", 0..3), "b{0,1}"),
            cut in 0usize..30,
        ) {
            let inner: Vec<&str> = inner.iter().map(String::as_str).collect();
            for start in ["", &start] {
                let pieces = Pieces::new(start, &inner, &end);
                let mut offsets = vec![0];
                texts.iter().for_each(|text| offsets.push(offsets[offsets.len() - 1] + text.len() as i32));
                let bytes = texts.concat();
                let strings = ByteStrings::new(&offsets, bytes.as_bytes());
                let strings = strings.slice(cut.min(texts.len() - 1)..texts.len());
                let mut found = Vec::new();
                pieces.search(strings, |row| found.push(row));
                let expected = (0..strings.len()).filter(|&row| pieces.are_in(strings.get(row)));
                prop_assert_eq!(found, expected.collect::<Vec<_>>());
            }
        }
    }
}
