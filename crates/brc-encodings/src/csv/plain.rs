//! Parses rows of a name and a number of one decimal with the kernels; exceptional rows with the general parser.

use super::Separated;
use super::row::Value;
use crate::text::{BATCH_ROWS, Piece, RowParser, TextDelivery, first_line};
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{Column, Dictionary, Integers, Result, ScanError, Sink, Statistics, Summary};
use brc_kernels::cpu::Level;
use brc_kernels::text::{Progress, RowReader, Window};

/// The maximum number of rows parsed one by one before the kernel is tried again.
const MAX_PATIENCE: usize = 1024;

pub(super) struct PlainRows {
    layout: Separated,
    reader: RowReader,
    /// Whether rows are added up per name, instead of delivered.
    aggregate: bool,
    codes: Vec<u32>,
    values: Vec<i16>,
}

impl RowParser for PlainRows {
    fn take(&mut self, piece: &Piece<'_>, delivery: &mut TextDelivery<'_>) -> Result<(), ScanError> {
        let mut window = piece.window;
        let bytes = window.text().len() as u64;
        // A text without any plain row must not cost a kernel call per row.
        let mut patience = 1;
        while !window.text().is_empty() {
            let progress = self.read(window, delivery);
            window.advance(progress.bytes);
            delivery.lines += progress.rows as u64;
            if progress.rows > 0 {
                patience = 1;
            } else {
                for _ in 0..patience {
                    let byte = piece.byte + bytes - window.text().len() as u64;
                    self.odd_row(&mut window, byte, delivery)?;
                }
                patience = (patience * 2).min(MAX_PATIENCE);
            }
            if self.codes.len() >= BATCH_ROWS {
                self.deliver(delivery)?;
            }
        }
        self.deliver(delivery)
    }

    fn finish(&mut self, sink: &mut dyn Sink) -> Result<()> {
        let statistics = self.reader.finish();
        let mut sets = Sets::default();
        for (code, statistics) in (0..).zip(&statistics) {
            sets.push(code, statistics);
        }
        sets.deliver(self.reader.dictionary(), sink)
    }

    fn deliver(&mut self, delivery: &mut TextDelivery<'_>) -> Result<(), ScanError> {
        let codes = Column::codes(&self.codes, self.reader.dictionary());
        let result = delivery.batch(self.codes.len(), &[codes, Column::integers(Integers::I16(&self.values))]);
        self.codes.clear();
        self.values.clear();
        result
    }
}

/// The aggregated rows.
#[derive(Default)]
struct Sets {
    codes: Vec<u32>,
    rows: Vec<u32>,
    min: Vec<i64>,
    max: Vec<i64>,
    sum: Vec<i128>,
}

impl Sets {
    /// Rows beyond a set's limit become further sets: the sums may be distributed among them in any way.
    fn push(&mut self, code: u32, statistics: &Statistics) {
        let (mut rows, mut sum) = (statistics.count, statistics.sum);
        while rows > 0 {
            let part = u32::try_from(rows).unwrap_or(u32::MAX);
            self.codes.push(code);
            self.rows.push(part);
            self.min.push(statistics.min);
            self.max.push(statistics.max);
            self.sum.push(std::mem::take(&mut sum));
            rows -= u64::from(part);
        }
    }

    fn deliver(&self, dictionary: &Dictionary, sink: &mut dyn Sink) -> Result<()> {
        if self.codes.is_empty() {
            return Ok(());
        }
        let numbers = Numbers { min: &self.min, max: &self.max, sum: Sums::Wide(&self.sum) };
        let columns = [ColumnSummary::Codes { codes: &self.codes, dictionary }, ColumnSummary::Numbers(numbers)];
        sink.summary(&Summary { rows: &self.rows, columns: &columns })
    }
}

impl PlainRows {
    pub(super) fn new(level: Level, layout: Separated, aggregate: bool) -> Self {
        let room = BATCH_ROWS + 2 * RowReader::MAX_ROWS;
        Self {
            layout,
            reader: RowReader::new(level, layout.delimiter),
            aggregate,
            codes: Vec::with_capacity(room),
            values: Vec::with_capacity(room),
        }
    }

    fn read(&mut self, window: Window<'_>, delivery: &mut TextDelivery<'_>) -> Progress {
        if !self.aggregate {
            return self.reader.read(window, &mut self.codes, &mut self.values);
        }
        let progress = self.reader.fold(window);
        delivery.aggregated(progress.rows);
        progress
    }

    fn odd_row(
        &mut self,
        window: &mut Window<'_>,
        byte: u64,
        delivery: &mut TextDelivery<'_>,
    ) -> Result<(), ScanError> {
        let text = window.text();
        if text.is_empty() {
            return Ok(());
        }
        let (line, length) = first_line(text);
        let mut values = Vec::with_capacity(2);
        match self.layout.parse(line, delivery.schema, &mut values) {
            Err(bad) => {
                delivery.bad_row(line, byte, bad)?;
            }
            Ok(()) => match values[..] {
                [Value::Text(name), Value::Number(number)] => self.good_row(name, number, delivery)?,
                _ => delivery.blank_lines += 1,
            },
        }
        delivery.lines += 1;
        window.advance(length);
        Ok(())
    }

    fn good_row(&mut self, name: &[u8], number: i64, delivery: &mut TextDelivery<'_>) -> Result<(), ScanError> {
        if self.aggregate {
            self.reader.fold_row(name, number);
            delivery.aggregated(1);
            return Ok(());
        }
        let code = self.reader.intern(name);
        if let Ok(value) = i16::try_from(number) {
            self.codes.push(code);
            self.values.push(value);
            return Ok(());
        }
        self.deliver(delivery)?;
        let codes = [code];
        let codes = Column::codes(&codes, self.reader.dictionary());
        delivery.batch(1, &[codes, Column::integers(Integers::I64(&[number]))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_are_several_sets() {
        let mut sets = Sets::default();
        sets.push(3, &Statistics::EMPTY);
        sets.push(5, &Statistics { count: 10_000_000_000, sum: -7, min: -3, max: 4 });
        assert_eq!(sets.codes, [5; 3]);
        assert_eq!(sets.rows.iter().map(|&rows| u64::from(rows)).sum::<u64>(), 10_000_000_000);
        assert_eq!((sets.sum.iter().sum::<i128>(), sets.min, sets.max), (-7, vec![-3; 3], vec![4; 3]));
    }
}
