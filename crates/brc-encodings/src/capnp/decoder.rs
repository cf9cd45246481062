//! Delivers the columns of messages as batches, borrowed where possible.

use super::messages::{Form, Messages, NoMessage, malformed};
use crate::delivery::Delivery;
use crate::frames::{DecodeError, FrameDecoder, Malformed};
use crate::table_capnp::{column, entry, rows};
use crate::text::BATCH_ROWS;
use ::capnp::{primitive_list, text_list};
use brc_core::{BitmapBuffer, Column, Data, Field, Integers, LogicalType, PhysicalType, Schema, Value, float32};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use std::ops::Range;

/// The number of 16-bit codes.
const NARROW_CODES: usize = 1 << 16;

/// Decodes messages for one worker.
pub(super) struct ColumnsDecoder {
    form: Form,
    messages: Messages,
    columns: Columns,
}

struct Columns(Vec<ColumnDecoder>);

/// A column of the schema, and the buffers to deliver it.
struct ColumnDecoder {
    logical_type: LogicalType,
    nullable: bool,
    buffers: ValueBuffers,
    /// The validity of the rows of a batch.
    validity: BitmapBuffer,
}

/// The values of a batch that cannot be borrowed from the message.
enum ValueBuffers {
    Strings(Box<CodeTranslator>),
    Numbers {
        /// Values of 8 bits or 1 bit, widened.
        widened: Vec<i16>,
        /// 128-bit values, joined from their halves.
        wide: Vec<i128>,
    },
    Floats {
        /// 32-bit values, widened.
        widened: Vec<f64>,
    },
    Skipped,
}

/// Translates the codes of a message to those of the worker.
struct CodeTranslator {
    interner: Interner,
    /// The worker's code for each of the message's; at least [`NARROW_CODES`] long.
    map: Vec<u32>,
    /// The codes of a batch.
    codes: Vec<u32>,
}

/// A column of a message.
struct ReadColumn<'m> {
    values: Lists<'m>,
    validity: Option<primitive_list::Reader<'m, bool>>,
}

/// The values of a column of a message.
enum Lists<'m> {
    Codes { strings: usize, codes: primitive_list::Reader<'m, u16> },
    WideCodes { strings: usize, codes: primitive_list::Reader<'m, u32> },
    Bools(primitive_list::Reader<'m, bool>),
    I8(primitive_list::Reader<'m, i8>),
    I16(primitive_list::Reader<'m, i16>),
    I32(primitive_list::Reader<'m, i32>),
    I64(primitive_list::Reader<'m, i64>),
    I128 { low: primitive_list::Reader<'m, u64>, high: primitive_list::Reader<'m, i64> },
    Floats(primitive_list::Reader<'m, f64>),
    ShortFloats(primitive_list::Reader<'m, f32>),
}

/// Why a column or a message is malformed.
type Reason = String;

impl ColumnsDecoder {
    pub(super) fn new(form: Form, schema: &Schema, projection: &[usize]) -> Self {
        let fields = schema.fields().iter().enumerate();
        let columns = fields.map(|(index, field)| ColumnDecoder::new(field, projection.contains(&index)));
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
            // If another program rewrote the file, entries other than rows remain.
            let Some(message) = entry.map_err(|error| wrong(error.to_string()))? else { continue };
            let lists = self.columns.read(message).map_err(wrong)?;
            self.columns.deliver(message.get_rows() as usize, &lists, delivery, wrong)?;
        }
        Ok(delivery.rows - before)
    }
}

impl Columns {
    /// The lists of a message, each with one value per row, and their strings.
    fn read<'m>(&mut self, message: rows::Reader<'m>) -> Result<Vec<ReadColumn<'m>>, Reason> {
        let columns = message.get_columns().map_err(|error| error.to_string())?;
        if columns.len() as usize != self.0.len() {
            return Err(format!("{} columns where {} should be", columns.len(), self.0.len()));
        }
        let mut lists = Vec::with_capacity(self.0.len());
        for (index, (decoder, column)) in self.0.iter_mut().zip(columns).enumerate() {
            let read = decoder.read(column).map_err(|error| format!("column {index}: {}", error.reason()))?;
            let lengths = [read.values.len(), read.validity.map_or(message.get_rows(), |validity| validity.len())];
            if let Some(length) = lengths.into_iter().find(|length| *length != message.get_rows()) {
                return Err(format!("column {index} has {length} values for {} rows", message.get_rows()));
            }
            lists.push(read);
        }
        Ok(lists)
    }

    fn deliver(
        &mut self,
        rows: usize,
        lists: &[ReadColumn<'_>],
        delivery: &mut Delivery<'_>,
        wrong: impl Fn(Reason) -> Malformed,
    ) -> Result<(), DecodeError> {
        for start in (0..rows).step_by(BATCH_ROWS) {
            let batch = start..rows.min(start + BATCH_ROWS);
            for (index, (decoder, list)) in self.0.iter_mut().zip(lists).enumerate() {
                let prepared = decoder.prepare(list, batch.clone());
                prepared.map_err(|reason| wrong(format!("column {index}, row {start} or later: {reason}")))?;
            }
            let columns: Vec<_> =
                self.0.iter().zip(lists).map(|(decoder, list)| decoder.as_column(list, batch.clone())).collect();
            delivery.batch(batch.len(), &columns)?;
        }
        Ok(())
    }
}

impl ColumnDecoder {
    fn new(field: &Field, wanted: bool) -> Self {
        let buffers = match field.logical_type.physical() {
            _ if !wanted => ValueBuffers::Skipped,
            PhysicalType::Integers => ValueBuffers::Numbers { widened: Vec::new(), wide: Vec::new() },
            PhysicalType::Floats => ValueBuffers::Floats { widened: Vec::new() },
            PhysicalType::Bytes => ValueBuffers::Strings(Box::new(CodeTranslator {
                interner: Interner::new(Level::best()),
                map: vec![0; NARROW_CODES],
                codes: Vec::with_capacity(BATCH_ROWS),
            })),
        };
        Self { logical_type: field.logical_type, nullable: field.nullable, buffers, validity: BitmapBuffer::default() }
    }

    /// Locates the lists of a column, and interns its strings if the column is projected.
    fn read<'m>(&mut self, column: column::Reader<'m>) -> Result<ReadColumn<'m>, NoMessage> {
        match column.which().map_err(unknown)? {
            column::Nullable(_) if !self.nullable => {
                Err(NoMessage::Malformed("holds nulls, which the column does not have".to_owned()))
            }
            column::Nullable(nullable) => {
                let validity = nullable.get_validity().map_err(malformed)?;
                let values = nullable.get_values().map_err(malformed)?;
                let values = self.read_values(values.which().map_err(unknown)?)?;
                Ok(ReadColumn { values, validity: Some(validity) })
            }
            values => Ok(ReadColumn { values: self.read_values(values)?, validity: None }),
        }
    }

    fn read_values<'m>(&mut self, values: column::WhichReader<'m>) -> Result<Lists<'m>, NoMessage> {
        let list = match values {
            column::Text(text) => {
                let dictionary = text.get_dictionary().map_err(malformed)?;
                let strings = dictionary.len() as usize;
                if let ValueBuffers::Strings(translator) = &mut self.buffers {
                    translator.intern(dictionary).map_err(malformed)?;
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
            column::Bools(values) => Lists::Bools(values.map_err(malformed)?),
            column::Int128(values) => {
                let (low, high) = (values.get_low().map_err(malformed)?, values.get_high().map_err(malformed)?);
                if low.len() != high.len() {
                    return Err(NoMessage::Malformed("has different numbers of low and high halves".to_owned()));
                }
                Lists::I128 { low, high }
            }
            column::Float32(values) => Lists::ShortFloats(values.map_err(malformed)?),
            column::Float64(_) if self.logical_type == LogicalType::Float32 => {
                return Err(NoMessage::Malformed("holds floats of 64 bits where those of 32 should be".to_owned()));
            }
            column::Float64(values) => Lists::Floats(values.map_err(malformed)?),
            column::Nullable(_) => return Err(NoMessage::Malformed("holds nulls twice".to_owned())),
        };
        let (expected, found) = (self.logical_type.physical(), list.physical());
        if expected != found {
            let (found, expected) = (plural(found), plural(expected));
            return Err(NoMessage::Malformed(format!("holds {found} where {expected} should be")));
        }
        Ok(list)
    }

    /// Prepares a range of rows for delivery.
    fn prepare(&mut self, column: &ReadColumn<'_>, rows: Range<usize>) -> Result<(), Reason> {
        if let ValueBuffers::Skipped = self.buffers {
            return Ok(());
        }
        self.validity.clear();
        if let Some(validity) = column.validity {
            (rows.start as u32..rows.end as u32).for_each(|row| self.validity.push(validity.get(row)));
        }
        match (&mut self.buffers, &column.values) {
            (ValueBuffers::Strings(translator), Lists::Codes { strings, codes }) => {
                translator.translate_narrow(slice(codes, rows.clone())?, *strings)
            }
            (ValueBuffers::Strings(translator), Lists::WideCodes { strings, codes }) => {
                translator.translate_wide(slice(codes, rows.clone())?, *strings)
            }
            (ValueBuffers::Numbers { widened, .. }, Lists::Bools(values)) => {
                widened.clear();
                widened.extend((rows.start as u32..rows.end as u32).map(|row| i16::from(values.get(row))));
                Ok(())
            }
            (ValueBuffers::Numbers { widened, .. }, Lists::I8(values)) => {
                widened.clear();
                widened.extend(slice(values, rows.clone())?.iter().map(|&value| i16::from(value)));
                Ok(())
            }
            (ValueBuffers::Numbers { .. }, Lists::I16(values)) => slice(values, rows.clone()).map(drop),
            (ValueBuffers::Numbers { .. }, Lists::I32(values)) => slice(values, rows.clone()).map(drop),
            (ValueBuffers::Numbers { .. }, Lists::I64(values)) => slice(values, rows.clone()).map(drop),
            (ValueBuffers::Numbers { wide, .. }, Lists::I128 { low, high }) => {
                let halves = slice(high, rows.clone())?.iter().zip(slice(low, rows.clone())?);
                wide.clear();
                wide.extend(halves.map(|(&high, &low)| i128::from(high) << 64 | i128::from(low)));
                Ok(())
            }
            (ValueBuffers::Floats { .. }, Lists::Floats(values)) => slice(values, rows.clone()).map(drop),
            (ValueBuffers::Floats { widened }, Lists::ShortFloats(values)) => {
                widened.clear();
                widened.extend(slice(values, rows.clone())?.iter().map(|&value| float32::widen(value)));
                Ok(())
            }
            _ => Ok(()),
        }?;
        self.check(&column.values, rows)
    }

    /// Valid integers must be within the bounds of their type.
    fn check(&self, list: &Lists<'_>, rows: Range<usize>) -> Result<(), Reason> {
        // Version 1 stores no precision of decimals, so that they may have a digit more.
        if crate::frames::has_any_64_bits(self.logical_type) && !matches!(list, Lists::I128 { .. }) {
            return Ok(());
        }
        let Data::Integers(values) = self.data(list, rows) else { return Ok(()) };
        let fits = |value: i128| Value::Integer(value).check(self.logical_type).is_ok();
        if values.bounds().is_none_or(|(least, largest)| fits(least) && fits(largest)) {
            return Ok(());
        }
        let validity = self.validity.bitmap();
        let strange = |row: &usize| validity.is_none_or(|validity| validity.get(*row)) && !fits(values.get(*row));
        match (0..values.len()).find(strange) {
            Some(row) => Err(format!("the integer {} is out of range for {}", values.get(row), self.logical_type)),
            None => Ok(()),
        }
    }

    /// The prepared rows; none for a skipped column.
    fn as_column<'b>(&'b self, column: &'b ReadColumn<'_>, rows: Range<usize>) -> Column<'b> {
        Column { data: self.data(&column.values, rows), validity: self.validity.bitmap() }
    }

    fn data<'b>(&'b self, list: &'b Lists<'_>, rows: Range<usize>) -> Data<'b> {
        Data::Integers(match (&self.buffers, list) {
            (ValueBuffers::Strings(translator), _) => {
                return Data::Codes { codes: &translator.codes, dictionary: translator.interner.dictionary() };
            }
            (ValueBuffers::Floats { .. }, Lists::Floats(values)) => {
                return Data::Floats(slice(values, rows).unwrap_or(&[]));
            }
            (ValueBuffers::Floats { widened }, Lists::ShortFloats(_)) => return Data::Floats(widened),
            (ValueBuffers::Numbers { widened, .. }, Lists::I8(_) | Lists::Bools(_)) => Integers::I16(widened),
            (ValueBuffers::Numbers { .. }, Lists::I16(values)) => Integers::I16(slice(values, rows).unwrap_or(&[])),
            (ValueBuffers::Numbers { .. }, Lists::I32(values)) => Integers::I32(slice(values, rows).unwrap_or(&[])),
            (ValueBuffers::Numbers { .. }, Lists::I64(values)) => Integers::I64(slice(values, rows).unwrap_or(&[])),
            (ValueBuffers::Numbers { wide, .. }, Lists::I128 { .. }) => Integers::I128(wide),
            _ => Integers::I64(&[]),
        })
    }
}

/// The plural noun for the values of a physical type.
fn plural(physical: PhysicalType) -> &'static str {
    match physical {
        PhysicalType::Integers => "numbers",
        PhysicalType::Floats => "floats",
        PhysicalType::Bytes => "text",
    }
}

impl CodeTranslator {
    /// Interns the strings of a message.
    fn intern(&mut self, dictionary: text_list::Reader<'_>) -> ::capnp::Result<()> {
        if self.map.len() < dictionary.len() as usize {
            self.map.resize(dictionary.len() as usize, 0);
        }
        for (code, string) in self.map.iter_mut().zip(dictionary) {
            *code = self.interner.intern(string?.as_bytes());
        }
        Ok(())
    }

    fn translate_narrow(&mut self, codes: &[u16], strings: usize) -> Result<(), Reason> {
        check(codes.iter().copied().max().map(usize::from), strings)?;
        self.codes.clear();
        // The map covers all possible codes, so no code needs its own check.
        if let Some(map) = self.map.first_chunk::<NARROW_CODES>() {
            self.codes.extend(codes.iter().map(|&code| map[usize::from(code)]));
        }
        Ok(())
    }

    fn translate_wide(&mut self, codes: &[u32], strings: usize) -> Result<(), Reason> {
        check(codes.iter().copied().max().map(|code| code as usize), strings)?;
        self.codes.clear();
        self.codes.extend(codes.iter().map(|&code| self.map[code as usize]));
        Ok(())
    }
}

/// Checks that the largest code has a string.
fn check(largest: Option<usize>, strings: usize) -> Result<(), Reason> {
    match largest {
        Some(code) if code >= strings => Err(format!("code {code}, but the dictionary has {strings} strings")),
        _ => Ok(()),
    }
}

fn unknown(_: ::capnp::NotInSchema) -> NoMessage {
    NoMessage::Malformed("is of an unknown kind".to_owned())
}

/// A range of values of a list, in place.
fn slice<'b, T>(list: &'b primitive_list::Reader<'_, T>, rows: Range<usize>) -> Result<&'b [T], Reason>
where
    T: ::capnp::private::layout::PrimitiveElement,
{
    let slice = list.as_slice().and_then(|values| values.get(rows));
    slice.ok_or_else(|| "the values are not contiguous".to_owned())
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
            Self::I128 { low, .. } => low.len(),
            Self::Bools(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::ShortFloats(values) => values.len(),
        }
    }

    fn physical(&self) -> PhysicalType {
        match self {
            Self::Codes { .. } | Self::WideCodes { .. } => PhysicalType::Bytes,
            Self::Bools(_) | Self::I8(_) | Self::I16(_) | Self::I32(_) | Self::I64(_) | Self::I128 { .. } => {
                PhysicalType::Integers
            }
            Self::Floats(_) | Self::ShortFloats(_) => PhysicalType::Floats,
        }
    }
}
