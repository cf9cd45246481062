//! The rows to write and read: each a name and a number.

use brc_core::{Batch, Data, Error, Progress, Result, ScanOptions, Scanned, Sink, Split, Statistics, Worker};
use brc_core::{Schema, batch, scan};
use brc_encodings::{Input, OpenOptions};
use hashbrown::HashMap;
use std::path::Path;

/// Names and the statistics of their numbers.
pub(crate) type Groups = HashMap<String, Statistics, foldhash::fast::RandomState>;

#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) names: brc_core::Dictionary,
    pub(crate) codes: Vec<u32>,
    pub(crate) values: Vec<i16>,
}

impl Rows {
    /// The first rows of a table of a name and a small number.
    pub(crate) fn load(path: &Path, max_rows: usize) -> Result<Self> {
        let input = Input::open(path)?;
        let encoding = brc_encodings::for_input(&input)?;
        let schema = Some(Schema::one_brc());
        let table = encoding.open(input, &OpenOptions { schema, ..OpenOptions::default() })?;
        let rows = parking_lot::Mutex::new(Self::default());
        let everything = ScanOptions::everything(table.schema());
        scan(table.as_ref(), &everything, 1, &Progress::default(), || Loader { rows: &rows, max_rows })?;
        let mut rows = rows.into_inner();
        rows.codes.truncate(max_rows);
        rows.values.truncate(max_rows);
        Ok(rows)
    }

    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The rows without dictionary codes, for a plain program.
    pub(crate) fn pairs(&self) -> Vec<(&str, i64)> {
        let name = |code: &u32| std::str::from_utf8(self.names.get(*code)).unwrap_or_default();
        self.codes.iter().map(name).zip(self.values.iter().map(|&value| value.into())).collect()
    }

    pub(crate) fn groups(&self) -> Groups {
        let mut groups = Groups::default();
        for (name, value) in self.pairs() {
            add(&mut groups, name, value);
        }
        groups
    }
}

/// Adds a row to its group.
#[inline]
pub(crate) fn add(groups: &mut Groups, name: &str, value: i64) {
    groups.entry_ref(name).or_default().add(value);
}

struct Loader<'a> {
    rows: &'a parking_lot::Mutex<Rows>,
    max_rows: usize,
}

impl Worker for Loader<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        Ok(())
    }
}

impl Sink for Loader<'_> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let strange = || Error::Usage("the table is not one of names and small numbers".to_owned());
        let [names, numbers] = batch.columns else { return Err(strange()) };
        let Data::Integers(values) = numbers.data else { return Err(strange()) };
        let mut rows = self.rows.lock();
        if rows.len() >= self.max_rows {
            return Ok(());
        }
        batch::codes_of(names, &mut rows.codes);
        rows.names = names.dictionary().ok_or_else(strange)?.clone();
        for row in 0..batch.rows {
            rows.values.push(values.get(row).try_into().map_err(|_| strange())?);
        }
        Ok(())
    }
}
