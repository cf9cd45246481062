//! Types that turn out wider while a table is scanned.

use crate::{Expression, Query};
use brc_core::{
    Batch, BitmapBuffer, Column, Error, Field, Integers, Progress, Result, ScanError, ScanOptions, Scanned, Scanner,
    Schema, Sink, Split, Table, Value,
};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Splits of one value each, in tenths, or null. The type of the only column, `x`, is inferred: it starts as an
/// integer.
struct Inferred {
    first: Schema,
    now: Mutex<Arc<Schema>>,
    tenths: Vec<Option<i64>>,
    /// Whether types are never settled.
    restless: bool,
}

const TYPES: [&str; 3] = ["x:int not null", "x:decimal(18,1) not null", "x:decimal(18,1)"];

impl Inferred {
    fn new(tenths: &[Option<i64>], restless: bool) -> Self {
        let first = Schema::parse(TYPES[0]).unwrap();
        let now = Mutex::new(Arc::new(first.clone()));
        Self { first, now, tenths: tenths.to_vec(), restless }
    }
}

impl Table for Inferred {
    fn path(&self) -> &Path {
        Path::new("inferred")
    }

    fn schema(&self) -> &Schema {
        &self.first
    }

    fn inferred(&self) -> Option<Arc<Schema>> {
        Some(self.now.lock().unwrap().clone())
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        (index < self.tenths.len() as u64).then_some(Split { index, start: index, end: index + 1 })
    }

    fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(InferredScanner(self)))
    }
}

struct InferredScanner<'a>(&'a Inferred);

impl Scanner for InferredScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let value = self.0.tenths[split.index as usize];
        let needed = match value {
            Some(tenths) if tenths % 10 == 0 => 0,
            Some(_) => 1,
            None => 2,
        };
        let mut now = self.0.now.lock().unwrap();
        let known = TYPES.iter().position(|text| Schema::parse(text).unwrap() == **now).unwrap();
        if needed > known {
            *now = Arc::new(Schema::parse(TYPES[needed]).unwrap());
            return Err(ScanError::Widened);
        }
        if self.0.restless {
            return Err(Error::Widened.into());
        }
        let delivered = now.clone();
        drop(now);
        sink.schema(&delivered)?;
        let values = [if known == 0 { value.unwrap_or(0) / 10 } else { value.unwrap_or(0) }];
        let mut validity = BitmapBuffer::default();
        validity.push(value.is_some());
        let column = Column::integers(Integers::I64(&values)).with_validity(validity.bitmap());
        sink.batch(&Batch { rows: 1, columns: &[column] })?;
        Ok(Some(Scanned { rows: 1, ..Scanned::default() }))
    }
}

fn query() -> Query {
    let aggregates = Some(Expression::parse_list("sum(x),count(),count(x)").unwrap());
    Query { by: Some(Vec::new()), aggregates, ..Query::default() }
}

#[test]
fn a_table_is_asked_again_in_wider_types() {
    for threads in [1, 2, 5] {
        let table = Inferred::new(&[Some(10), Some(20), Some(5), Some(30), None, Some(1)], false);
        let (plan, answer) = query().ask(&table, threads, &Progress::default()).unwrap();
        assert_eq!(plan.schema(), &Schema::parse(TYPES[2]).unwrap());
        let text = |(value, column): (Option<Value<'_>>, &Field)| {
            value.map_or("null".to_owned(), |value| value.to_text(column.logical_type))
        };
        let texts = super::each_row(&answer, |row| row.zip(answer.schema().fields()).map(text).collect::<Vec<_>>());
        assert_eq!(texts, [["6.6", "6", "5"]]);
    }
}

#[test]
fn a_table_whose_types_do_not_widen_is_not_asked_for_ever() {
    let table = Inferred::new(&[Some(10)], true);
    assert!(matches!(query().ask(&table, 2, &Progress::default()), Err(Error::Widened)));
}
