//! Types that turn out wider while a table is scanned.

use crate::{Expression, Query};
use brc_core::{
    Batch, BitmapBuffer, Column, Error, Field, Integers, Progress, ScanError, ScanOptions, Scanned, Schema, Sink,
    Split, Table, Value,
};
use brc_testing::FunctionTable;
use parking_lot::Mutex;
use std::sync::Arc;

const TYPES: [&str; 3] = ["x:int not null", "x:decimal(18,1) not null", "x:decimal(18,1)"];

/// Splits of one value each, in tenths, or null. The type of the only column, `x`, is inferred: it starts as an
/// integer. If `restless`, types are never settled.
fn inferred(tenths: &'static [Option<i64>], restless: bool) -> impl Table {
    let schemas = TYPES.map(|text| Arc::new(Schema::parse(text).unwrap()));
    let first = schemas[0].as_ref().clone();
    let now = Arc::new(Mutex::new(0));
    let inferred = {
        let (now, schemas) = (Arc::clone(&now), schemas.clone());
        move || Arc::clone(&schemas[*now.lock()])
    };
    let deliver = move |split: &Split, _: &ScanOptions, sink: &mut dyn Sink| {
        let value = tenths[split.index as usize];
        let needed = match value {
            Some(tenths) if tenths % 10 == 0 => 0,
            Some(_) => 1,
            None => 2,
        };
        let known = {
            let mut now = now.lock();
            if needed > *now {
                *now = needed;
                return Err(ScanError::Widened);
            }
            *now
        };
        if restless {
            return Err(Error::Widened.into());
        }
        sink.schema(&schemas[known])?;
        let values = [if known == 0 { value.unwrap_or(0) / 10 } else { value.unwrap_or(0) }];
        let mut validity = BitmapBuffer::default();
        validity.push(value.is_some());
        let column = Column::integers(Integers::I64(&values)).with_validity(validity.bitmap());
        sink.batch(&Batch { rows: 1, columns: &[column] })?;
        Ok(Some(Scanned { rows: 1, ..Scanned::default() }))
    };
    FunctionTable::new("inferred", first, tenths.len() as u64, deliver).with_inferred(inferred)
}

fn query() -> Query {
    let aggregates = Some(Expression::parse_list("sum(x),count(),count(x)").unwrap());
    Query { by: Some(Vec::new()), aggregates, ..Query::default() }
}

#[test]
fn a_table_is_asked_again_in_wider_types() {
    for threads in [1, 2, 5] {
        let table = inferred(&[Some(10), Some(20), Some(5), Some(30), None, Some(1)], false);
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
    let table = inferred(&[Some(10)], true);
    assert!(matches!(query().ask(&table, 2, &Progress::default()), Err(Error::Widened)));
}
