//! Lends the columns of messages as batches.

use super::messages::{Form, Messages, NoMessage, malformed};
use crate::delivery::Delivery;
use crate::frames::{DecodeError, FrameDecoder, Malformed};
use crate::table_capnp::{column, entry, rows};
use crate::text::BATCH_ROWS;
use ::capnp::{primitive_list, text_list};
use brc_core::{Column, Integers, LogicalType, PhysicalType, Schema};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use std::ops::Range;

/// The codes there may be in 16 bits.
const NARROW_CODES: usize = 1 << 16;

/// Decodes messages for one worker.
pub(super) struct ColumnsDecoder {
    form: Form,
    messages: Messages,
    columns: Columns,
}

struct Columns(Vec<Wanted>);

/// A column of the schema, and what is needed to lend it.
enum Wanted {
    Text(Box<Text>),
    Numbers {
        /// Values of 8 bits, widened.
        widened: Vec<i16>,
    },
    SkippedText,
    SkippedNumbers,
}

/// Turns the codes of a message into those of the worker.
struct Text {
    interner: Interner,
    /// The worker's code for each of the message's; at least [`NARROW_CODES`] long.
    map: Vec<u32>,
    /// The codes of a batch.
    codes: Vec<u32>,
}

/// The values of a column of a message.
enum Lists<'m> {
    Codes { strings: usize, codes: primitive_list::Reader<'m, u16> },
    WideCodes { strings: usize, codes: primitive_list::Reader<'m, u32> },
    I8(primitive_list::Reader<'m, i8>),
    I16(primitive_list::Reader<'m, i16>),
    I32(primitive_list::Reader<'m, i32>),
    I64(primitive_list::Reader<'m, i64>),
}

/// What is wrong with a column or a message.
type Reason = String;

impl ColumnsDecoder {
    pub(super) fn new(form: Form, schema: &Schema, projection: &[usize]) -> Self {
        let fields = schema.fields().iter().enumerate();
        let columns = fields.map(|(index, field)| Wanted::new(field.logical_type, projection.contains(&index)));
        Self { form, messages: Messages::default(), columns: Columns(columns.collect()) }
    }
}

impl FrameDecoder for ColumnsDecoder {
    fn decode(&mut self, bytes: &[u8], delivery: &mut Delivery<'_>) -> Result<u64, DecodeError> {
        let mut rest = bytes;
        let before = delivery.rows;
        while !rest.is_empty() {
            let at = bytes.len() - rest.len();
            let rows = delivery.rows - before;
            let wrong = |reason| Malformed::corrupt(at, rows, reason);
            let message = self.messages.next(self.form, &mut rest).map_err(|error| wrong(error.reason()))?;
            let entry = message.get_root::<entry::Reader<'_>>().and_then(|entry| match entry.which() {
                Ok(entry::Rows(rows)) => rows.map(Some),
                Ok(_) => Ok(None),
                Err(unknown) => Err(unknown.into()),
            });
            // Entries that are no rows are left over where another program wrote a file anew.
            let Some(message) = entry.map_err(|error| wrong(error.to_string()))? else { continue };
            let lists = self.columns.read(message).map_err(wrong)?;
            self.columns.deliver(message.get_rows() as usize, &lists, delivery, wrong)?;
        }
        Ok(delivery.rows - before)
    }
}

impl Columns {
    /// The lists of a message, each of which is as long as it has rows, and their strings.
    fn read<'m>(&mut self, message: rows::Reader<'m>) -> Result<Vec<Lists<'m>>, Reason> {
        let columns = message.get_columns().map_err(|error| error.to_string())?;
        if columns.len() as usize != self.0.len() {
            return Err(format!("{} columns where {} should be", columns.len(), self.0.len()));
        }
        let mut lists = Vec::with_capacity(self.0.len());
        for (index, (wanted, column)) in self.0.iter_mut().zip(columns).enumerate() {
            let list = wanted.read(column).map_err(|error| format!("column {index}: {}", error.reason()))?;
            if list.len() != message.get_rows() {
                return Err(format!("column {index} has {} values for {} rows", list.len(), message.get_rows()));
            }
            lists.push(list);
        }
        Ok(lists)
    }

    fn deliver(
        &mut self,
        rows: usize,
        lists: &[Lists<'_>],
        delivery: &mut Delivery<'_>,
        wrong: impl Fn(Reason) -> Malformed,
    ) -> Result<(), DecodeError> {
        for start in (0..rows).step_by(BATCH_ROWS) {
            let batch = start..rows.min(start + BATCH_ROWS);
            for (index, (wanted, list)) in self.0.iter_mut().zip(lists).enumerate() {
                let prepared = wanted.prepare(list, batch.clone());
                prepared.map_err(|reason| wrong(format!("column {index}, row {start} or later: {reason}")))?;
            }
            let columns: Vec<_> =
                self.0.iter().zip(lists).map(|(wanted, list)| wanted.lend(list, batch.clone())).collect();
            delivery.batch(batch.len(), &columns)?;
        }
        Ok(())
    }
}

impl Wanted {
    fn new(logical_type: LogicalType, wanted: bool) -> Self {
        match logical_type.physical() {
            PhysicalType::Integers if wanted => Self::Numbers { widened: Vec::new() },
            PhysicalType::Integers => Self::SkippedNumbers,
            _ if wanted => Self::Text(Box::new(Text {
                interner: Interner::new(Level::best()),
                map: vec![0; NARROW_CODES],
                codes: Vec::with_capacity(BATCH_ROWS),
            })),
            _ => Self::SkippedText,
        }
    }

    /// Finds the list of a column, and takes over its strings if they are wanted.
    fn read<'m>(&mut self, column: column::Reader<'m>) -> Result<Lists<'m>, NoMessage> {
        let unknown = |_| NoMessage::Malformed("is of an unknown kind".to_owned());
        let list = match column.which().map_err(unknown)? {
            column::Text(text) => {
                let dictionary = text.get_dictionary().map_err(malformed)?;
                let strings = dictionary.len() as usize;
                if let Self::Text(text) = self {
                    text.take_over(dictionary).map_err(malformed)?;
                }
                match text.which().map_err(unknown)? {
                    column::text::Codes(codes) => Lists::Codes { strings, codes: codes.map_err(malformed)? },
                    column::text::WideCodes(codes) => Lists::WideCodes { strings, codes: codes.map_err(malformed)? },
                }
            }
            column::Int8(values) => Lists::I8(values.map_err(malformed)?),
            column::Int16(values) => Lists::I16(values.map_err(malformed)?),
            column::Int32(values) => Lists::I32(values.map_err(malformed)?),
            column::Int64(values) => Lists::I64(values.map_err(malformed)?),
        };
        let text = matches!(self, Self::Text(_) | Self::SkippedText);
        match (text, list.is_text()) {
            (true, false) => Err(NoMessage::Malformed("holds numbers where text should be".to_owned())),
            (false, true) => Err(NoMessage::Malformed("holds text where numbers should be".to_owned())),
            _ => Ok(list),
        }
    }

    /// Does what must be done with some rows before they can be lent.
    fn prepare(&mut self, list: &Lists<'_>, rows: Range<usize>) -> Result<(), Reason> {
        match (self, list) {
            (Self::Text(text), Lists::Codes { strings, codes }) => text.narrow(slice(codes, rows)?, *strings),
            (Self::Text(text), Lists::WideCodes { strings, codes }) => text.wide(slice(codes, rows)?, *strings),
            (Self::Numbers { widened }, Lists::I8(values)) => {
                widened.clear();
                widened.extend(slice(values, rows)?.iter().map(|&value| i16::from(value)));
                Ok(())
            }
            (Self::Numbers { .. }, Lists::I16(values)) => slice(values, rows).map(drop),
            (Self::Numbers { .. }, Lists::I32(values)) => slice(values, rows).map(drop),
            (Self::Numbers { .. }, Lists::I64(values)) => slice(values, rows).map(drop),
            _ => Ok(()),
        }
    }

    /// The rows that were prepared; none of a column that is skipped.
    fn lend<'b>(&'b self, list: &'b Lists<'_>, rows: Range<usize>) -> Column<'b> {
        Column::integers(match (self, list) {
            (Self::Text(text), _) => {
                return Column::codes(&text.codes, text.interner.dictionary());
            }
            (Self::Numbers { widened }, Lists::I8(_)) => Integers::I16(widened),
            (Self::Numbers { .. }, Lists::I16(values)) => Integers::I16(slice(values, rows).unwrap_or(&[])),
            (Self::Numbers { .. }, Lists::I32(values)) => Integers::I32(slice(values, rows).unwrap_or(&[])),
            (Self::Numbers { .. }, Lists::I64(values)) => Integers::I64(slice(values, rows).unwrap_or(&[])),
            _ => Integers::I64(&[]),
        })
    }
}

impl Text {
    /// Takes over the strings of a message.
    fn take_over(&mut self, dictionary: text_list::Reader<'_>) -> ::capnp::Result<()> {
        if self.map.len() < dictionary.len() as usize {
            self.map.resize(dictionary.len() as usize, 0);
        }
        for (code, string) in self.map.iter_mut().zip(dictionary) {
            *code = self.interner.intern(string?.as_bytes());
        }
        Ok(())
    }

    fn narrow(&mut self, codes: &[u16], strings: usize) -> Result<(), Reason> {
        check(codes.iter().copied().max().map(usize::from), strings)?;
        self.codes.clear();
        // As long as the codes there may be: so no code needs a check of its own.
        if let Some(map) = self.map.first_chunk::<NARROW_CODES>() {
            self.codes.extend(codes.iter().map(|&code| map[usize::from(code)]));
        }
        Ok(())
    }

    fn wide(&mut self, codes: &[u32], strings: usize) -> Result<(), Reason> {
        check(codes.iter().copied().max().map(|code| code as usize), strings)?;
        self.codes.clear();
        self.codes.extend(codes.iter().map(|&code| self.map[code as usize]));
        Ok(())
    }
}

/// The largest code must be that of a string.
fn check(largest: Option<usize>, strings: usize) -> Result<(), Reason> {
    match largest {
        Some(code) if code >= strings => Err(format!("code {code}, but the dictionary has {strings} strings")),
        _ => Ok(()),
    }
}

/// Some values of a list, where they lie.
fn slice<'b, T>(list: &'b primitive_list::Reader<'_, T>, rows: Range<usize>) -> Result<&'b [T], Reason>
where
    T: ::capnp::private::layout::PrimitiveElement,
{
    let slice = list.as_slice().and_then(|values| values.get(rows));
    slice.ok_or_else(|| "the values do not lie side by side".to_owned())
}

impl Lists<'_> {
    fn len(&self) -> u32 {
        match self {
            Self::Codes { codes, .. } => codes.len(),
            Self::WideCodes { codes, .. } => codes.len(),
            Self::I8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Codes { .. } | Self::WideCodes { .. })
    }
}
