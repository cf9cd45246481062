//! Tokens shared by the row groups of a file. Training tokens takes longer than storing a row group with them, and
//! those of one row group mostly suit all others.
//!
//! They are trained on the first row group. The others wait for it, but only after doing everything else, so the output
//! does not depend on timing. A row group that they compress badly trains its own.

use crate::strings::{self, Estimate, KnownTokens, Strings};
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;

/// The tokens of the first row group, by column.
#[derive(Default)]
pub(super) struct FileTokens {
    first: Mutex<FirstPart>,
    changed: Condvar,
}

#[derive(Default)]
struct FirstPart {
    columns: HashMap<u32, Option<KnownTokens>>,
    /// Whether no more tokens will be added.
    is_complete: bool,
}

impl FileTokens {
    /// Estimates the size of a column's strings in a part, and provides its tokens. A part without a number trains its
    /// own tokens.
    pub(super) fn estimate(&self, part: Option<u64>, column: u32, values: Strings<'_>) -> Estimate {
        match part {
            None => strings::estimate(values, None),
            Some(0) => {
                let estimate = strings::estimate(values, None);
                let mut first = self.first.lock();
                first.columns.insert(column, estimate.tokens());
                self.changed.notify_all();
                estimate
            }
            Some(_) => strings::estimate(values, self.of_first(column).as_ref()),
        }
    }

    /// Waits for the first part's tokens for a column.
    fn of_first(&self, column: u32) -> Option<KnownTokens> {
        let mut first = self.first.lock();
        let is_unknown = |first: &mut FirstPart| !first.is_complete && !first.columns.contains_key(&column);
        self.changed.wait_while(&mut first, is_unknown);
        first.columns.get(&column).cloned().flatten()
    }

    /// Announces that a part is finished or was skipped.
    pub(super) fn end(&self, part: Option<u64>) {
        if part == Some(0) {
            self.first.lock().is_complete = true;
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::StringBuffer;
    use std::sync::Arc;

    /// Several thousand sentences of these words.
    fn sentences(words: &[&str]) -> StringBuffer {
        let word = |at: usize| words[at * at % 7919 % words.len()];
        let sentences: Vec<String> =
            (0..20_000).map(|row| format!("{} {} {}", word(row), word(row * 3 + 1), word(row * 7 + 2))).collect();
        sentences.iter().map(String::as_bytes).collect()
    }

    #[test]
    fn parts_share_tokens_unless_their_text_differs() {
        let usual = sentences(&["carefully", "final", "deposits", "sleep", "above", "the", "furiously", "express"]);
        let other = sentences(&["zwölf", "Boxkämpfer", "jagen", "quer", "über", "großen", "Sylter", "Deich"]);
        let tokens = FileTokens::default();
        let tokens_of = |part: Option<u64>, values: &StringBuffer| {
            tokens.estimate(part, 0, values.strings()).tokenizer.expect("tokens pay")
        };
        let [first, second, third] = std::thread::scope(|scope| {
            let second = scope.spawn(|| tokens_of(Some(1), &usual));
            let third = scope.spawn(|| tokens_of(Some(2), &other));
            let first = tokens_of(Some(0), &usual);
            tokens.end(Some(0));
            [first, second.join().unwrap(), third.join().unwrap()]
        });
        assert!(Arc::ptr_eq(&first, &second));
        assert!(!Arc::ptr_eq(&first, &third));
        assert!(!Arc::ptr_eq(&first, &tokens_of(None, &usual)));
    }

    #[test]
    fn waiting_ends_when_the_first_part_is_skipped() {
        let values = sentences(&["one", "two", "three", "four", "five"]);
        let tokens = FileTokens::default();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| tokens.estimate(Some(1), 0, values.strings()).bytes);
            tokens.end(Some(0));
            assert!(second.join().unwrap() > 0);
        });
    }
}
