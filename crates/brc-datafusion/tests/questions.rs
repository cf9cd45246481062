//! Random questions about random tables have the same answers whether brc groups the rows or DataFusion does, and whether brc
//! decides which rows meet conditions or DataFusion does: from text and from buren, read in one part or in several.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use brc_cli::embedding::{Convert, Files, Given};
use brc_core::Progress;
use brc_datafusion::{AGGREGATE_OPTION, FileTable, session};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::physical_plan::displayable;
use datafusion::prelude::SessionContext;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Numbers that look random, always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % end
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Rows with two keys, an integer, a decimal, a date, a float whose sums are exact, and a boolean; some are null.
fn table(random: &mut Random, rows: u64) -> String {
    let mut text = String::from("k,word,i,d,day,f,ok\n");
    for _ in 0..rows {
        let null = random.below(9);
        let word = ["ant", "bee", "it's", "Zebu", "ox, yak"][random.below(5) as usize];
        let mut fields = [
            random.below(4).to_string(),
            format!("\"{word}\""),
            (random.below(2001) as i64 - 1000).to_string(),
            format!("{}.{:02}", random.below(90), random.below(100)),
            format!("2024-{:02}-{:02}", 1 + random.below(12), 1 + random.below(28)),
            format!("{}e0", random.below(64) as f64 / 8.0),
            (random.below(2) == 0).to_string(),
        ];
        if let Some(field) = fields.get_mut(1 + null as usize) {
            field.clear();
        }
        writeln!(text, "{}", fields.join(",")).unwrap();
    }
    text
}

fn open(path: &Path, threads: usize) -> FileTable {
    let table = Files::from_words(&[path.as_os_str().to_owned()]).unwrap().open().unwrap();
    FileTable::new(table.into(), threads).unwrap()
}

fn convert(from: &Path, to: &Path, more: &[&str]) {
    let mut words: Vec<OsString> = more.iter().map(OsString::from).collect();
    words.extend([from.as_os_str().to_owned(), to.as_os_str().to_owned()]);
    Convert::from_words(&words).unwrap().run(Given::Nothing, &Progress::default()).unwrap();
}

/// A question, and whether brc groups its rows.
fn question(random: &mut Random) -> String {
    let keys = random.of(&[
        "",
        "k",
        "word",
        "k, word",
        "day",
        "ok, k",
        "word, k, ok",
        "extract(month from day)",
        "i + 1, k",
        "substr(word, 1, 2)",
        r"regexp_replace(word, '[aeiou](.)', '<\1>'), ok",
    ]);
    let aggregates = [
        "count(*)",
        "count(i)",
        "sum(i)",
        "min(i)",
        "max(i)",
        "avg(i)",
        "sum(d)",
        "avg(d)",
        "min(d)",
        "max(day)",
        "min(word)",
        "sum(i * 2)",
        "sum(d * (1 - d))",
        "sum(f)",
        "avg(f)",
        "count(distinct k)",
        "max(f)",
        "count(*) filter (where i > 0)",
        "sum(i) + 1",
        "min(ok)",
        "count(distinct word) filter (where i > 0)",
        "sum(d) filter (where ok)",
        "avg(i) filter (where d > 5)",
        "count(i) filter (where word like '%e%')",
        "avg(octet_length(word))",
        "max(substr(word, 2))",
        "count(distinct d)",
        "max(extract(day from day))",
    ];
    let mut items: Vec<String> = keys.split(", ").filter(|key| !key.is_empty()).map(str::to_owned).collect();
    for number in 0..1 + random.below(4) {
        items.push(format!("{} as a{number}", random.of(&aggregates)));
    }
    let mut text = format!("select {} from t", items.join(", "));
    if random.below(4) == 0 {
        text = random
            .of(&["select * from t", "select i, word from t", "select count(*) from t", "select f, i from t"])
            .into();
    }
    let is_grouped = !text.contains("*") && text.contains(" as a0");
    let conditions = [
        "i > 100",
        "d between 1.5 and 60",
        "word = 'bee'",
        "word in ('ant', 'it''s')",
        "word like 'b%'",
        "day >= '2024-06-01'",
        "i is null",
        "ok",
        "not ok",
        "f > 2.5",
        "i % 2 = 0",
        "k <> 2",
        "word is not null or i < 0",
        "i > 100000",
        "not (i > 10 and word = 'bee')",
        "i in (1, 2, 3) or d > 80",
        "word not like '%e%'",
        "word > 'b'",
        "d * 2 > i",
        "extract(month from day) = 3",
        "substr(word, 1, 1) = 'b'",
        "octet_length(word) <> 3",
        "f < 0.5",
        "f between 1 and 3",
        "i is not null and f is null",
        "upper(word) = 'BEE'",
        "regexp_replace(word, '^(.).*$', '$1') < 'c'",
        r"regexp_replace(word, '^(.).*$', '\1') < 'c'",
        "day - interval '1' day > '2024-02-02'",
    ];
    if random.below(2) == 0 {
        write!(text, " where {}", random.of(&conditions)).unwrap();
        if random.below(2) == 0 {
            write!(text, " and {}", random.of(&conditions)).unwrap();
        }
    }
    if !is_grouped {
        return text;
    }
    if !keys.is_empty() {
        write!(text, " group by {keys}").unwrap();
        if random.below(3) == 0 {
            text.push_str(random.of(&[
                " having count(*) > 2",
                " having sum(i) > 100",
                " having min(word) is not null",
            ]));
        }
        if random.below(3) == 0 {
            let order = random.of(&["", " desc", " nulls first"]);
            write!(text, " order by a0{order}, {keys} limit {}", 1 + random.below(20)).unwrap();
            return text;
        }
    }
    match random.below(5) {
        0 => format!("select count(*), max(x.a0) from ({text}) x"),
        1 => format!("with x as ({text}) select x.*, u.k as other from x join (select distinct k from t) u on u.k < 2"),
        2 if keys.is_empty() => "select sum(t.i), max(t.i), count(*) from t \
            join (select k, max(i) as high from t group by k) u on t.k = u.k and t.i < u.high"
            .to_owned(),
        _ => text,
    }
}

async fn answer(context: &SessionContext, question: &str, by_brc: bool) -> Result<Vec<String>, String> {
    let set = format!("set {AGGREGATE_OPTION} = {by_brc}");
    context.sql(&set).await.unwrap().collect().await.unwrap();
    let batches = async { context.sql(question).await?.collect().await }.await.map_err(|error| error.to_string())?;
    let mut lines: Vec<String> =
        pretty_format_batches(&batches).unwrap().to_string().lines().map(str::to_owned).collect();
    lines.sort();
    Ok(lines)
}

fn files(random: &mut Random, directory: &Path, rows: u64) -> Vec<PathBuf> {
    let [csv, buren, clustered] = ["t.csv", "t.buren", "c.buren"].map(|name| directory.join(name));
    std::fs::write(&csv, table(random, rows)).unwrap();
    convert(&csv, &buren, &["--key", "none", "--force"]);
    convert(&csv, &clustered, &["--key", "k", "--force"]);
    vec![csv, buren, clustered]
}

#[test]
fn brc_and_datafusion_give_the_same_answers() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut asked, mut by_brc) = (0, 0);
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
                let plan = runtime.block_on(async {
                    let frame = context.sql(&question).await.ok()?;
                    Some(displayable(frame.create_physical_plan().await.ok()?.as_ref()).indent(false).to_string())
                });
                by_brc += usize::from(plan.is_some_and(|plan| plan.contains("BrcAnswer")));
                let theirs = runtime.block_on(answer(&context, &question, false));
                let twin = question.replace("from t", "from twin t");
                let of_twin = runtime.block_on(answer(&context, &twin, false));
                if ours.is_err() && theirs.is_err() && of_twin.is_err() {
                    continue;
                }
                assert_eq!(ours, theirs, "{} rows, {}: {question}", rows, path.display());
                assert_eq!(ours, of_twin, "{} rows, {}: {twin}", rows, path.display());
                asked += usize::from(ours.is_ok());
            }
        }
    }
    assert!(asked > 300 && by_brc > 150, "{by_brc} of {asked} answers are brc's");
}

#[test]
fn a_sum_out_of_range_is_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    std::fs::write(&path, format!("i\n{0}\n{0}\n", i64::MAX)).unwrap();
    let context = session(1);
    context.register_table("t", Arc::new(open(&path, 1))).unwrap();
    let error = runtime.block_on(answer(&context, "select sum(i) from t", true)).unwrap_err();
    assert!(error.contains("18446744073709551614"), "{error}");
}

#[test]
fn each_row_is_in_one_part_whatever_the_parts() {
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
                let lines = runtime.block_on(answer(&context, question, false)).unwrap();
                let found: Vec<u64> =
                    lines.iter().flat_map(|line| line.split('|')).filter_map(|it| it.trim().parse().ok()).collect();
                assert_eq!(found, numbers, "{row_group}, {threads} threads: {question}");
            }
        }
    }
}

/// DataFusion believes that a sum which is exact for a table is that of a join with it, too.
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
