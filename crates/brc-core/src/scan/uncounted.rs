//! Counts the rows and lines of splits that a scan does not read but that precede an error. Where several processes
//! scan some splits each, all of them report the same line of a bad row.

use super::{Progress, Worker, scan};
use crate::batch::Batch;
use crate::error::Result;
use crate::table::{ScanOptions, Scanned, Sink, Split, Table};
use std::collections::HashMap;

/// The numbers of rows and lines of each of these splits.
///
/// # Errors
/// Those of the scan. A malformed row found here precedes all others in the table.
pub(super) fn counts(
    splits: Vec<u64>,
    table: &dyn Table,
    options: &ScanOptions,
    threads: usize,
    progress: &Progress,
) -> Result<HashMap<u64, (u64, u64)>> {
    if splits.is_empty() || options.splits.is_none() {
        return Ok(HashMap::new());
    }
    let options = ScanOptions {
        predicate: None,
        conjuncts: Vec::new(),
        statistics: false,
        counts: false,
        sums: false,
        splits: Some(splits.into_iter().map_while(|index| table.split(index)).collect()),
        ..options.clone()
    };
    let counted = scan(table, &options, threads, progress, Counter::default)?;
    Ok(counted.into_iter().flat_map(|Counter(counts)| counts).collect())
}

/// A worker and sink that only counts the rows and lines of splits.
#[derive(Default)]
pub(crate) struct Counter(HashMap<u64, (u64, u64)>);

impl Worker for Counter {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, split: &Split, scanned: Scanned) -> Result<()> {
        self.0.insert(split.index, (scanned.all_rows(), scanned.all_lines()));
        Ok(())
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        Ok(())
    }
}

impl Sink for Counter {
    fn batch(&mut self, _: &Batch<'_>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, RowFault};
    use crate::schema::Schema;
    use crate::table::{ScanError, Scanner};
    use std::path::Path;

    /// Splits of two lines each; in the `bad` ones the second line is malformed.
    struct Lines {
        schema: Schema,
        bad: Vec<u64>,
    }

    impl Table for Lines {
        fn path(&self) -> &Path {
            Path::new("lines")
        }

        fn schema(&self) -> &Schema {
            &self.schema
        }

        fn rows(&self) -> Option<u64> {
            None
        }

        fn bytes(&self) -> Option<u64> {
            Some(0)
        }

        fn split(&self, index: u64) -> Option<Split> {
            (index < 9).then_some(Split { index, start: index, end: index + 1 })
        }

        fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
            Ok(Box::new(LinesScanner(&self.bad)))
        }
    }

    struct LinesScanner<'a>(&'a [u64]);

    impl Scanner for LinesScanner<'_> {
        fn scan(&mut self, split: &Split, _: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
            if self.0.contains(&split.index) {
                let fault = RowFault::Columns { found: 1, expected: 2 };
                return Err(ScanError::BadRow { line_in_split: 1, byte: 0, column: None, fault });
            }
            Ok(Some(Scanned { rows: 1, lines: Some(2), ..Scanned::default() }))
        }
    }

    #[test]
    fn error_lines_include_unscanned_splits() {
        let line = |bad: &[u64], splits: Option<&[u64]>| {
            let table = Lines { schema: Schema::parse("n:int").unwrap(), bad: bad.to_vec() };
            let splits = splits.map(|splits| splits.iter().filter_map(|&index| table.split(index)).collect());
            let options = ScanOptions { splits, ..ScanOptions::everything(&table.schema) };
            match scan(&table, &options, 3, &Progress::default(), Counter::default) {
                Err(Error::BadRow { place, .. }) => Some(place.line),
                outcome => outcome.map(|_| None).unwrap(),
            }
        };
        assert_eq!(line(&[7], None), Some(16));
        assert_eq!(line(&[7], Some(&[1, 4, 7])), Some(16));
        assert_eq!(line(&[7], Some(&[7, 8])), Some(16));
        // The first error in the table is reported, whichever splits are scanned.
        assert_eq!(line(&[3, 7], Some(&[1, 4, 7])), Some(8));
        assert_eq!(line(&[0, 3, 7], Some(&[7])), Some(2));
        assert_eq!(line(&[3], Some(&[1, 4, 7])), None);
    }
}
