//! Puts the rows of a clustered row group back in their original order.
//!
//! The order stream has the key's code of each row, as rows lay originally. The next row with a code is the next of its run,
//! so one walk tells where each row lies, and every column is gathered from there.

use super::cluster::Places;
use super::column::{PIECE, ScanColumn};
use super::decoder::DecodedStrings;
use super::gathered::at;
use super::reader::Reader;
use crate::block::Cost;
use crate::place::Place;
use crate::v2::Malformed;
use crate::v2::integers::BLOCK_ROWS;
use crate::v2::strings::StringBuffer;
use brc_core::{Batch, BitmapBuffer, Column, Data, Dictionary, Integers, Result, Sink};

/// Delivers all rows of a clustered row group.
pub(super) fn deliver(
    reader: &Reader,
    index: usize,
    columns: &mut [ScanColumn<'_>],
    cost: &mut Cost,
    sink: &mut dyn Sink,
) -> Result<()> {
    let row_group = reader.row_group(index);
    let places = places(reader, index, cost)?;
    let read = |column: &mut ScanColumn<'_>| read(column, index, row_group.rows as usize, cost);
    let clustered = columns.iter_mut().map(read).collect::<Result<Vec<_>>>()?;
    let mut restored: Vec<_> = clustered.iter().map(|_| (Rows::default(), DecodedStrings::default())).collect();
    for places in places.chunks(PIECE) {
        for ((column, clustered), (rows, strings)) in columns.iter().zip(&clustered).zip(&mut restored) {
            let gathered = rows.gather(clustered, places, strings);
            let place = Place::Data { row_group: index, column: reader.footer.name(column.column), block: 0 };
            gathered.map_err(|reason| reader.corrupt(place, reason))?;
        }
        let lent = columns.iter().zip(&restored);
        let lent: Vec<_> = lent.map(|(column, (rows, strings))| rows.lend(strings, column.dictionary())).collect();
        sink.batch(&Batch { rows: places.len(), columns: &lent })?;
    }
    Ok(())
}

/// Where each row lies, in the original order.
fn places(reader: &Reader, index: usize, cost: &mut Cost) -> Result<Vec<u32>> {
    let (codes, mut next) = order_stream(reader, index, cost)?;
    Ok(codes.into_iter().map(|code| next.next(code)).collect())
}

/// The order stream, and where the first row of each run lies.
pub(super) fn order_stream(reader: &Reader, index: usize, cost: &mut Cost) -> Result<(Vec<i64>, Places)> {
    let rows = reader.row_group(index).rows as usize;
    let mut order = ScanColumn::new(reader, reader.column(reader.footer.order_streams())?);
    let all = read(&mut order, index, rows, cost)?;
    let codes: Vec<i64> = (0..rows).map(|row| all.integer(row)).collect();
    let runs = codes.iter().max().and_then(|&last| usize::try_from(last).ok()).map_or(0, |last| last + 1);
    let place = Place::Data { row_group: index, column: reader.footer.name(order.column), block: 0 };
    match Places::new(runs.min(codes.len()), &codes) {
        Some(places) => Ok((codes, places)),
        None => Err(reader.corrupt(place, "a code is that of no run")),
    }
}

/// All rows of a chunk, as they lie.
pub(super) fn read(column: &mut ScanColumn<'_>, row_group: usize, rows: usize, cost: &mut Cost) -> Result<Rows> {
    // Strings come in one form throughout if nobody expects to ask for them again.
    column.start(row_group, 0, cost)?;
    let mut all = Rows::default();
    for (number, first) in (0..rows).step_by(BLOCK_ROWS).enumerate() {
        let of_block = BLOCK_ROWS.min(rows - first);
        column.load(number, of_block, cost)?;
        for first in (0..of_block).step_by(PIECE) {
            let piece = first..of_block.min(first + PIECE);
            column.decode(piece.clone())?;
            all.append(&column.as_column(), piece.len());
        }
    }
    Ok(all)
}

/// Rows of a column.
#[derive(Default)]
pub(super) struct Rows {
    values: Values,
    validity: BitmapBuffer,
}

#[derive(Default)]
enum Values {
    /// No row came yet.
    #[default]
    Nothing,
    Integers(Vec<i64>),
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    /// Of the dictionary of the column that was scanned.
    Codes(Vec<u32>),
    Strings(StringBuffer),
}

impl Rows {
    /// Adds the rows of a batch of the same chunk.
    fn append(&mut self, column: &Column<'_>, rows: usize) {
        self.validity.extend(column.validity, rows);
        if let Values::Nothing = self.values {
            self.values = match column.data {
                Data::Integers(Integers::I128(_)) => Values::Wide(Vec::new()),
                Data::Integers(_) => Values::Integers(Vec::new()),
                Data::Floats(_) => Values::Floats(Vec::new()),
                Data::Bytes(_) => Values::Strings(StringBuffer::default()),
                Data::Codes { .. } | Data::Runs { .. } => Values::Codes(Vec::new()),
            };
        }
        match (&mut self.values, column.data) {
            (Values::Wide(values), Data::Integers(Integers::I128(new))) => values.extend_from_slice(new),
            (Values::Integers(values), Data::Integers(new)) => {
                values.extend((0..new.len()).map(|row| new.get(row) as i64));
            }
            (Values::Floats(values), Data::Floats(new)) => values.extend_from_slice(new),
            (Values::Strings(values), Data::Bytes(new)) => new.iter().for_each(|value| values.push(value)),
            (Values::Codes(values), Data::Codes { codes, .. }) => values.extend_from_slice(codes),
            _ => {}
        }
    }

    /// An integer of 64 bits.
    fn integer(&self, row: usize) -> i64 {
        if let Values::Integers(values) = &self.values { values[row] } else { 0 }
    }

    /// Whether two rows have the same value, or none.
    pub(super) fn are_equal(&self, one: usize, other: usize) -> bool {
        let is_valid = |row| self.validity.bitmap().is_none_or(|valid| valid.get(row));
        match (is_valid(one), is_valid(other)) {
            (true, true) => match &self.values {
                Values::Nothing => true,
                Values::Integers(values) => values[one] == values[other],
                Values::Wide(values) => values[one] == values[other],
                Values::Floats(values) => values[one].to_bits() == values[other].to_bits(),
                Values::Codes(codes) => codes[one] == codes[other],
                Values::Strings(values) => values.strings().get(one) == values.strings().get(other),
            },
            (one, other) => one == other,
        }
    }

    /// Replaces the rows by those at some places of others. Strings go to `strings`.
    fn gather(
        &mut self,
        from: &Self,
        places: &[u32],
        strings: &mut DecodedStrings,
    ) -> std::result::Result<(), Malformed> {
        self.validity.clear();
        match from.validity.bitmap() {
            Some(valid) => places.iter().for_each(|&place| self.validity.push(valid.get(place as usize))),
            None => self.validity.push_values(places.len()),
        }
        match &from.values {
            Values::Nothing => self.values = Values::Nothing,
            Values::Integers(values) => self.values = Values::Integers(at(values, places)),
            Values::Wide(values) => self.values = Values::Wide(at(values, places)),
            Values::Floats(values) => self.values = Values::Floats(at(values, places)),
            Values::Codes(codes) => self.values = Values::Codes(at(codes, places)),
            Values::Strings(values) => {
                let values = values.strings();
                strings.replace(places.iter().map(|&place| values.get(place as usize)))?;
                self.values = Values::Strings(StringBuffer::default());
            }
        }
        Ok(())
    }

    fn lend<'a>(&'a self, strings: &'a DecodedStrings, dictionary: &'a Dictionary) -> Column<'a> {
        let data = match &self.values {
            Values::Nothing => Data::Integers(Integers::I64(&[])),
            Values::Integers(values) => Data::Integers(Integers::I64(values)),
            Values::Wide(values) => Data::Integers(Integers::I128(values)),
            Values::Floats(values) => Data::Floats(values),
            Values::Codes(codes) => Data::Codes { codes, dictionary },
            Values::Strings(_) => strings.data(),
        };
        Column { data, validity: self.validity.bitmap() }
    }
}
