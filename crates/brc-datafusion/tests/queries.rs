//! Tests that random queries over random tables have the same results whether brc or DataFusion groups rows, and
//! whether brc or DataFusion filters them: from text and from buren, with one partition or several.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use brc_datafusion::{CLUSTER_OPTION, session};
use common::{Random, answer, convert, files, open, plan, question, set};
use std::sync::Arc;

#[test]
fn brc_and_datafusion_give_the_same_results() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut compared, mut by_brc, mut distributed) = (0, 0, 0);
    for rows in [2, 40, 3000] {
        for (number, path) in files(&mut random, directory.path(), rows).into_iter().enumerate() {
            let threads = [1, 2, 9][number];
            let context = session(threads);
            context.register_table("t", Arc::new(open(&path, threads))).unwrap();
            runtime.block_on(async {
                let rows = context.table("t").await.unwrap().cache().await.unwrap();
                context.register_table("twin", rows.into_view()).unwrap();
            });
            for _ in 0..60 {
                let question = question(&mut random);
                let ours = runtime.block_on(answer(&context, &question, true));
                by_brc += usize::from(runtime.block_on(plan(&context, &question)).contains("BrcAnswer"));
                runtime.block_on(set(&context, CLUSTER_OPTION, true));
                let of_parts = runtime.block_on(answer(&context, &question, true));
                distributed += usize::from(runtime.block_on(plan(&context, &question)).contains("aggregate=["));
                let by_rows = runtime.block_on(answer(&context, &question, false));
                runtime.block_on(set(&context, CLUSTER_OPTION, false));
                let theirs = runtime.block_on(answer(&context, &question, false));
                let (of_parts, by_rows) = (of_parts.map_err(drop), by_rows.map_err(drop));
                let of_one = theirs.clone().map_err(drop);
                assert_eq!(of_parts, of_one, "{rows} rows, {} in parts: {question}", path.display());
                assert_eq!(by_rows, of_one, "{rows} rows, {} in parts by rows: {question}", path.display());
                let twin = question.replace("from t", "from twin t");
                let of_twin = runtime.block_on(answer(&context, &twin, false));
                if ours.is_err() && theirs.is_err() && of_twin.is_err() {
                    continue;
                }
                assert_eq!(ours, theirs, "{} rows, {}: {question}", rows, path.display());
                assert_eq!(ours, of_twin, "{} rows, {}: {twin}", rows, path.display());
                compared += usize::from(ours.is_ok());
            }
        }
    }
    assert!(compared > 300 && by_brc > 150, "{by_brc} of {compared} answers are brc's");
    assert!(distributed > 100, "{distributed} of {compared} are combined");
}

#[test]
fn a_sum_out_of_range_is_an_error() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let decimal = "6".repeat(38);
    let tables = [("integers", i64::MAX.to_string()), ("decimals", decimal)].map(|(name, value)| {
        let files = directory.path().join(name);
        std::fs::create_dir(&files).unwrap();
        (0..2).for_each(|file| {
            std::fs::write(files.join(format!("{file}.csv")), format!("k,v\n{file},{value}\n")).unwrap()
        });
        files
    });
    for distributed in [false, true] {
        for files in &tables {
            let context = session(2);
            runtime.block_on(set(&context, CLUSTER_OPTION, distributed));
            context.register_table("t", Arc::new(open(files, 2))).unwrap();
            for question in [
                "select sum(v) from t",
                "select sum(v), count(distinct k) from t",
                "select k - k, sum(v) from t group by k - k having sum(v) > 0",
            ] {
                let error = runtime.block_on(answer(&context, question, true)).unwrap_err();
                let is_reported =
                    ["out of range", "too large", "Overflowing"].iter().any(|message| error.contains(message));
                assert!(is_reported, "distributed: {distributed}, {}: {question}: {error}", files.display());
            }
        }
    }
}

#[test]
fn each_row_is_in_one_partition() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let [csv, buren] = ["t.csv", "t.buren"].map(|name| directory.path().join(name));
    let rows: u64 = 60_000;
    let text: String = (0..rows).map(|row| format!("{row},{}\n", row % 7)).collect();
    std::fs::write(&csv, format!("id,k\n{text}")).unwrap();
    let (sum, some) = ((0..rows).sum::<u64>(), (3500..rows).filter(|row| row % 7 == 3).count());
    for row_group in ["64k", "150k", "16M"] {
        convert(&csv, &buren, &["--row-group", row_group, "--key", "none", "--force"]);
        for threads in [1, 2, 3, 5, 16] {
            let context = session(threads);
            context.register_table("t", Arc::new(open(&buren, threads))).unwrap();
            for (question, numbers) in [
                ("select count(*), count(distinct id), sum(id) from t", vec![rows, rows, sum]),
                ("select count(*), count(distinct id) from t where k = 3 and id >= 3500", vec![some as u64; 2]),
                ("select count(*) from (select id from t limit 4321)", vec![4321]),
                ("select count(*) from (select id from t where k = 1 limit 5000)", vec![5000]),
            ] {
                for distributed in [false, true] {
                    runtime.block_on(set(&context, CLUSTER_OPTION, distributed));
                    let lines = runtime.block_on(answer(&context, question, distributed)).unwrap();
                    let found: Vec<u64> =
                        lines.iter().flat_map(|line| line.split('|')).filter_map(|it| it.trim().parse().ok()).collect();
                    assert_eq!(
                        found, numbers,
                        "{row_group}, {threads} threads, distributed: {distributed}: {question}"
                    );
                }
            }
        }
    }
}

/// DataFusion would use an exact sum of a table also for a join with it.
#[test]
fn a_sum_of_a_join_is_not_that_of_a_file() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let [csv, buren] = ["t.csv", "t.buren"].map(|name| directory.path().join(name));
    let text: String = (0..1000).map(|row| format!("{row},{}\n", row % 7)).collect();
    std::fs::write(&csv, format!("id,k\n{text}")).unwrap();
    convert(&csv, &buren, &["--key", "none"]);
    let context = session(2);
    context.register_table("t", Arc::new(open(&buren, 2))).unwrap();
    let question = "select sum(a.id) as total from t a join t b on a.id = b.k";
    let lines = runtime.block_on(answer(&context, question, false)).unwrap();
    let expected = (0..1000).map(|row| row % 7).sum::<u64>().to_string();
    assert!(lines.iter().any(|line| line.contains(&expected)), "{lines:?}");
}
