//! Columns of conjuncts are decoded first, others only where rows are left.

#![allow(clippy::unwrap_used)]

mod common;

use brc_core::{
    Batch, Comparison, Conjunct, LogicalType, Order, Predicate, PruneResult, ReadAt, Result, ScanOptions, Scanned,
    Sink, Table, Value, float_order,
};
use brc_testing::{Cell, all_types};
use buren::Reader;
use common::{holds, matching, open, options, random_table, write};
use parking_lot::Mutex;
use proptest::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A remote file that counts how often each byte is fetched. Fetched bytes are cached until they are forgotten.
struct Remote {
    bytes: Vec<u8>,
    fetches: Arc<Mutex<Vec<u32>>>,
    held: Mutex<Vec<bool>>,
}

impl ReadAt for Remote {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let start = self.bytes.len().min(offset as usize);
        let end = self.bytes.len().min(start + buffer.len());
        buffer[..end - start].copy_from_slice(&self.bytes[start..end]);
        let (mut fetches, mut held) = (self.fetches.lock(), self.held.lock());
        for place in start..end {
            fetches[place] += u32::from(!std::mem::replace(&mut held[place], true));
        }
        Ok(end - start)
    }

    fn forget(&self, range: Range<u64>) {
        self.held.lock()[range.start as usize..range.end as usize].fill(false);
    }

    fn length(&self) -> std::io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn is_remote(&self) -> bool {
        true
    }
}

/// A remote file with these bytes, and the counts of fetches per byte.
fn open_remote(bytes: &[u8]) -> (Reader, Arc<Mutex<Vec<u32>>>) {
    let fetches = Arc::new(Mutex::new(vec![0; bytes.len()]));
    let held = Mutex::new(vec![false; bytes.len()]);
    let remote = Remote { bytes: bytes.to_vec(), fetches: Arc::clone(&fetches), held };
    (Reader::open(remote, Path::new("t.buren")).unwrap(), fetches)
}

/// Tests rows with one predicate per conjunct, and collects those that satisfy all.
struct Tested<'a> {
    conjuncts: &'a [Predicate],
    options: &'a ScanOptions,
    /// Whether each column of matching rows is read.
    wanted: &'a [bool],
    /// The number of rows that a conjunct without columns rejects.
    rejected: usize,
    rows: Vec<Vec<Cell>>,
}

impl Tested<'_> {
    fn wanted_cells(&self, batch: &Batch<'_>, row: usize) -> Vec<Cell> {
        let cell = |(column, is_wanted): (_, &bool)| {
            if *is_wanted { Cell::from(Value::of_row(column, row)) } else { Cell::Null }
        };
        batch.columns.iter().zip(self.wanted).map(cell).collect()
    }
}

fn cells(batch: &Batch<'_>, row: usize) -> Vec<Cell> {
    batch.columns.iter().map(|column| Cell::from(Value::of_row(column, row))).collect()
}

fn is_set(rows: &[u64], row: usize) -> bool {
    rows[row / 64] >> (row % 64) & 1 == 1
}

impl Sink for Tested<'_> {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let meets_all = |&row: &usize| {
            let cells = cells(batch, row);
            self.conjuncts.iter().all(|predicate| holds(predicate, &cells))
        };
        let found: Vec<_> = (0..batch.rows).filter(meets_all).collect();
        let rejected = self.rejected.min(found.len());
        self.rejected -= rejected;
        let wanted: Vec<_> = found[rejected..].iter().map(|&row| self.wanted_cells(batch, row)).collect();
        self.rows.extend(wanted);
        Ok(())
    }

    fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        assert!((0..rows.len() * 64).any(|row| is_set(rows, row)), "some rows are left");
        let Conjunct { columns, .. } = &self.options.conjuncts[conjunct];
        assert_eq!(columns.len(), batch.columns.len());
        for row in 0..batch.rows {
            let cells = cells(batch, row);
            let cell = |column| cells[columns.iter().position(|&its| its == column).unwrap()].statistics();
            let is_left_out = columns.is_empty() && self.rejected > 0 && is_set(rows, row);
            self.rejected -= usize::from(is_left_out);
            if is_left_out || self.conjuncts[conjunct].decide(&cell) != PruneResult::Always {
                rows[row / 64] &= !(1 << (row % 64));
            }
        }
        Ok(rows.iter().map(|word| word.count_ones() as usize).sum())
    }

    fn tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<()> {
        let is_left = |&row: &usize| rows.is_none_or(|rows| is_set(rows, row));
        let found: Vec<_> = (0..batch.rows).filter(is_left).map(|row| self.wanted_cells(batch, row)).collect();
        self.rows.extend(found);
        Ok(())
    }

    fn wants(&self, position: usize) -> bool {
        self.wanted[position]
    }
}

/// The rows of a table that satisfy all conjuncts, without the first `rejected` ones and with nulls in unwanted
/// columns; and the cost of the scan. The scan knows only the columns of conjuncts that are not `pushed_down`.
fn scan(
    table: &dyn Table,
    order: Order,
    conditions: &[(Predicate, bool)],
    wanted: &[bool],
    rejected: usize,
) -> (Vec<Vec<Cell>>, Vec<Scanned>) {
    let everything = ScanOptions::everything(table.schema());
    scan_by(table, ScanOptions { order, ..everything }, conditions, wanted, rejected)
}

/// Like `scan`, with a projection.
fn scan_by(
    table: &dyn Table,
    request: ScanOptions,
    conditions: &[(Predicate, bool)],
    wanted: &[bool],
    rejected: usize,
) -> (Vec<Vec<Cell>>, Vec<Scanned>) {
    let conjuncts: Vec<Predicate> = conditions.iter().map(|(predicate, _)| predicate.clone()).collect();
    let pushed_down: Vec<Predicate> =
        conditions.iter().filter(|it| it.1).map(|(predicate, _)| predicate.clone()).collect();
    let conjunct = |(predicate, is_pushed_down): &(Predicate, bool)| {
        let mut columns = Vec::new();
        predicate.columns(&mut columns);
        Conjunct { columns, predicate: is_pushed_down.then(|| predicate.clone()) }
    };
    let options = ScanOptions {
        predicate: (!pushed_down.is_empty()).then_some(Predicate::And(pushed_down)),
        conjuncts: conditions.iter().map(conjunct).collect(),
        ..request
    };
    let mut tested = Tested { conjuncts: &conjuncts, options: &options, wanted, rejected, rows: Vec::new() };
    let mut scanner = table.scanner(&options).unwrap();
    let splits = (0..).map_while(|index| table.split(index));
    let scanned = splits.map(|split| scanner.scan(&split, &mut tested).unwrap().unwrap()).collect();
    (tested.rows, scanned)
}

/// Predicates that the value of a row satisfies: equal to it, or on one side of it.
fn condition(column: usize, cell: &Cell, is_narrow: bool) -> Predicate {
    match cell {
        Cell::Null => Predicate::IsNull { column },
        Cell::Integer(low) => {
            let high = if is_narrow { *low } else { i128::MAX };
            Predicate::Range { column, low: *low, high }
        }
        Cell::Float(bits) => {
            let high = float_order(f64::from_bits(*bits)).into();
            Predicate::Range { column, low: if is_narrow { high } else { i128::MIN }, high }
        }
        Cell::Bytes(value) => {
            let comparison = if is_narrow { Comparison::Equal } else { Comparison::LessOrEqual };
            Predicate::Compare { column, comparison, value: value.clone() }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn matching_rows_are_found(
        columns in prop::collection::vec(
            (prop::sample::select(all_types()), prop_oneof![0u64..4, Just(300)], prop::sample::select(vec![0, 20])), 2..5,
        ),
        rows in prop_oneof![1usize..3000, 5000usize..9000],
        seed: u64,
        part in 1usize..9000,
        key: bool,
        order in prop::sample::select(vec![Order::Any, Order::Original]),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<[bool; 4]>()), 0..4),
        wanted: [bool; 4],
        rejected in 0usize..100,
        is_remote: bool,
    ) {
        let table = random_table(&columns, rows, seed);
        let key = (key && columns[0].0 == LogicalType::String).then_some("c0");
        let bytes = write(&table, &[part], options("none", key), 0).unwrap();
        let (remote, fetches) = open_remote(&bytes);
        let reader = if is_remote { remote } else { open(&bytes).unwrap() };
        fetches.lock().fill(0);
        let pick = |(column, (pick, [is_narrow, negated, is_pushed_down, is_pair])): (usize, &(prop::sample::Index, [bool; 4]))| {
            let column = column % table.columns.len();
            let next = (column + 1) % table.columns.len();
            let one = condition(column, pick.get(&table.columns[column]), *is_narrow);
            let one = if *negated { Predicate::Not(Box::new(one)) } else { one };
            let other = || condition(next, pick.get(&table.columns[next]), *is_narrow);
            (if *is_pair { Predicate::Or(vec![one, other()]) } else { one }, *is_pushed_down)
        };
        let mut conditions: Vec<_> = picks.iter().enumerate().map(pick).collect();
        // Only the original order determines which rows are first.
        let rejected = if order == Order::Original { rejected } else { 0 };
        conditions.push((Predicate::Constant(true), false));
        let (mut found, scanned) = scan(&reader, order, &conditions, &wanted[..columns.len()], rejected);
        prop_assert!(fetches.lock().iter().all(|&fetches| fetches <= 1), "each byte comes once");
        prop_assert_eq!(scanned.iter().map(Scanned::all_rows).sum::<u64>(), rows as u64);
        let all = Predicate::And(conditions.into_iter().map(|(predicate, _)| predicate).collect());
        let mut expected = matching(&table.columns, &all);
        expected.drain(..rejected.min(expected.len()));
        for row in &mut expected {
            row.iter_mut().zip(wanted).filter(|it| !it.1).for_each(|(cell, _)| *cell = Cell::Null);
        }
        if order == Order::Any {
            found.sort();
            expected.sort();
        }
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn columns_of_blocks_without_rows_are_not_read() {
    let types = [(LogicalType::Int64, 300, 0), (LogicalType::Float64, 1 << 40, 0), (LogicalType::String, 300, 0)];
    let table = random_table(&types, 70_000, 1);
    let reader = open(&write(&table, &[], options("none", None), 0).unwrap()).unwrap();
    let bytes = |conditions: &[(Predicate, bool)]| {
        let (rows, scanned) = scan(&reader, Order::Any, conditions, &[true; 3], 0);
        (rows.len(), scanned[0].bytes)
    };
    let (all, of_all) = bytes(&[(Predicate::Constant(true), false)]);
    assert_eq!(all, 70_000);
    // Statistics would answer this, but are not allowed.
    let nothing = condition(0, &Cell::Integer(i128::MAX), true);
    let (none, of_first) = bytes(&[(nothing.clone(), false)]);
    assert_eq!(none, 0);
    assert!(of_first < of_all / 3, "{of_first} of {of_all}");
    let float = condition(1, &table.columns[1][66_000], true);
    assert_eq!(bytes(&[(nothing.clone(), false), (float.clone(), false)]), (0, of_first));
    assert!(bytes(&[(float, false), (nothing, false)]).1 > of_first);
}

/// Runs are not fetched if none is skipped and the key is not read.
#[test]
fn runs_of_remote_files_are_not_fetched_needlessly() {
    let types = [(LogicalType::String, 4, 0), (LogicalType::Int64, 300, 0), (LogicalType::Float64, 1 << 40, 0)];
    let table = random_table(&types, 70_000, 3);
    let bytes = write(&table, &[], options("none", Some("c0")), 0).unwrap();
    let (remote, fetches) = open_remote(&bytes);
    let readers = [open(&bytes).unwrap(), remote];
    let run = |projection: &[usize], narrow: bool| {
        readers.each_ref().map(|reader| {
            fetches.lock().fill(0);
            let everything = ScanOptions::everything(reader.schema());
            let request = ScanOptions { order: Order::Any, projection: projection.to_vec(), ..everything };
            let conditions = [(condition(1, &table.columns[1][7], narrow), true)];
            let (mut rows, _) = scan_by(reader, request, &conditions, &[true; 3], 0);
            rows.sort();
            assert!(!rows.is_empty() && rows[0].len() == projection.len());
            let fetches = fetches.lock();
            let fetched: Vec<_> = (0..fetches.len()).filter(|&place| fetches[place] > 0).collect();
            (rows, fetched.windows(2).map(|pair| pair[1] - pair[0]).max())
        })
    };
    for narrow in [false, true] {
        let [(here, _), (there, of_two)] = run(&[1, 2], narrow);
        assert_eq!(here, there);
        let [(here, _), (there, of_all)] = run(&[0, 1, 2], narrow);
        assert_eq!(here, there);
        // The order stream directly before the run lengths is not needed.
        assert!(of_two < Some(10_000) && of_all > Some(10_000), "{of_two:?} {of_all:?}");
    }
}

/// A column that is tested in stored order is not read again for restoring the original order.
#[test]
fn tested_columns_are_read_once() {
    let types = [(LogicalType::String, 4, 0), (LogicalType::Int64, 300, 20), (LogicalType::Float64, 1 << 40, 0)];
    let table = random_table(&types, 150_000, 4);
    let reader = open(&write(&table, &[], options("none", Some("c0")), 0).unwrap()).unwrap();
    let bytes = |conditions: &[Predicate]| {
        let conditions: Vec<_> = conditions.iter().map(|condition| (condition.clone(), true)).collect();
        let (rows, scanned) = scan(&reader, Order::Original, &conditions, &[true; 3], 0);
        (rows, scanned.iter().map(|scanned| scanned.bytes).sum::<u64>())
    };
    let (all, of_all) = bytes(&[Predicate::Constant(true)]);
    assert_eq!(all.len(), 150_000);
    let conditions = [condition(1, &table.columns[1][0], false), condition(2, &table.columns[2][0], false)];
    for conditions in [&conditions[..1], &conditions[1..]] {
        let (rows, of_rows) = bytes(conditions);
        assert_eq!(rows, matching(&table.columns, &conditions[0]));
        // Plus the run statistics.
        assert!(of_rows < of_all + 1000, "{of_rows} of {of_all}");
    }
    // If the first conjunct rejects whole batches, the column of the second has gaps.
    let (rows, _) = bytes(&conditions);
    assert_eq!(rows, matching(&table.columns, &Predicate::And(conditions.to_vec())));
}
