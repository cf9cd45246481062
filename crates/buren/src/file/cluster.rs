//! Order-preserving clustering: rows of a row group are moved into runs of equal keys, which can be undone.
//!
//! The partition is stable: the rows of a run keep their order. So the run of each row in original order, the order
//! stream, suffices to restore that order.

use super::column_buffer::{BufferedValues, ColumnBuffer};
use super::options::are_long_runs;
use super::string_column::StringForm;
use crate::integer_buffer::{IntegerBuffer, lengths, scatter};
use crate::integer_slice::{IntegerSlice, for_widths};
use brc_core::Bitmap;
use brc_kernels::arithmetic::Integer;
use std::cell::OnceCell;

/// The stable partition of a row group's rows by key.
pub(super) struct Partition {
    codes: IntegerBuffer,
    /// The number of rows of each run.
    pub(super) lengths: Vec<u32>,
    /// The first row of each run.
    pub(super) firsts: Vec<u32>,
    /// The rows in clustered order, computed on demand.
    rows: OnceCell<Vec<u32>>,
}

impl Partition {
    /// Partitions by a key; `None` if its values cannot have codes, or its runs would be too short.
    pub(super) fn new(key: &mut ColumnBuffer) -> Option<Self> {
        let valid = key.validity.bitmap();
        match &mut key.values {
            BufferedValues::Integers(values) => Self::of_nullable(values.slice(), valid),
            BufferedValues::Strings(strings) => {
                let ranks = strings.ranks()?;
                match &strings.form {
                    StringForm::Codes { codes, .. } => Self::of_strings(codes.slice(), &ranks, valid),
                    StringForm::Each(_) => None,
                }
            }
            BufferedValues::Wide(values) => {
                let narrow =
                    |(row, &value): (usize, &i128)| if is_valid(valid, row) { i64::try_from(value) } else { Ok(0) };
                let values = values.iter().enumerate().map(narrow).collect::<Result<Vec<_>, _>>().ok()?;
                Self::of_nullable((&values).into(), valid)
            }
            BufferedValues::Nothing | BufferedValues::Floats(_) => None,
        }
    }

    /// Partitions by integers without nulls.
    pub(super) fn of_integers(values: &[i64]) -> Option<Self> {
        Self::of_nullable(values.into(), None)
    }

    /// Partitions by integers; `None` if there are so many distinct values that runs would be too short.
    fn of_nullable(values: IntegerSlice<'_>, valid: Option<Bitmap<'_>>) -> Option<Self> {
        let values = values.wide();
        let of_valid = values.iter().enumerate().filter(|(row, _)| is_valid(valid, *row));
        let mut distinct: Vec<i64> = of_valid.map(|(_, &value)| value).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let runs = distinct.len() + usize::from(valid.is_some());
        let rank = |(row, value): (usize, &i64)| match is_valid(valid, row) {
            true => distinct.partition_point(|known| known < value) as u32,
            false => distinct.len() as u32,
        };
        if !are_long_runs(values.len(), runs) {
            return None;
        }
        Self::of_codes(IntegerBuffer::of_codes(values.iter().enumerate().map(rank), runs as u32), runs)
    }

    /// Partitions by strings with these codes; `ranks` are the ranks of the codes' values.
    fn of_strings(codes: IntegerSlice<'_>, ranks: &[u32], valid: Option<Bitmap<'_>>) -> Option<Self> {
        if ranks.is_empty() {
            return None;
        }
        let runs = ranks.len() + usize::from(valid.is_some());
        if !are_long_runs(codes.len(), runs) {
            return None;
        }
        let Some(valid) = valid else {
            let (codes, lengths) = IntegerBuffer::ranked(codes, ranks, runs);
            return Self::of_runs(codes, lengths);
        };
        let null = ranks.len() as u32;
        let or_null = |(code, valid): (i64, bool)| if valid { ranks[code as usize] } else { null };
        let codes = for_widths!(codes, codes => {
            IntegerBuffer::of_codes(codes.iter().map(|code| code.wide()).zip(valid.iter()).map(or_null), null)
        });
        Self::of_codes(codes, runs)
    }

    /// `None` if a run has no rows.
    fn of_codes(codes: IntegerBuffer, runs: usize) -> Option<Self> {
        let lengths = for_widths!(codes.slice(), codes => lengths(codes, runs));
        Self::of_runs(codes, lengths)
    }

    /// Creates a partition from the run of each row and the runs' lengths.
    fn of_runs(codes: IntegerBuffer, lengths: Vec<u32>) -> Option<Self> {
        if lengths.contains(&0) {
            return None;
        }
        let firsts = for_widths!(codes.slice(), codes => firsts(codes, lengths.len()));
        Some(Self { codes, lengths, firsts, rows: OnceCell::new() })
    }

    /// The run of each row, in original order. Values ascend with their runs; nulls have the last run.
    pub(super) fn codes(&self) -> IntegerSlice<'_> {
        self.codes.slice()
    }

    /// The values in clustered order.
    pub(super) fn scatter<T: Copy + Default>(&self, values: &[T]) -> Vec<T> {
        let mut clustered = vec![T::default(); values.len()];
        self.scatter_to(values, &mut clustered);
        clustered
    }

    /// Replaces `clustered` with the integers in clustered order.
    pub(super) fn scatter_integers(&self, values: IntegerSlice<'_>, clustered: &mut IntegerBuffer) {
        for_widths!(values, values => self.scatter_to(values, clustered.room(values.len())));
    }

    fn scatter_to<T: Copy>(&self, values: &[T], clustered: &mut [T]) {
        let mut next = starts(&self.lengths);
        for_widths!(self.codes(), codes => scatter(values, codes, &mut next, clustered));
    }

    /// The rows in clustered order: first those of run 0, in their original order.
    pub(super) fn rows(&self) -> &[u32] {
        self.rows.get_or_init(|| self.scatter(&(0..self.codes().len() as u32).collect::<Vec<_>>()))
    }
}

/// The start of each run.
fn starts(lengths: &[u32]) -> Vec<u32> {
    let mut end = 0;
    let start = |length: &u32| {
        end += length;
        end - length
    };
    lengths.iter().map(start).collect()
}

/// The first row of each run. No run may be empty.
fn firsts(codes: &[impl Integer], runs: usize) -> Vec<u32> {
    const UNKNOWN: u32 = u32::MAX;
    let (mut firsts, mut unknown) = (vec![UNKNOWN; runs], runs);
    for (row, code) in (0..).zip(codes) {
        let first = &mut firsts[code.wide() as usize];
        if *first == UNKNOWN {
            *first = row;
            unknown -= 1;
            if unknown == 0 {
                break;
            }
        }
    }
    firsts
}

fn is_valid(valid: Option<Bitmap<'_>>, row: usize) -> bool {
    valid.is_none_or(|valid| valid.get(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::chunk_writer::ChunkWriter;
    use crate::file::encoder::PartMeta;
    use crate::{Key, Reader, Writer, WriterOptions};
    use brc_compress::Compressor;
    use brc_core::{Batch, BatchWriter, Column, Data, Dictionary, Error, Integers, Progress, Schema};
    use foldhash::fast::RandomState;
    use std::io::Write;
    use std::path::Path;

    fn partition(column: Column<'_>, rows: usize) -> Option<(Vec<u32>, Vec<u32>)> {
        let mut key = ColumnBuffer::new(&RandomState::default());
        key.append(&column, rows).unwrap();
        Partition::new(&mut key).map(|partition| {
            let codes = partition.codes().wide().iter().map(|&code| code as u32).collect();
            (codes, partition.rows().to_vec())
        })
    }

    #[test]
    fn values_ascend_and_nulls_come_last() {
        let dictionary: Dictionary = ["b", "c", "a"].into_iter().collect();
        let mut valid = brc_core::BitmapBuffer::default();
        let codes: Vec<u32> = (0..80).map(|row| row % 3).collect();
        (0..80).for_each(|row| valid.push(row != 1 && row != 4));
        let column = Column::codes(&codes, &dictionary).with_validity(valid.bitmap());
        let (found, rows) = partition(column, 80).unwrap();
        assert_eq!(found[..7], [1, 3, 0, 1, 3, 0, 1]);
        assert_eq!((rows[..2].to_vec(), rows[78..].to_vec()), (vec![2, 5], vec![1, 4]));

        let numbers: Vec<i64> = codes.iter().map(|&code| [5, i64::MAX, i64::MIN][code as usize]).collect();
        let column = Column::integers(Integers::I64(&numbers)).with_validity(valid.bitmap());
        assert_eq!(partition(column, 80).unwrap(), (found, rows));
    }

    #[test]
    fn keys_with_short_runs_are_refused() {
        let numbers: Vec<i64> = (0..160).map(|row| row % 11).collect();
        let column = Column::integers(Integers::I64(&numbers));
        assert_eq!(partition(column, 160), None);
        assert!(partition(Column::integers(Integers::I64(&numbers[..10])), 10).is_none());
        assert_eq!(partition(Column::from(Data::Floats(&[0.5; 160])), 160), None);
    }

    /// Clusters 64 rows by a key that alternates between 0 and 1, with these codes as the order stream.
    fn verify(codes: &[i64]) -> brc_core::Result<u64> {
        let schema = Schema::parse("key:int64 not null").unwrap();
        let key = Key::Column("key".to_owned());
        let options = WriterOptions { key, ..WriterOptions::new(Compressor::parse("none").unwrap()) };
        let mut writer = Writer::new(&schema, options.clone()).unwrap();
        let mut bytes = writer.start();
        let mut encoder = writer.encoder();
        let keys: Vec<i64> = (0..64).map(|row| row % 2).collect();
        encoder.batch(&Batch { rows: 64, columns: &[Column::integers(Integers::I64(&keys))] }).unwrap();
        let mut part = encoder.finish().unwrap();
        let meta = part.meta.downcast_mut::<PartMeta>().unwrap();
        let cluster = meta.cluster.as_mut().unwrap();
        part.bytes.truncate(cluster.order.offset as usize);
        let mut chunks = ChunkWriter::new(options.compression, &mut part.bytes);
        cluster.order = chunks.extra(codes.into()).unwrap();
        cluster.lengths = chunks.extra((&[32i64, 32]).into()).unwrap();
        writer.append(&mut part).unwrap();
        bytes.extend_from_slice(&part.bytes);
        bytes.extend(writer.finish().unwrap());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        Ok(Reader::open(file, Path::new("t.buren"))?.verify(1, &Progress::default())?.rows)
    }

    #[test]
    fn an_order_stream_that_contradicts_the_runs_is_corrupt() {
        let alternating = |row: i64| row % 2;
        assert_eq!(verify(&(0..64).map(alternating).collect::<Vec<_>>()).unwrap(), 64);
        for wrong in [
            |row: i64| i64::from(row > 40),
            |row: i64| row % 2 * 2,
            |row: i64| row % 2 + 1,
            |row: i64| row % 4,
            |_| 0,
            |row: i64| -(row % 2),
            |row: i64| row % 2 * 100,
        ] {
            let error = verify(&(0..64).map(wrong).collect::<Vec<_>>()).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        }
    }
}
