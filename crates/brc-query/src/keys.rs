//! From the key columns of a batch to the numbers of groups.
//!
//! One string key needs no hashing: its codes are the groups. Without a key all rows are one group. Any other keys are
//! put together to tuples, which are numbered as they appear.

use crate::filter::Selection;
use crate::group::Malformed;
use crate::index::{TupleIndex, equal};
use brc_core::batch::codes_of;
use brc_core::table::ColumnSummary;
use brc_core::{Batch, Column, Data, Dictionary, Run, Summary};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{compress, compress_runs};

/// The keys of a scan: which groups there are.
#[derive(Debug)]
pub(crate) struct Keys {
    kind: Kind,
    /// The groups of a batch's rows or runs.
    rows: Vec<u32>,
    runs: Vec<Run>,
}

#[derive(Debug)]
enum Kind {
    None,
    Codes(Dictionary),
    Tuples(Tuples),
}

/// The groups that the wanted rows of a batch belong to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Members<'a> {
    /// A group for each row.
    Rows(&'a [u32]),
    /// A group for each run.
    Runs(&'a [Run]),
}

impl Keys {
    /// Keys are the first columns of each batch; `is_text` tells which of them are strings.
    pub(crate) fn new(is_text: &[bool]) -> Self {
        let kind = match is_text {
            [] => Kind::None,
            [true] => Kind::Codes(Dictionary::new()),
            _ => Kind::Tuples(Tuples::new(is_text)),
        };
        Self { kind, rows: Vec::new(), runs: Vec::new() }
    }

    /// The number of groups so far.
    pub(crate) fn groups(&self) -> usize {
        match &self.kind {
            Kind::None => 1,
            Kind::Codes(names) => names.len(),
            Kind::Tuples(tuples) => tuples.len(),
        }
    }

    /// The groups of the wanted rows of a batch, and how many groups there are with those that are new.
    pub(crate) fn members<'a>(
        &'a mut self,
        level: Level,
        batch: &Batch<'a>,
        selection: Selection<'_>,
    ) -> Result<(Members<'a>, usize), Malformed> {
        match &mut self.kind {
            Kind::None => {
                let rows = u32::try_from(selection.wanted(batch.rows)).map_err(|_| Malformed("it is too large"))?;
                self.runs.clear();
                self.runs.push(Run { code: 0, rows });
                Ok((Members::Runs(&self.runs), 1))
            }
            Kind::Codes(names) => {
                let column = batch.columns.first().ok_or(Malformed("a key is not there"))?;
                learn(names, column.dictionary().ok_or(Malformed("a key is not of strings"))?);
                let members = match (column.data, selection) {
                    (Data::Codes { codes, .. }, Selection::All) => Members::Rows(codes),
                    (Data::Codes { codes, .. }, Selection::Some(mask, _)) => {
                        compress(level, codes, mask, &mut self.rows);
                        Members::Rows(&self.rows)
                    }
                    (Data::Runs { runs, .. }, Selection::All) => Members::Runs(runs),
                    (Data::Runs { runs, .. }, Selection::Some(mask, _)) => {
                        compress_runs(level, runs, mask, &mut self.runs);
                        Members::Runs(&self.runs)
                    }
                    (Data::Bytes(_) | Data::Integers(_) | Data::Floats(_), _) => {
                        return Err(Malformed("a key is not of strings"));
                    }
                };
                Ok((members, names.len()))
            }
            Kind::Tuples(tuples) => {
                tuples.number(level, batch, selection, &mut self.rows)?;
                Ok((Members::Rows(&self.rows), tuples.len()))
            }
        }
    }

    /// The group of each set of rows of a summary, and how many groups there are with those that are new.
    pub(crate) fn members_of_summary<'a>(&'a mut self, summary: &Summary<'a>) -> Result<(&'a [u32], usize), Malformed> {
        match &mut self.kind {
            Kind::None => {
                self.rows.clear();
                self.rows.resize(summary.rows.len(), 0);
                Ok((&self.rows, 1))
            }
            Kind::Codes(names) => match summary.columns {
                [ColumnSummary::Codes { codes, dictionary }, ..] if codes.len() == summary.rows.len() => {
                    learn(names, dictionary);
                    Ok((codes, names.len()))
                }
                _ => Err(Malformed("a summary's key is not of strings, or too short")),
            },
            Kind::Tuples(tuples) => {
                tuples.number_summary(summary, &mut self.rows)?;
                Ok((&self.rows, tuples.len()))
            }
        }
    }

    /// The dictionaries of string keys, and all groups as tuples of one word for each key: a code, or the bits of a
    /// number.
    pub(crate) fn finish(self) -> (Vec<Option<Dictionary>>, Vec<u64>) {
        match self.kind {
            Kind::None => (Vec::new(), Vec::new()),
            Kind::Codes(names) => {
                let codes = (0..names.len() as u64).collect();
                (vec![Some(names)], codes)
            }
            Kind::Tuples(tuples) => (tuples.names, tuples.tuples),
        }
    }
}

/// Copies names that were not there yet: the scanner, to which `dictionary` belongs, does not outlive the scan.
fn learn(names: &mut Dictionary, dictionary: &Dictionary) {
    if names.is_empty() {
        names.clone_from(dictionary);
    }
    for code in names.len()..dictionary.len() {
        names.push(dictionary.get(code as u32));
    }
}

/// Several keys, or one of numbers.
#[derive(Debug)]
struct Tuples {
    names: Vec<Option<Dictionary>>,
    index: TupleIndex,
    tuples: Vec<u64>,
    /// The tuples of a batch's wanted rows.
    wanted: Vec<u64>,
    codes: Vec<u32>,
    kept: Vec<u32>,
    numbers: Vec<i64>,
    kept_numbers: Vec<i64>,
}

impl Tuples {
    fn new(is_text: &[bool]) -> Self {
        Self {
            names: is_text.iter().map(|is_text| is_text.then(Dictionary::new)).collect(),
            index: TupleIndex::default(),
            tuples: Vec::new(),
            wanted: Vec::new(),
            codes: Vec::new(),
            kept: Vec::new(),
            numbers: Vec::new(),
            kept_numbers: Vec::new(),
        }
    }

    fn len(&self) -> usize {
        self.tuples.len() / self.names.len()
    }

    fn number(
        &mut self,
        level: Level,
        batch: &Batch<'_>,
        selection: Selection<'_>,
        groups: &mut Vec<u32>,
    ) -> Result<(), Malformed> {
        let width = self.names.len();
        self.wanted.clear();
        self.wanted.resize(selection.wanted(batch.rows) * width, 0);
        for key in 0..width {
            let column = batch.columns.get(key).ok_or(Malformed("a key is not there"))?;
            self.gather(level, key, column, selection)?;
        }
        self.number_wanted(groups);
        Ok(())
    }

    /// Replaces `groups` by the numbers of the wanted tuples.
    fn number_wanted(&mut self, groups: &mut Vec<u32>) {
        groups.clear();
        let mut last: Option<(&[u64], u32)> = None;
        for tuple in self.wanted.chunks_exact(self.names.len()) {
            // Rows that belong together often lie together.
            let group = match last {
                Some((before, group)) if equal(before, tuple) => group,
                _ => self.index.number(tuple, &mut self.tuples),
            };
            last = Some((tuple, group));
            groups.push(group);
        }
    }

    /// Puts the wanted rows of one key into their tuples.
    fn gather(
        &mut self,
        level: Level,
        key: usize,
        column: &Column<'_>,
        selection: Selection<'_>,
    ) -> Result<(), Malformed> {
        let width = self.names.len();
        let places = self.wanted.iter_mut().skip(key).step_by(width);
        match (column.data, &mut self.names[key]) {
            (Data::Integers(values), None) => {
                self.numbers.clear();
                for row in 0..values.len() {
                    let value = i64::try_from(values.get(row)).map_err(|_| Malformed("a key does not fit 64 bits"))?;
                    self.numbers.push(value);
                }
                let numbers = kept(level, &self.numbers, selection, &mut self.kept_numbers);
                places.zip(numbers).for_each(|(place, &number)| *place = number as u64);
            }
            (Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }, Some(names)) => {
                learn(names, dictionary);
                self.codes.clear();
                codes_of(column, &mut self.codes);
                let codes = kept(level, &self.codes, selection, &mut self.kept);
                if codes.iter().any(|&code| code as usize >= names.len()) {
                    return Err(Malformed("a code is not in its dictionary"));
                }
                places.zip(codes).for_each(|(place, &code)| *place = code.into());
            }
            _ => return Err(Malformed("a key is of another type than its column")),
        }
        Ok(())
    }

    fn number_summary(&mut self, summary: &Summary<'_>, groups: &mut Vec<u32>) -> Result<(), Malformed> {
        let width = self.names.len();
        let keys = summary.columns.get(..width).ok_or(Malformed("a summary's key is not there"))?;
        self.wanted.clear();
        self.wanted.resize(summary.rows.len() * width, 0);
        for (key, (names, column)) in self.names.iter_mut().zip(keys).enumerate() {
            let (Some(names), ColumnSummary::Codes { codes, dictionary }) = (names, column) else {
                return Err(Malformed("a summary's key is not of strings"));
            };
            learn(names, dictionary);
            if codes.len() != summary.rows.len() || codes.iter().any(|&code| code as usize >= names.len()) {
                return Err(Malformed("a code is not in its dictionary, or there are too few"));
            }
            let places = self.wanted.iter_mut().skip(key).step_by(width);
            places.zip(*codes).for_each(|(place, &code)| *place = code.into());
        }
        self.number_wanted(groups);
        Ok(())
    }
}

fn kept<'a, T: brc_kernels::filter::Lane>(
    level: Level,
    all: &'a [T],
    selection: Selection<'_>,
    kept: &'a mut Vec<T>,
) -> &'a [T] {
    match selection {
        Selection::All => all,
        Selection::Some(mask, _) => {
            compress(level, all, mask, kept);
            kept
        }
    }
}
