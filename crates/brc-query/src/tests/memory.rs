//! A table in memory that delivers its rows in every way that an encoding may.

use super::tested::hand_over;
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{
    Batch, Column, Dictionary, Integers, Known, LogicalType, Predicate, Result, Run, ScanError, ScanOptions, Scanned,
    Scanner, Schema, Sink, Split, Statistics, Summary, Table, Verdict,
};
use proptest::prelude::*;
use std::path::Path;

/// A row of `s:string,t:string,x:decimal(1),y y:int`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) s: Vec<u8>,
    pub(crate) t: Vec<u8>,
    pub(crate) x: i64,
    pub(crate) y: i64,
}

impl Record {
    pub(crate) fn schema() -> Schema {
        Schema::parse("s:string,t:string,x:decimal(1),y y:int").unwrap()
    }

    pub(crate) fn any() -> impl Strategy<Value = Self> {
        let text = || prop::sample::select(vec!["", "a", "b", "ab", "it's", "São", "ab\0", "abcdefgh", "abcdefghi"]);
        let x = prop_oneof![20 => -400i64..400, 2 => any::<i32>().prop_map(i64::from), 1 => any::<i64>()];
        let y = prop_oneof![20 => -3i64..3, 1 => Just(i64::MIN), 1 => Just(i64::MAX)];
        (text(), text(), x, y).prop_map(|(s, t, x, y)| Self { s: s.into(), t: t.into(), x, y })
    }

    fn text(&self, column: usize) -> &[u8] {
        if column == 0 { &self.s } else { &self.t }
    }

    fn number(&self, column: usize) -> i64 {
        if column == 2 { self.x } else { self.y }
    }
}

/// How rows are delivered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) rows_in_split: usize,
    pub(crate) rows_in_batch: usize,
    /// Whether strings come as runs.
    pub(crate) runs: bool,
    /// Whether each scanner knows all names from the beginning.
    pub(crate) known_names: bool,
}

#[derive(Debug)]
pub(crate) struct MemoryTable {
    pub(crate) schema: Schema,
    pub(crate) rows: Vec<Record>,
    pub(crate) manner: Manner,
}

impl Table for MemoryTable {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn reads_by_column(&self) -> bool {
        true
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows.len() as u64)
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        let start = index as usize * self.manner.rows_in_split;
        let end = (start + self.manner.rows_in_split).min(self.rows.len());
        (start < end).then_some(Split { index, start: start as u64, end: end as u64 })
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        self.split(split).map(|split| split.end - split.start)
    }

    fn known(&self, split: u64, column: usize) -> Known<'_> {
        match self.split(split).filter(|_| self.schema.fields()[column].logical_type != LogicalType::String) {
            Some(Split { start, end, .. }) => {
                let numbers = self.rows[start as usize..end as usize].iter().map(|row| row.number(column));
                Known::from(&numbers.collect::<Statistics>())
            }
            None => Known::NOTHING,
        }
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let mut dictionaries = [Dictionary::new(), Dictionary::new()];
        if self.manner.known_names {
            for row in &self.rows {
                code(&mut dictionaries[0], &row.s);
                code(&mut dictionaries[1], &row.t);
            }
        }
        Ok(Box::new(MemoryScanner { table: self, options: options.clone(), dictionaries }))
    }
}

struct MemoryScanner<'a> {
    table: &'a MemoryTable,
    options: ScanOptions,
    dictionaries: [Dictionary; 2],
}

fn code(dictionary: &mut Dictionary, name: &[u8]) -> u32 {
    let known = dictionary.iter().position(|known| known == name);
    known.map_or_else(|| dictionary.push(name), |code| code as u32)
}

enum OwnedSummary<'a> {
    Code(u32, &'a Dictionary),
    Numbers(Statistics),
}

impl OwnedSummary<'_> {
    fn sum(&self) -> i128 {
        match self {
            Self::Code(..) => 0,
            Self::Numbers(statistics) => statistics.sum,
        }
    }
}

enum Owned {
    Codes(Vec<u32>),
    Runs(Vec<Run>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
}

impl Scanner for MemoryScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let mut scanned = Scanned::default();
        let mut rows: Vec<&Record> = self.table.rows[split.start as usize..split.end as usize].iter().collect();
        if self.table.manner.runs {
            rows.sort_by(|one, other| (&one.s, &one.t).cmp(&(&other.s, &other.t)));
        }
        for rows in rows.chunks(self.table.manner.rows_in_batch) {
            if self.options.statistics {
                for rows in rows.chunk_by(|one, other| (&one.s, &one.t) == (&other.s, &other.t)) {
                    self.summary(rows, sink, &mut scanned)?;
                }
            } else {
                self.batch(rows, sink, &mut scanned)?;
            }
        }
        Ok(Some(scanned))
    }
}

impl MemoryScanner<'_> {
    fn is_text(&self, column: usize) -> bool {
        self.table.schema.fields()[column].logical_type == LogicalType::String
    }

    fn batch(&mut self, rows: &[&Record], sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<()> {
        scanned.rows += rows.len() as u64;
        let mut owned = Vec::new();
        for column in self.options.projection.clone() {
            owned.push(if self.is_text(column) {
                let dictionary = &mut self.dictionaries[column];
                let codes: Vec<u32> = rows.iter().map(|row| code(dictionary, row.text(column))).collect();
                match self.table.manner.runs {
                    false => Owned::Codes(codes),
                    true => Owned::Runs(
                        codes
                            .chunk_by(|one, other| one == other)
                            .map(|run| Run { code: run[0], rows: run.len() as u32 })
                            .collect(),
                    ),
                }
            } else {
                let numbers: Vec<i64> = rows.iter().map(|row| row.number(column)).collect();
                let narrow: Result<Vec<i16>, _> = numbers.iter().map(|&number| number.try_into()).collect();
                let middle: Result<Vec<i32>, _> = numbers.iter().map(|&number| number.try_into()).collect();
                match (narrow, middle) {
                    (Ok(narrow), _) => Owned::I16(narrow),
                    (_, Ok(middle)) => Owned::I32(middle),
                    _ => Owned::I64(numbers),
                }
            });
        }
        let lent = self.options.projection.iter().zip(&owned).map(|(&column, owned)| match owned {
            Owned::Codes(codes) => Column::codes(codes, &self.dictionaries[column]),
            Owned::Runs(runs) => Column::runs(runs, &self.dictionaries[column]),
            Owned::I16(values) => Column::integers(Integers::I16(values)),
            Owned::I32(values) => Column::integers(Integers::I32(values)),
            Owned::I64(values) => Column::integers(Integers::I64(values)),
        });
        let columns: Vec<_> = lent.collect();
        // A table that reports the row counts of its splits also lets rows be tested before decoding.
        let conjuncts: &[_] = if self.table.manner.known_names { &self.options.conjuncts } else { &[] };
        hand_over(&Batch { rows: rows.len(), columns: &columns }, &self.options.projection, conjuncts, sink)
    }

    /// Delivers rows of equal strings as cheaply as the predicate allows.
    fn summary(&mut self, rows: &[&Record], sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<()> {
        let numbers = |column: usize| -> Statistics { rows.iter().map(|row| row.number(column)).collect() };
        let predicate = self.options.predicate.clone().unwrap_or(Predicate::Constant(true));
        let verdict = predicate.decide(&|column| match self.is_text(column) {
            true => Known::string(rows[0].text(column)),
            false => Known::from(&numbers(column)),
        });
        match verdict {
            Verdict::Maybe => return self.batch(rows, sink, scanned),
            Verdict::Never => scanned.skipped_rows += rows.len() as u64,
            Verdict::Always => {
                scanned.summarised_rows += rows.len() as u64;
                let projection = self.options.projection.clone();
                let is_text: Vec<bool> = projection.iter().map(|&column| self.is_text(column)).collect();
                for (&column, is_text) in projection.iter().zip(&is_text) {
                    if *is_text {
                        code(&mut self.dictionaries[column], rows[0].text(column));
                    }
                }
                let columns = projection.iter().zip(is_text).map(|(&column, is_text)| match is_text {
                    true => {
                        let dictionary = &self.dictionaries[column];
                        let code = dictionary.iter().position(|name| name == rows[0].text(column)).unwrap();
                        OwnedSummary::Code(code as u32, dictionary)
                    }
                    false => OwnedSummary::Numbers(numbers(column)),
                });
                let owned: Vec<_> = columns.collect();
                let wide: Vec<_> = owned.iter().map(OwnedSummary::sum).collect();
                let narrow: Vec<_> = wide.iter().map(|&sum| sum as i64).collect();
                let columns = owned.iter().enumerate().map(|(column, owned)| match owned {
                    OwnedSummary::Code(code, dictionary) => {
                        ColumnSummary::Codes { codes: std::slice::from_ref(code), dictionary }
                    }
                    OwnedSummary::Numbers(Statistics { min, max, sum, .. }) => ColumnSummary::Numbers(Numbers {
                        min: std::slice::from_ref(min),
                        max: std::slice::from_ref(max),
                        sum: match i64::try_from(*sum) {
                            Ok(_) => Sums::Narrow(&narrow[column..=column]),
                            Err(_) => Sums::Wide(&wide[column..=column]),
                        },
                    }),
                });
                let columns: Vec<_> = columns.collect();
                sink.summary(&Summary { rows: &[rows.len() as u32], columns: &columns })?;
            }
        }
        Ok(())
    }
}
