//! Infers the columns from the first rows of a text.

use super::columns::ColumnEvidence;
use super::escapes::unescape;
use super::object_layout::{ObjectLayout, extend_prefix, text};
use super::objects::ObjectsToLines;
use super::row::key_of;
use super::syntax::{self, Member, ValueKind, skip_spaces};
use super::value;
use crate::input::Input;
use crate::text::{LONGEST_LINE, Newlines, Notes, Reline};
use brc_core::{Error, Result, RowFault, RowLocation};
use brc_text::BYTE_ORDER_MARK;
use brc_text::infer::Seen;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What the first rows of a source show.
pub(super) struct Found {
    /// Their columns, in the order of their keys, and what is known of them.
    pub(super) columns: Vec<(String, ColumnEvidence)>,
    /// Whether there are rows, with or without keys.
    pub(super) has_rows: bool,
}

impl Found {
    fn new(sample: Sample) -> Self {
        Self { has_rows: sample.rows > 0, columns: sample.columns }
    }

    /// Gives rows without any keys these columns, in which they are null.
    pub(super) fn name_columns(&mut self, names: &[String]) {
        if self.columns.is_empty() && self.has_rows {
            self.columns =
                names.iter().zip(0..).map(|(name, at)| (name.clone(), ColumnEvidence::missing(at))).collect();
        }
    }
}

/// The columns of a source's first rows. Reads as many first bytes as it takes to find a row with keys.
///
/// # Errors
/// If the source cannot be read, or none of its rows is valid: then the error of the first one.
pub(super) fn columns(input: &mut Input, layout: ObjectLayout) -> Result<Found> {
    loop {
        let sample = Sample::of(&input.prefix, layout);
        if !sample.columns.is_empty() {
            return Ok(Found::new(sample));
        }
        if !extend_prefix(input)? {
            // With the whole input, the last row is complete.
            let mut sample = match input.is_whole {
                true => Sample::of(&[input.prefix.as_slice(), b"\n"].concat(), layout),
                false => sample,
            };
            let too_long = (!input.is_whole).then(|| Bad::too_long(&input.prefix)).flatten();
            return match sample.first_bad.take().or(too_long) {
                Some(bad) if sample.columns.is_empty() => Err(bad.error(&input.path)),
                _ => Ok(Found::new(sample)),
            };
        }
    }
}

#[derive(Default)]
struct Sample {
    columns: Vec<(String, ColumnEvidence)>,
    positions: HashMap<String, usize>,
    /// For each column, the number of rows with it.
    rows_of: Vec<u64>,
    rows: u64,
    first_bad: Option<Bad>,
}

/// The error of a row.
struct Bad {
    line: u64,
    byte: u64,
    column: Option<String>,
    fault: RowFault,
}

impl Bad {
    /// The first row of a text exceeds the length limit; `None` if no row begins.
    fn too_long(prefix: &[u8]) -> Option<Self> {
        let byte = skip_spaces(prefix, prefix.len() - text(prefix).len());
        let line = memchr::memchr_iter(b'\n', &prefix[..byte]).count() as u64 + 1;
        let fault = RowFault::LineTooLong(LONGEST_LINE);
        (byte < prefix.len()).then_some(Self { line, byte: byte as u64, column: None, fault })
    }

    fn error(self, path: &Path) -> Error {
        let place = RowLocation { line: self.line, byte: self.byte, column: self.column };
        Error::BadRow { path: path.to_owned(), place, fault: self.fault }
    }
}

impl Sample {
    /// The sample of a text with this prefix.
    fn of(prefix: &[u8], layout: ObjectLayout) -> Self {
        let mut text = prefix.to_vec();
        let mut notes = Notes::default();
        if let ObjectLayout::Objects { in_array } = layout {
            // A scan reports any error here.
            let _ = ObjectsToLines::new(in_array).begin_at(0).reline(&mut text, 0, &mut notes);
        } else {
            notes.newlines = memchr::memchr_iter(b'\n', &text).map(|at| at as u64).collect();
        }
        let newlines = Newlines::new(notes.newlines);
        let mut sample = Self::default();
        let mut at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        while let Some(length) = memchr::memchr(b'\n', &text[at..]) {
            sample.line(&text[..at + length], at, &newlines);
            at += length + 1;
        }
        if let Some(&end) = notes.adjoining.last().filter(|end| **end > at as u64) {
            sample.line(&text[..end as usize], at, &newlines);
        }
        for ((_, learned), rows) in sample.columns.iter_mut().zip(&sample.rows_of) {
            learned.has_nulls |= *rows < sample.rows;
        }
        sample
    }

    /// Reads the rows of a line that begins at a byte of the text.
    fn line(&mut self, text: &[u8], start: usize, newlines: &Newlines) {
        let mut members = Vec::new();
        let mut at = skip_spaces(text, start);
        while at < text.len() {
            let read = syntax::object(text, at, &mut members);
            let end = match (&read, syntax::not_utf8(&text[start..])) {
                (Ok(end), None) => skip_spaces(text, *end),
                _ => text.len(),
            };
            let fault = match (read, syntax::not_utf8(&text[start..])) {
                (_, Some(bad)) => Some((None, bad.fault)),
                (Err(malformed), _) => {
                    let key = malformed.key.as_ref().and_then(|key| key_of(text, key).ok());
                    Some((key.map(Cow::into_owned), malformed.fault(start)))
                }
                (Ok(_), _) if end < text.len() && text[end] != b'{' => {
                    let fault =
                        RowFault::MalformedJson { reason: "trailing characters".to_owned(), at: end + 1 - start };
                    Some((None, fault))
                }
                (Ok(_), _) => self.row(text, at, &members).err(),
            };
            if let (Some((column, fault)), None) = (fault, &self.first_bad) {
                let byte = at as u64;
                self.first_bad = Some(Bad { line: newlines.before(byte) + 1, byte, column, fault });
            }
            at = end;
        }
    }

    /// Adds a row that begins at the given byte.
    fn row(&mut self, text: &[u8], start: usize, members: &[Member]) -> Result<(), (Option<String>, RowFault)> {
        let mut keys = Vec::with_capacity(members.len());
        let mut seen = HashSet::with_capacity(members.len());
        for member in members {
            let key = key_of(text, &member.key).map_err(|fault| (None, fault))?;
            if !seen.insert(key.clone()) {
                return Err((Some(key.into_owned()), RowFault::DuplicateColumn));
            }
            let key = key.into_owned();
            if member.kind == (ValueKind::String { has_escapes: true })
                && let Err(fault) = unescape(&text[member.value.clone()])
            {
                return Err((Some(key), fault));
            }
            keys.push(key);
        }
        self.rows += 1;
        for (position, (key, member)) in keys.into_iter().zip(members).enumerate() {
            let index = *self.positions.entry(key).or_insert_with_key(|key| {
                let first = Some((start as u64, position as u32));
                self.columns.push((key.clone(), ColumnEvidence { first, ..ColumnEvidence::default() }));
                self.rows_of.push(0);
                self.columns.len() - 1
            });
            let learned = &mut self.columns[index].1;
            learned.has_nulls |= member.kind == ValueKind::Null;
            learned.seen = Some(learned.seen.unwrap_or(Seen::NOTHING).join(value::demand(text, member)));
            self.rows_of[index] += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comparing each key with all others would take minutes.
    #[test]
    fn objects_may_have_very_many_keys() {
        const KEYS: usize = 300_000;
        let keys: Vec<String> = (0..KEYS).map(|key| format!("\"key {key}\":{key}")).collect();
        let object = format!("{{{}}}\n", keys.join(","));
        assert_eq!(Sample::of(object.as_bytes(), ObjectLayout::Lines).columns.len(), KEYS);
        let twice = format!("{{{},{}}}\n", keys.join(","), keys[KEYS / 2]);
        let sample = Sample::of(twice.as_bytes(), ObjectLayout::Lines);
        assert_eq!(sample.first_bad.map(|bad| bad.fault), Some(RowFault::DuplicateColumn));
    }
}
