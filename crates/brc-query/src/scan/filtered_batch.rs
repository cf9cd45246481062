//! Batches in which few rows are wanted, reduced to these rows: all later work then costs as much as the rows that are
//! left.

use crate::values::error::BatchError;
use crate::values::selection::Selection;
use brc_core::{
    Batch, Bitmap, BitmapBuffer, Column, Data, Dictionary, IntegerBuffer, Integers, Run, StringBuffer, gather,
};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{compress_runs, row_numbers};

/// A batch is filtered if at most one in this many of its rows is wanted.
const MIN_ROWS_PER_WANTED: usize = 16;

/// Memory for the wanted rows of a batch, used again for the next.
#[derive(Debug, Default)]
pub(crate) struct FilteredBatch {
    columns: Vec<FilteredColumn>,
    rows: Vec<u32>,
    /// The values of unused columns.
    zeros: Vec<i8>,
}

/// The wanted rows of a column.
#[derive(Debug, Default)]
pub(crate) struct FilteredColumn {
    /// Whether the plan uses it.
    is_used: bool,
    integers: IntegerBuffer,
    floats: Vec<f64>,
    codes: Vec<u32>,
    runs: Vec<Run>,
    strings: StringBuffer,
    validity: BitmapBuffer,
}

impl FilteredBatch {
    /// For batches of this many columns, of which these are used.
    pub(crate) fn new(columns: usize, used: impl Iterator<Item = usize>) -> Self {
        let mut kept: Vec<FilteredColumn> = (0..columns).map(|_| FilteredColumn::default()).collect();
        used.filter(|&position| position < columns).for_each(|position| kept[position].is_used = true);
        Self { columns: kept, rows: Vec::new(), zeros: Vec::new() }
    }

    /// The columns of the wanted rows alone, if these are few.
    pub(crate) fn of<'a>(
        &'a mut self,
        level: Level,
        batch: &Batch<'a>,
        selection: Selection<'_>,
    ) -> Result<Option<Vec<Column<'a>>>, BatchError> {
        let Selection::Some(mask, wanted) = selection else { return Ok(None) };
        if wanted * MIN_ROWS_PER_WANTED > batch.rows {
            return Ok(None);
        }
        if batch.columns.len() != self.columns.len() {
            return Err(BatchError("a column is not there"));
        }
        let Self { columns, rows, zeros } = self;
        row_numbers(level, mask, rows);
        zeros.resize(zeros.len().max(wanted), 0);
        let zeros = &zeros[..wanted];
        let filtered = columns.iter_mut().zip(batch.columns).map(|(kept, column)| match kept.is_used {
            true => kept.take(level, column, mask, rows),
            false => Column::integers(Integers::I8(zeros)),
        });
        Ok(Some(filtered.collect()))
    }
}

impl FilteredColumn {
    fn take<'a>(&'a mut self, level: Level, column: &Column<'a>, mask: &[u64], rows: &[u32]) -> Column<'a> {
        if let Data::Runs { runs, dictionary } = column.data {
            compress_runs(level, runs, mask, &mut self.runs);
            let validity = gather_validity(column, rows, &mut self.validity);
            return Column { data: Data::Runs { runs: &self.runs, dictionary }, validity };
        }
        self.gather(column, rows)
    }

    /// These rows of a column, in ascending order. Strings that come as codes stay codes.
    ///
    /// # Panics
    /// If the column does not have them.
    pub(crate) fn gather<'a>(&'a mut self, column: &Column<'a>, rows: &[u32]) -> Column<'a> {
        let codes = |dictionary: &'a Dictionary, codes: &'a [u32]| Data::Codes { codes, dictionary };
        let data = match column.data {
            Data::Codes { codes: all, dictionary } => codes(dictionary, gather(all, rows, &mut self.codes)),
            Data::Runs { runs, dictionary } => codes(dictionary, gather_runs(runs, rows, &mut self.codes)),
            Data::Bytes(strings) => Data::Bytes(self.strings.gather(strings, rows)),
            Data::Floats(values) => Data::Floats(gather(values, rows, &mut self.floats)),
            Data::Integers(values) => Data::Integers(self.integers.gather(values, rows)),
        };
        Column { data, validity: gather_validity(column, rows, &mut self.validity) }
    }
}

fn gather_validity<'a>(column: &Column<'_>, rows: &[u32], kept: &'a mut BitmapBuffer) -> Option<Bitmap<'a>> {
    kept.clear();
    if let Some(validity) = column.validity.filter(|validity| validity.count_nulls() > 0) {
        rows.iter().for_each(|&row| kept.push(validity.get(row as usize)));
    }
    kept.bitmap()
}

/// The codes of rows, which ascend.
fn gather_runs<'a>(runs: &[Run], rows: &[u32], kept: &'a mut Vec<u32>) -> &'a [u32] {
    kept.clear();
    let (mut runs, mut code, mut end) = (runs.iter(), 0, 0);
    kept.extend(rows.iter().map(|&row| {
        while row >= end
            && let Some(run) = runs.next()
        {
            (code, end) = (run.code, end + run.rows);
        }
        code
    }));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{ByteStrings, Value};

    #[test]
    fn few_rows_are_those_of_a_batch_of_their_own() {
        let all: Vec<i32> = (0..200).collect();
        let codes: Vec<u32> = (0..200).map(|row| row % 3).collect();
        let runs = [Run { code: 2, rows: 150 }, Run { code: 0, rows: 50 }];
        let dictionary: Dictionary = ["a", "b", "c"].into_iter().collect();
        let offsets: Vec<i32> = (0..=200).map(|row| row / 2).collect();
        let bytes: Vec<u8> = (0..100).collect();
        let valid = Bitmap::new(&[0xf7; 25], 0, 200);
        let columns = [
            Column::integers(Integers::I32(&all)).with_validity(Some(valid)),
            Column::codes(&codes, &dictionary),
            Column::runs(&runs, &dictionary),
            Data::Bytes(ByteStrings::new(&offsets, &bytes)).into(),
            Column::integers(Integers::I32(&all)),
        ];
        let batch = Batch { rows: 200, columns: &columns };
        let wanted = [3, 64, 131, 199];
        let mut mask = vec![0u64; 4];
        wanted.iter().for_each(|row| mask[row / 64] |= 1 << (row % 64));
        let mut filtered = FilteredBatch::new(5, 0..4);
        let few = filtered.of(Level::best(), &batch, Selection::Some(&mask, 4)).unwrap().unwrap();
        for (few, all) in few.iter().zip(&columns).take(4) {
            let values = |column: &Column<'_>, rows: &mut dyn Iterator<Item = usize>| -> Vec<String> {
                rows.map(|row| format!("{:?}", Value::of_row(column, row))).collect()
            };
            assert_eq!(values(few, &mut (0..4)), values(all, &mut wanted.into_iter()));
            let (mut kept, rows) = (FilteredColumn::default(), wanted.map(|row| row as u32));
            assert_eq!(values(&kept.gather(all, &rows), &mut (0..4)), values(few, &mut (0..4)));
        }
        mask.fill(u64::MAX);
        assert!(filtered.of(Level::best(), &batch, Selection::Some(&mask, 199)).unwrap().is_none());
    }
}
