//! Parses one row: defines what a valid row is, and the error of an invalid one.

use super::columns::{Column, Types};
use super::escapes::unescape;
use super::syntax::{self, Member, ValueKind};
use super::value;
use crate::text::{BadRow, LONGEST_LINE};
use brc_core::{LogicalType, RowFault};
use std::borrow::Cow;

/// The column number of a member with an unknown key.
pub(super) const UNKNOWN: usize = usize::MAX;

/// An object and the columns of its members, with reused memory.
#[derive(Default)]
pub(super) struct Row {
    pub(super) members: Vec<Member>,
    /// The column number of each member.
    pub(super) numbers: Vec<usize>,
    /// For each column, the last row that had it.
    rows: Vec<u64>,
    row: u64,
}

impl Row {
    /// Parses the object at offset `at` of a line; returns its end. The row, for errors, begins at `from`. Unknown keys
    /// are allowed if types are inferred.
    ///
    /// # Errors
    /// If it is malformed, apart from its values.
    pub(super) fn read(
        &mut self,
        line: &[u8],
        (from, at): (usize, usize),
        types: &Types,
        is_inferred: bool,
    ) -> Result<usize, BadRow> {
        let object = syntax::object(line, at, &mut self.members);
        let end = object.map_err(|malformed| {
            let key = malformed.key.as_ref().and_then(|key| key_of(line, key).ok());
            let column = key.and_then(|key| types.number(&key)).and_then(|number| types.columns[number].position);
            BadRow { column, fault: malformed.fault(from) }
        })?;
        let next = syntax::skip_spaces(line, end);
        if line.get(next).is_some_and(|&byte| byte != b'{') {
            let fault = RowFault::MalformedJson { reason: "trailing characters".to_owned(), at: next + 1 - from };
            return Err(BadRow { column: None, fault });
        }
        if end - at > LONGEST_LINE {
            return Err(BadRow { column: None, fault: RowFault::LineTooLong(LONGEST_LINE) });
        }
        self.resolve(line, types, is_inferred)?;
        Ok(end)
    }

    /// Finds the column of each member.
    fn resolve(&mut self, line: &[u8], types: &Types, is_inferred: bool) -> Result<(), BadRow> {
        self.row += 1;
        self.rows.resize(types.columns.len(), 0);
        self.numbers.clear();
        let mut expected = 0;
        for member in &self.members {
            let key = key_of(line, &member.key).map_err(|fault| BadRow { column: None, fault })?;
            let in_order = types.names.get(expected).is_some_and(|name| *name == key);
            let number = if in_order { Some(expected) } else { types.number(&key) };
            let column = number.and_then(|number| types.columns[number].position);
            let bad = |fault| Err(BadRow { column, fault });
            match number {
                None if !is_inferred => return bad(RowFault::UnknownColumn(RowFault::quote(key.as_bytes()))),
                Some(number) if self.rows[number] == self.row => return bad(RowFault::DuplicateColumn),
                Some(number) => self.rows[number] = self.row,
                None => {}
            }
            if is_inferred && member.kind == (ValueKind::String { has_escapes: true }) {
                unescape(&line[member.value.clone()]).or_else(bad_string(column))?;
            }
            self.numbers.push(number.unwrap_or(UNKNOWN));
            expected = number.map_or(expected, |number| number + 1);
        }
        self.no_duplicates_of_unknown(line)
    }

    /// Checks that unknown keys are distinct.
    fn no_duplicates_of_unknown(&self, line: &[u8]) -> Result<(), BadRow> {
        if !self.numbers.contains(&UNKNOWN) {
            return Ok(());
        }
        let unknown = self.members.iter().zip(&self.numbers).filter(|(_, number)| **number == UNKNOWN);
        let mut keys: Vec<_> = unknown.filter_map(|(member, _)| key_of(line, &member.key).ok()).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                let fault = RowFault::DuplicateKey(RowFault::quote(pair[0].as_bytes()));
                Err(BadRow { column: None, fault })
            }
            None => Ok(()),
        }
    }

    /// The columns that the last row lacks.
    pub(super) fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(|&number| self.rows[number] != self.row)
    }
}

fn bad_string<T>(column: Option<usize>) -> impl FnOnce(RowFault) -> Result<T, BadRow> {
    move |fault| Err(BadRow { column, fault })
}

/// A key without its escapes.
pub(super) fn key_of<'t>(line: &'t [u8], key: &syntax::JsonString) -> Result<Cow<'t, str>, RowFault> {
    let bytes = &line[key.bytes.clone()];
    let not_utf8 = || RowFault::MalformedString("not UTF-8".to_owned());
    let owned = |bytes: Vec<u8>| String::from_utf8(bytes).map(Cow::Owned).map_err(|_| not_utf8());
    match key.has_escapes {
        false => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| not_utf8()),
        true => owned(unescape(bytes)?.into_owned()),
    }
}

/// The error of a malformed line, and the column of the schema at fault.
pub(super) fn fault_of(line: &[u8], types: &Types, is_inferred: bool) -> Option<(Option<usize>, RowFault)> {
    let fault = |bad: BadRow| Some((bad.column, bad.fault));
    if line.len() > LONGEST_LINE {
        return Some((None, RowFault::LineTooLong(LONGEST_LINE)));
    }
    if let Some(bad) = syntax::not_utf8(line) {
        return fault(bad);
    }
    let mut row = Row::default();
    if let Err(bad) = row.read(line, (0, syntax::skip_spaces(line, 0)), types, is_inferred) {
        return fault(bad);
    }
    let is_set = |column: &&Column| column.seen.is_none();
    for (member, &number) in row.members.iter().zip(&row.numbers) {
        let Some(column) = types.columns.get(number).filter(is_set) else { continue };
        let logical_type = column.logical_type?;
        let bad = match member.kind {
            ValueKind::Null if column.nullable => None,
            _ if column.takes_any && logical_type == LogicalType::String => None,
            _ => value::read(line, member, logical_type).err(),
        };
        if let Some(bad) = bad {
            return Some((column.position, bad));
        }
    }
    let is_wanted = |column: &Column| column.seen.is_none() && !column.nullable;
    let missing = row.missing().find(|&number| is_wanted(&types.columns[number]));
    missing.map(|number| (types.columns[number].position, RowFault::MissingColumn))
}
