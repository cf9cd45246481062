//! Tests of tables with more files than a process may have open at once.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

const FILES: usize = 150;

#[test]
fn more_files_than_may_be_open_are_one_table() {
    let place = Place::new();
    for file in 0..FILES {
        place.write(&format!("{file:03}.csv"), format!("x,s\n{file},a\n{},b\n", file * 2));
    }
    place.shell("gzip -k *.csv; for i in ???.csv; do $BRC convert $i ${i%.csv}.buren 2>/dev/null; done").ok();
    place.shell("for i in 0[0-7]?.csv; do $BRC convert $i ${i%.csv}.parquet 2>/dev/null; done").ok();
    place.shell("for i in 0[0-7]?.csv; do $BRC convert $i ${i%.csv}.arrow 2>/dev/null; done").ok();
    let few = "ulimit -n 64; $BRC";
    let sum = |files: usize| (0..files).map(|file| file * 3).sum::<usize>();
    for (files, count) in
        [("???.csv", FILES), ("*.csv.gz", FILES), ("*.buren", FILES), ("*.parquet", 80), ("*.arrow", 80)]
    {
        let question = "'select count(*) as n, sum(x) as s' --format csv";
        let expected = format!("n,s\n{},{}\n", count * 2, sum(count));
        assert_eq!(place.shell(&format!("{few} query {files} {question}")).text(), expected, "{files}");
        let rows = place.shell(&format!("{few} cat {files} --threads 3")).text();
        assert_eq!(rows.lines().count(), 1 + 2 * count);
        assert!(rows.starts_with("x,s\n0,a\n0,b\n1,a\n2,b\n"), "{rows}");
        place.shell(&format!("{few} convert {files} all.buren --force --file-name f")).ok();
        assert_eq!(
            place.run_of(&["query", "all.buren", "select count(distinct f) as n", "--format", "csv"]).text(),
            format!("n\n{count}\n")
        );
        place.shell("rm all.buren").ok();
        assert_eq!(place.shell(&format!("{few} head {files} -n 1 --format csv")).text(), "x,s\n0,a\n");
        assert!(place.shell(&format!("{few} schema {files}")).text().contains("x      int64"));
        assert_eq!(place.shell(&format!("{few} verify {files}")).text().lines().count(), count);
    }
    // More than the default limit, if the system allows raising it.
    let raised =
        place.shell("ulimit -S -n 64 && $BRC query ???.csv *.csv.gz *.buren 'select count(*) as n' --format csv");
    assert_eq!(raised.text(), format!("n\n{}\n", 6 * FILES));
}
