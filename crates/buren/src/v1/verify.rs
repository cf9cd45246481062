//! Holds every byte and every invariant of a file against each other.
//!
//! Opening has checked the footer against itself and the file's size. Here every block is read, so every checksum is
//! tested, and whatever is stored twice in some form is compared: statistics with values, run lengths with the order
//! stream, cardinalities with codes, code maps with dictionaries.

use crate::block::{BlockBuffer, Cost};
use crate::integer_buffer::{IntegerSlice, for_widths};
use crate::place::Place;
use crate::reader::Verified;
use crate::run_statistics::Detail;
use crate::v1::footer::{Cluster, RowGroup};
use crate::v1::pieces::for_each_piece;
use crate::v1::reader::Reader;
use crate::v1::run_table::RunTable;
use crate::v1::scan_column::ScanColumn;
use crate::v1::selection::Span;
use brc_core::{Error, Progress, Result, ScanError, Statistics, run_workers};
use brc_kernels::arithmetic::Integer;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

impl Reader {
    /// Reads the whole file with up to `threads` threads and checks everything that can be checked.
    ///
    /// # Errors
    /// The first thing in the file that does not hold.
    pub(crate) fn verify(&self, threads: usize, progress: &Progress) -> Result<Verified> {
        let footer = self.footer();
        let columns = footer.schema.fields().len();
        for column in (0..columns).filter(|&column| footer.is_string(column)) {
            self.verify_dictionary(column)?;
        }
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<(usize, Error)>> = Mutex::default();
        let work = || {
            let mut verifier = Verifier::new(self);
            loop {
                let index = next.fetch_add(1, Relaxed);
                let Some(row_group) = footer.row_groups.get(index) else { return verifier.used };
                if let Err(error) = verifier.row_group(index, row_group) {
                    let mut first = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                        *first = Some((index, error));
                    }
                    next.store(footer.row_groups.len(), Relaxed);
                }
                progress.rows.fetch_add(u64::from(row_group.rows), Relaxed);
                progress.bytes.fetch_add(std::mem::take(&mut verifier.cost).bytes, Relaxed);
            }
        };
        let mut workers = run_workers(threads, work).into_iter();
        let mut used = workers.next().unwrap_or_default();
        workers.for_each(|more| merge(&mut used, &more));
        if let Some((_, error)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        for (column, used) in used.iter().enumerate() {
            if let Some(code) = used.iter().position(|used| !used) {
                let place = format!("dictionary of column '{}'", footer.name(column));
                return Err(Error::corrupt(self.source().path, place, format!("no row has value {code}")));
            }
        }
        let (row_groups, bytes) = (footer.row_groups.len() as u64, self.file_bytes());
        Ok(Verified { rows: footer.rows, row_groups, blocks: self.blocks(), bytes })
    }

    fn blocks(&self) -> u64 {
        let footer = self.footer();
        let of_chunks = |row_group: &RowGroup| {
            let of_chunk =
                |chunk: &crate::v1::footer::Chunk| chunk.blocks.len() + usize::from(chunk.statistics().is_none());
            row_group.chunks.iter().map(of_chunk).sum::<usize>() + usize::from(row_group.cluster.is_some())
        };
        let in_groups: usize = footer.row_groups.iter().map(of_chunks).sum();
        let in_dictionaries: usize = footer.dictionaries.iter().map(|dictionary| dictionary.blocks.len()).sum();
        (in_groups + in_dictionaries) as u64
    }

    fn verify_dictionary(&self, column: usize) -> Result<()> {
        let dictionary = self.dictionary(column)?;
        let ascending = dictionary.iter().zip(dictionary.iter().skip(1)).all(|(value, next)| value < next);
        if ascending {
            return Ok(());
        }
        let place = format!("dictionary of column '{}'", self.footer().name(column));
        Err(Error::corrupt(self.source().path, place, "its values are not in order, or not distinct"))
    }
}

/// For each column, which values of its dictionary some row has.
type Used = Vec<Vec<bool>>;

fn merge(used: &mut Used, more: &Used) {
    for (used, more) in used.iter_mut().flatten().zip(more.iter().flatten()) {
        *used |= more;
    }
}

/// Verifies row groups for one thread.
struct Verifier<'r> {
    reader: &'r Reader,
    used: Used,
    runs: RunTable,
    cost: Cost,
}

impl<'r> Verifier<'r> {
    fn new(reader: &'r Reader) -> Self {
        let dictionaries = &reader.footer().dictionaries;
        let used = dictionaries.iter().map(|dictionary| vec![false; dictionary.values as usize]).collect();
        Self { reader, used, runs: RunTable::new(dictionaries.len()), cost: Cost::default() }
    }

    fn row_group(&mut self, index: usize, row_group: &RowGroup) -> Result<()> {
        if let Some(cluster) = row_group.cluster {
            self.runs.want(Detail::All, 0..row_group.chunks.len());
            self.runs.load(self.reader, index, cluster, &mut self.cost)?;
            self.runs.number();
        }
        for column in 0..row_group.chunks.len() {
            if row_group.chunks[column].statistics().is_some() {
                self.numbers(index, column, row_group)?;
            } else {
                self.map(index, column)?;
                self.codes(index, column, row_group)?;
            }
        }
        Ok(())
    }

    /// No two codes of a chunk stand for the same value.
    fn map(&mut self, row_group: usize, column: usize) -> Result<()> {
        let mut map = Vec::new();
        self.reader.load_map(row_group, column, &mut BlockBuffer::default(), &mut map, &mut self.cost)?;
        for &code in &map {
            if let Some(used) = self.used[column].get_mut(code as usize) {
                *used = true;
            }
        }
        map.sort_unstable();
        let distinct = map.windows(2).all(|pair| pair[0] != pair[1]);
        let place = Place::Map { row_group, column: self.reader.footer().name(column) };
        if distinct { Ok(()) } else { Err(self.reader.corrupt(place, "two codes stand for the same value")) }
    }

    /// The statistics of a chunk, and of each of its runs, are those of its values.
    fn numbers(&mut self, index: usize, column: usize, row_group: &RowGroup) -> Result<()> {
        let runs = if row_group.cluster.is_some() { self.runs.rows.len() } else { 1 };
        let mut found = vec![Statistics::EMPTY; runs];
        let key = row_group.cluster.map(|cluster| cluster.key);
        self.pieces(index, column, key, row_group.rows, |values, runs| {
            let mut start = 0;
            for run in runs {
                let end = start + run.rows as usize;
                found[run.code as usize].merge(&values.slice(start..end).statistics());
                start = end;
            }
        })?;
        let mut all = Statistics::EMPTY;
        for (run, statistics) in found.iter().enumerate() {
            let told = || self.runs.statistics[column].of_runs(run..run + 1).get(0, self.runs.rows[run]);
            if row_group.cluster.is_some() && told() != *statistics {
                let reason = format!(
                    "the statistics of run {run}, column '{}', are not those of its values",
                    self.reader.footer().name(column)
                );
                return Err(self.reader.corrupt(Place::RunIndex { row_group: index }, reason));
            }
            all.merge(statistics);
        }
        if row_group.chunks[column].statistics() != Some(&all) {
            return Err(self.chunk_is_corrupt(index, column, "the statistics are not those of the values"));
        }
        Ok(())
    }

    /// All codes of a chunk occur, first in ascending order if the rows are in theirs; the cluster key's as often as
    /// their runs have rows.
    fn codes(&mut self, index: usize, column: usize, row_group: &RowGroup) -> Result<()> {
        let key = row_group.cluster.map(|cluster: Cluster| cluster.key);
        let in_order = key.is_none_or(|key| key == column);
        let mut counts = vec![0u32; row_group.chunks[column].cardinality() as usize];
        let mut ascending = true;
        let mut known = 0;
        let walked = if in_order { None } else { key };
        self.pieces(index, column, walked, row_group.rows, |values, _| {
            for_widths!(values, values => for &code in values {
                let code = code.wide() as usize;
                ascending &= code <= known;
                known = known.max(code + 1);
                counts[code] += 1;
            });
        })?;
        if counts.contains(&0) || (in_order && !ascending) {
            return Err(self.chunk_is_corrupt(index, column, "its codes are not numbered by first appearance"));
        }
        if key == Some(column) && counts != self.runs.rows {
            return Err(self.chunk_is_corrupt(index, column, "the order stream does not fit the run index"));
        }
        Ok(())
    }

    fn chunk_is_corrupt(&self, row_group: usize, column: usize, reason: &str) -> Error {
        let place = format!("row group {row_group}, column '{}'", self.reader.footer().name(column));
        Error::corrupt(self.reader.source().path, place, reason)
    }

    /// Decodes a chunk. Codes are checked against the cardinality before they get here.
    fn pieces(
        &mut self,
        index: usize,
        column: usize,
        key: Option<usize>,
        rows: u32,
        mut on_piece: impl FnMut(IntegerSlice<'_>, &[brc_core::Run]),
    ) -> Result<()> {
        let mut column = ScanColumn::new(self.reader, column)?;
        column.start(index, &mut self.cost)?;
        let span = Span { first_run: 0, first_row: 0, rows };
        let columns = std::slice::from_mut(&mut column);
        let done = for_each_piece(
            self.reader,
            index,
            columns,
            key,
            &mut self.runs,
            span,
            &mut self.cost,
            |columns, runs, _| {
                columns.iter().for_each(|column| on_piece(column.values(), runs));
                Ok(())
            },
        );
        done.map_err(|error| match error {
            ScanError::Other(error) => error,
            ScanError::BadRow { fault, .. } => Error::Usage(fault.to_string()),
            ScanError::Widened => Error::Widened,
        })
    }
}
