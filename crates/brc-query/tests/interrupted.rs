//! Work after the scan ends when it is told to. The request is one of the process, so that no other test may run in it.

#![allow(clippy::unwrap_used)]

use brc_core::{Batch, Column, Error, Integers, Progress, ScanOptions, Scanned, Schema, Sink, Split, Table, interrupt};
use brc_kernels::memory::Allocator;
use brc_query::{Memory, Query};
use brc_testing::FunctionTable;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator::SYSTEM;

const ROWS: u64 = 2_000_000;

/// Numbers `a`, all of them equal, and `b` in no order.
fn numbers() -> impl Table {
    let b: Vec<i64> = (0..ROWS as i64).map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)).collect();
    let deliver = move |_: &Split, options: &ScanOptions, sink: &mut dyn Sink| {
        for b in b.chunks(1 << 14) {
            let a = vec![1; b.len()];
            let column = |&column: &usize| Column::integers(Integers::I64(if column == 0 { &a } else { b }));
            let columns: Vec<_> = options.projection.iter().map(column).collect();
            sink.batch(&Batch { rows: b.len(), columns: &columns })?;
        }
        Ok(Some(Scanned { rows: ROWS, ..Scanned::default() }))
    };
    let schema = Schema::parse("a:int64,b:int64").unwrap();
    FunctionTable::new("numbers", schema, 1, deliver).with_rows(Some(ROWS))
}

#[test]
fn work_after_the_scan_ends_when_it_is_told_to() {
    let table = numbers();
    let scarce = Memory { limit: 8 << 20, ..Memory::unlimited() };
    for (sql, memory) in [
        ("select a, b order by a, b", Memory::unlimited()),
        ("select b, count(*) group by b order by 2, 1", Memory::unlimited()),
        ("select a, b order by a, b", scarce),
        ("select count(distinct a), count(distinct b)", Memory::unlimited()),
        ("select b % 100000, median(b) group by 1", Memory::unlimited()),
        ("select mode(b)", Memory::unlimited()),
    ] {
        let query = Query::parse(sql).unwrap();
        let ask = || query.ask_within(&table, 1, &memory, &Progress::default()).map(drop);
        let start = Instant::now();
        ask().unwrap();
        let all = start.elapsed();
        for part in [3, 5, 7, 8] {
            let (failed, waited) = std::thread::scope(|scope| {
                let timer = scope.spawn(move || {
                    std::thread::sleep(all * part / 10);
                    interrupt::request();
                    Instant::now()
                });
                let failed = ask();
                let ended = Instant::now();
                (failed, ended.saturating_duration_since(timer.join().unwrap()))
            });
            interrupt::clear();
            // It is done where another time on a busy machine was shorter.
            assert!(matches!(failed, Err(Error::Interrupted) | Ok(())), "{sql}: {failed:?}");
            assert!(waited < Duration::from_millis(100).max(all / 8), "{sql} at {part}/10 of {all:?}: {waited:?}");
        }
    }
}
