//! Counts the values of some columns by their types.

use super::columns::Types;
use super::row::key_of;
use super::syntax::{self, Member, ValueKind};
use super::value;
use crate::tally::Tally;
use crate::text::{Piece, RowParser, SharedTallies, Tallies, TextDelivery, first_line};
use brc_core::{ScanError, TextPlace};
use parking_lot::Mutex;
use std::sync::Arc;

/// Reads rows for the kinds of their values alone. Malformed rows are skipped.
pub(super) struct Tallying {
    /// The keys of the columns.
    keys: Vec<String>,
    /// How many rows are still read.
    rows: u64,
    members: Vec<Member>,
    tallies: SharedTallies,
}

impl Tallying {
    /// A parser for these columns of the schema, and what it counts.
    pub(super) fn of(columns: &[usize], types: &Types, rows: u64) -> (Self, SharedTallies) {
        let key = |&column: &usize| types.order.get(column).map(|&number| types.names[number].clone());
        let keys: Vec<String> = columns.iter().map(|column| key(column).unwrap_or_default()).collect();
        let tallies = Arc::new(Mutex::new(Tallies { columns: vec![Tally::new(); keys.len()], lines: 0 }));
        (Self { keys, rows, members: Vec::new(), tallies: Arc::clone(&tallies) }, tallies)
    }

    /// Counts the values of the rows of a line.
    fn line(&mut self, line: &[u8], place: impl Fn(usize) -> u64) {
        let mut at = syntax::skip_spaces(line, 0);
        while at < line.len() && self.rows > 0 {
            let Ok(end) = syntax::object(line, at, &mut self.members) else { return };
            self.rows -= 1;
            self.row(line, TextPlace::Line(place(at)));
            at = syntax::skip_spaces(line, end);
        }
    }

    fn row(&self, line: &[u8], place: TextPlace) {
        let mut tallies = self.tallies.lock();
        for member in self.members.iter().filter(|member| member.kind != ValueKind::Null) {
            let Ok(key) = key_of(line, &member.key) else { continue };
            if let Some(column) = self.keys.iter().position(|known| *known == key) {
                let quote = usize::from(matches!(member.kind, ValueKind::String { .. }));
                let text = &line[member.value.start - quote..member.value.end + quote];
                tallies.columns[column].add(value::demand(line, member), text, place);
            }
        }
    }
}

impl RowParser for Tallying {
    fn take(&mut self, piece: &Piece<'_>, delivery: &mut TextDelivery<'_>) -> Result<(), ScanError> {
        let whole = piece.window.text();
        let before = self.tallies.lock().lines;
        let mut at = 0;
        while at < whole.len() && self.rows > 0 {
            let (line, length) = first_line(&whole[at..]);
            let lines = delivery.lines;
            self.line(line, |within| match piece.newlines {
                Some(newlines) => before + newlines.before(piece.byte + (at + within) as u64) + 1,
                None => before + lines + 1,
            });
            at += length;
            delivery.lines += 1;
        }
        Ok(())
    }

    fn deliver(&mut self, _: &mut TextDelivery<'_>) -> Result<(), ScanError> {
        Ok(())
    }
}
