//! Rows of strings and numbers without nulls, as tables in memory.

use brc_core::Schema;
use brc_testing::{Cell, Delivery, MemoryTable, Typed};
use proptest::prelude::*;

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

    fn cells(self) -> Vec<Cell> {
        vec![Cell::Bytes(self.s), Cell::Bytes(self.t), self.x.into(), self.y.into()]
    }
}

pub(crate) fn table(rows: Vec<Record>, delivery: Delivery) -> MemoryTable<Typed> {
    let rows: Vec<_> = rows.into_iter().map(Record::cells).collect();
    MemoryTable::new(Typed::of_rows(Record::schema(), &rows), delivery)
}

/// Batches of one layout, of a table whose statistics are known.
pub(crate) const PLAIN: Delivery = Delivery {
    split_rows: 100,
    batch_rows: 100,
    seed: 0,
    is_uniform: true,
    in_runs: false,
    has_statistics: true,
    tests_rows: false,
    wild_nulls: false,
};

/// Any layouts and abilities of a table.
pub(crate) fn delivery() -> impl Strategy<Value = Delivery> {
    let abilities = any::<[bool; 4]>();
    (1usize..80, 1usize..200, any::<u64>(), prop::bool::weighted(0.3), abilities).prop_map(
        |(split_rows, batch_rows, seed, is_uniform, [in_runs, has_statistics, tests_rows, wild_nulls])| Delivery {
            split_rows,
            batch_rows,
            seed,
            is_uniform,
            in_runs,
            has_statistics,
            tests_rows,
            wild_nulls,
        },
    )
}
