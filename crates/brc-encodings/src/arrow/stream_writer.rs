//! Writes Arrow's stream format: a schema and a sequence of record batches, which programs read from a pipe while it is
//! written.
//!
//! A dictionary must precede the first row with one of its codes. So string columns are dictionary-encoded only if the
//! whole dictionary is known in advance, and plain otherwise. Either way, parts are independent of each other.

use super::NAME;
use super::column_buffers::{bitmap_bytes, floats, integers};
use super::messages::{self, ColumnBuffers, padding};
use super::writer::{END, write_dictionary};
use crate::refused::Refused;
use crate::rows::foreign;
use arrow_buffer::ToByteSlice;
use brc_core::batch::codes_of;
use brc_core::{
    Batch, BatchWriter, Bitmap, BitmapBuffer, Column, Data, Dictionary, Error, Integers, LogicalType, Part,
    PartEncoder, PhysicalType, Result, Schema, Sink, StringBuffer, StringsTooLarge, UnsupportedReason,
};
use std::borrow::Cow;
use std::sync::Arc;

/// Rows per record batch: few enough to collect within the nearer caches.
const BATCH_ROWS: usize = 16 << 10;

/// The approximate maximum string bytes of a record batch: offsets have 31 bits.
const BATCH_BYTES: usize = 64 << 20;

/// The size in bytes from which a part is handed over before its end.
const LARGE_PART: usize = 16 << 20;

/// A writer of a stream of rows with these columns. A string column with a dictionary must always have its codes.
#[must_use]
pub fn arrow_stream(schema: &Schema, dictionaries: Vec<Option<Dictionary>>) -> Box<dyn BatchWriter> {
    let is_text = |dictionary: &Dictionary| dictionary.iter().all(|value| std::str::from_utf8(value).is_ok());
    let dictionaries = dictionaries.into_iter().chain(std::iter::repeat(None)).zip(schema.fields());
    let dictionaries = dictionaries.map(|(dictionary, field)| {
        let fits = |dictionary: &Dictionary| {
            field.logical_type == LogicalType::String
                && dictionary.value_bytes() <= i32::MAX as usize
                && is_text(dictionary)
        };
        dictionary.filter(fits)
    });
    Box::new(Writer { schema: Arc::new(schema.clone()), dictionaries: dictionaries.collect(), any: false })
}

struct Writer {
    schema: Arc<Schema>,
    /// The dictionaries of the dictionary-encoded columns.
    dictionaries: Vec<Option<Dictionary>>,
    /// Whether any row was written.
    any: bool,
}

impl Writer {
    /// The schema and the dictionaries.
    fn first(&self) -> Vec<u8> {
        let coded: Vec<bool> = self.dictionaries.iter().map(Option::is_some).collect();
        let mut first = messages::schema(&self.schema, &coded, messages::DECIMAL_BITS, 0, &[]);
        for (id, dictionary) in self.dictionaries.iter().flatten().enumerate() {
            write_dictionary(id, dictionary, None, &mut first);
        }
        first
    }
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        let columns = self.schema.fields().iter().zip(&self.dictionaries);
        let columns =
            columns.map(|(field, dictionary)| ColumnBuilder::new(field.logical_type, dictionary.clone())).collect();
        Box::new(Encoder {
            schema: Arc::clone(&self.schema),
            columns,
            rows_collected: 0,
            bytes: Vec::new(),
            most_bytes: 0,
            rows: 0,
            given: 0,
        })
    }

    /// The schema is written with the first rows: a result that cannot be expressed leaves no output.
    fn append(&mut self, part: &mut Part) -> Result<()> {
        if part.rows > 0 && !self.any {
            part.bytes.splice(0..0, self.first());
            self.any = true;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let first = if self.any { Vec::new() } else { self.first() };
        Ok([first, END.to_vec()].concat())
    }
}

/// Collects rows into record batches, for one worker.
struct Encoder {
    schema: Arc<Schema>,
    columns: Vec<ColumnBuilder>,
    /// The number of collected rows.
    rows_collected: usize,
    /// Complete messages, and the number of their rows.
    bytes: Vec<u8>,
    /// The size of the longest part so far in bytes.
    most_bytes: usize,
    rows: u64,
    /// The rows of the part that were handed over.
    given: u64,
}

/// The rows of a column of a record batch.
struct ColumnBuilder {
    logical_type: LogicalType,
    validity: BitmapBuffer,
    values: BuilderValues,
}

enum BuilderValues {
    /// The bytes of a buffer.
    Numbers(Vec<u8>),
    /// One byte per row: 0 or 1.
    Bools(Vec<i8>),
    Codes {
        codes: Vec<u32>,
        dictionary: Dictionary,
    },
    Strings(StringBuffer),
}

impl Sink for Encoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        if batch.columns.len() != self.columns.len() {
            return Err(foreign());
        }
        for (rows_collected, column) in self.columns.iter_mut().zip(batch.columns) {
            rows_collected.push(column, batch.rows)?;
        }
        self.rows_collected += batch.rows;
        let strings: usize = self.columns.iter().map(ColumnBuilder::string_bytes).sum();
        if self.rows_collected >= BATCH_ROWS || strings >= BATCH_BYTES { self.write() } else { Ok(()) }
    }
}

impl PartEncoder for Encoder {
    fn finish(&mut self) -> Result<Part> {
        self.write()?;
        self.given = 0;
        let (rows, bytes) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.bytes));
        self.most_bytes = self.most_bytes.max(bytes.len());
        Ok(Part { rows, bytes, cuts: Vec::new(), meta: Box::new(()), meta_bytes: 0 })
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        if self.bytes.len() < LARGE_PART {
            return Ok(None);
        }
        self.given += self.rows;
        let (rows, bytes) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.bytes));
        Ok(Some(Part { rows, bytes, cuts: Vec::new(), meta: Box::new(()), meta_bytes: 0 }))
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}

impl Encoder {
    /// Writes a record batch with the collected rows.
    fn write(&mut self) -> Result<()> {
        if self.rows_collected == 0 {
            return Ok(());
        }
        let refused = self.columns.iter().enumerate().filter_map(|(index, column)| column.refused(index));
        if let Some(refused) = Refused::first(refused) {
            return Err(refused.into_error(self.given + self.rows, NAME, &self.schema));
        }
        let buffers = self.columns.iter().map(ColumnBuilder::buffers).collect::<Result<Vec<_>>>()?;
        let mut end = 0;
        let mut range = |buffer: &Cow<'_, [u8]>| {
            let start = end;
            end += buffer.len() + padding(buffer.len());
            start..start + buffer.len()
        };
        let column_buffers = |(column, buffers): (&ColumnBuilder, &[Cow<'_, [u8]>; 3])| ColumnBuffers {
            nulls: column.validity.nulls(),
            buffers: buffers[..column.count()].iter().map(&mut range).collect(),
        };
        let column_buffers: Vec<_> = self.columns.iter().zip(&buffers).map(column_buffers).collect();
        let message = messages::batch(self.rows_collected, &column_buffers, None, &[]);
        let more = message.len() + end;
        // The next part is probably as long: growing step by step would copy it several times.
        self.bytes.reserve(if self.bytes.is_empty() { more.max(self.most_bytes) } else { more });
        self.bytes.extend_from_slice(&message);
        for buffer in buffers.iter().flatten() {
            self.bytes.extend_from_slice(buffer);
            self.bytes.resize(self.bytes.len() + padding(buffer.len()), 0);
        }
        self.columns.iter_mut().for_each(ColumnBuilder::clear);
        self.rows += std::mem::take(&mut self.rows_collected) as u64;
        Ok(())
    }
}

impl ColumnBuilder {
    fn new(logical_type: LogicalType, dictionary: Option<Dictionary>) -> Self {
        let values = match (logical_type.physical(), dictionary) {
            (_, Some(dictionary)) => BuilderValues::Codes { codes: Vec::new(), dictionary },
            (PhysicalType::Bytes, None) => BuilderValues::Strings(StringBuffer::default()),
            _ if logical_type == LogicalType::Bool => BuilderValues::Bools(Vec::new()),
            (PhysicalType::Integers | PhysicalType::Floats, None) => BuilderValues::Numbers(Vec::new()),
        };
        Self { logical_type, validity: BitmapBuffer::default(), values }
    }

    fn clear(&mut self) {
        self.validity.clear();
        match &mut self.values {
            BuilderValues::Numbers(bytes) => bytes.clear(),
            BuilderValues::Bools(values) => values.clear(),
            BuilderValues::Codes { codes, .. } => codes.clear(),
            BuilderValues::Strings(strings) => strings.clear(),
        }
    }

    fn string_bytes(&self) -> usize {
        if let BuilderValues::Strings(strings) = &self.values { strings.len_bytes() } else { 0 }
    }

    /// Appends the rows of a column. Values under nulls are ignored.
    fn push(&mut self, column: &Column<'_>, rows: usize) -> Result<()> {
        let validity = column.validity.filter(|validity| validity.count_nulls() > 0);
        let is_valid = |row: usize| validity.is_none_or(|validity| validity.get(row));
        match (&mut self.values, column.data) {
            (BuilderValues::Strings(own), Data::Bytes(strings)) => match validity {
                None => own.extend(strings),
                Some(_) => own.push_each(rows, |row, bytes| {
                    bytes.extend_from_slice(if is_valid(row) { strings.get(row) } else { b"" });
                }),
            }
            .map_err(too_large)?,
            (BuilderValues::Strings(own), Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }) => {
                let mut codes = Vec::new();
                codes_of(column, &mut codes);
                let is_known = |(row, &code): (usize, &u32)| (code as usize) < dictionary.len() || !is_valid(row);
                if !codes.iter().enumerate().all(is_known) {
                    return Err(foreign());
                }
                match validity {
                    None => own.push_each(rows, |row, bytes| dictionary.append(codes[row], bytes)),
                    Some(_) => own.push_each(rows, |row, bytes| {
                        if is_valid(row) {
                            dictionary.append(codes[row], bytes);
                        }
                    }),
                }
                .map_err(too_large)?;
            }
            (
                BuilderValues::Codes { codes: all, dictionary: known },
                Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. },
            ) if known == dictionary => {
                let first = all.len();
                codes_of(column, all);
                // The code of a null may be invalid.
                let of_rows = &mut all[first..];
                of_rows.iter_mut().enumerate().for_each(|(row, code)| *code *= u32::from(is_valid(row)));
                if of_rows.iter().fold(0, |most, &code| most.max(code)) as usize >= known.len().max(1) {
                    return Err(foreign());
                }
            }
            (BuilderValues::Bools(bools), Data::Integers(values)) => {
                bools.extend((0..rows).map(|row| i8::from(is_valid(row) && values.get(row) != 0)));
            }
            (BuilderValues::Numbers(bytes), Data::Integers(values)) => match validity {
                None => integers(self.logical_type, &values, bytes)?,
                Some(_) => {
                    let values: Vec<i128> =
                        (0..rows).map(|row| if is_valid(row) { values.get(row) } else { 0 }).collect();
                    integers(self.logical_type, &Integers::I128(&values), bytes)?;
                }
            },
            (BuilderValues::Numbers(bytes), Data::Floats(values)) if self.logical_type.is_float() => match validity {
                None => floats(self.logical_type, values, bytes),
                Some(_) => {
                    let value = |(row, &value): (usize, &f64)| if is_valid(row) { value } else { 0.0 };
                    let values: Vec<_> = values.iter().enumerate().map(value).collect();
                    floats(self.logical_type, &values, bytes);
                }
            },
            (
                BuilderValues::Strings(_)
                | BuilderValues::Codes { .. }
                | BuilderValues::Bools(_)
                | BuilderValues::Numbers(_),
                _,
            ) => {
                return Err(foreign());
            }
        }
        self.validity.extend(validity, rows);
        Ok(())
    }

    /// The first row whose string is not UTF-8.
    fn refused(&self, index: usize) -> Option<Refused> {
        let BuilderValues::Strings(strings) = &self.values else { return None };
        let strings = strings.as_strings();
        if self.logical_type == LogicalType::Binary || strings.span().is_ascii() {
            return None;
        }
        let row = strings.iter().position(|string| std::str::from_utf8(string).is_err())?;
        Some(Refused::value(row, index, strings.get(row), UnsupportedReason::NotUtf8))
    }

    /// The number of the format's buffers for such a column.
    fn count(&self) -> usize {
        if matches!(self.values, BuilderValues::Strings(_)) { 3 } else { 2 }
    }

    /// These buffers, padded with empty ones to three.
    fn buffers(&self) -> Result<[Cow<'_, [u8]>; 3]> {
        let bitmap = self.validity.bitmap();
        let validity: Vec<u8> = bitmap.iter().flat_map(Bitmap::words).flat_map(bitmap_bytes).collect();
        let (first, second): (Cow<'_, [u8]>, &[u8]) = match &self.values {
            BuilderValues::Numbers(bytes) => (bytes.into(), &[]),
            BuilderValues::Codes { codes, .. } => (codes.to_byte_slice().into(), &[]),
            BuilderValues::Strings(strings) => {
                let (offsets, bytes) = strings.as_strings().parts();
                (offsets.to_byte_slice().into(), bytes)
            }
            BuilderValues::Bools(values) => {
                let mut bits = Vec::new();
                integers(LogicalType::Bool, &Integers::I8(values), &mut bits)?;
                (bits.into(), &[])
            }
        };
        Ok([validity.into(), first, second.into()])
    }
}

fn too_large(_: StringsTooLarge) -> Error {
    Error::too_large(NAME, "some thousand strings have 2 GiB together")
}
