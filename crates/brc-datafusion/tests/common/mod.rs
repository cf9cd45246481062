//! Generates random tables and queries.

#![allow(dead_code, unreachable_pub)]

use brc_cli::embedding::{ConversionInput, Convert};
use brc_core::Progress;
use brc_datafusion::{AGGREGATE_OPTION, FileTable, Resources};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::physical_plan::displayable;
use datafusion::prelude::SessionContext;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Reproducible pseudo-random numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % end
    }

    pub fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Rows with two keys, an integer, a decimal, a date, a float whose sums are exact, and a boolean; some are null.
pub fn table(random: &mut Random, rows: u64) -> String {
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

pub fn open(path: &Path, threads: usize) -> FileTable {
    FileTable::open(&[path.to_str().unwrap()], &[], &Resources { threads, in_cluster: true, ..Resources::default() })
        .unwrap()
}

pub fn convert(from: &Path, to: &Path, more: &[&str]) {
    let mut words: Vec<OsString> = more.iter().map(OsString::from).collect();
    words.extend([from.as_os_str().to_owned(), to.as_os_str().to_owned()]);
    Convert::from_words(&words).unwrap().run(ConversionInput::Named, &Progress::default()).unwrap();
}

/// A random query over the table `t`.
pub fn question(random: &mut Random) -> String {
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

pub async fn set(context: &SessionContext, option: &str, value: bool) {
    context.sql(&format!("set {option} = {value}")).await.unwrap().collect().await.unwrap();
}

pub async fn answer(context: &SessionContext, question: &str, by_brc: bool) -> Result<Vec<String>, String> {
    set(context, AGGREGATE_OPTION, by_brc).await;
    let batches = async { context.sql(question).await?.collect().await }.await.map_err(|error| error.to_string())?;
    let mut lines: Vec<String> =
        pretty_format_batches(&batches).unwrap().to_string().lines().map(str::to_owned).collect();
    lines.sort();
    Ok(lines)
}

pub fn files(random: &mut Random, directory: &Path, rows: u64) -> Vec<PathBuf> {
    let [csv, buren, clustered] = ["t.csv", "t.buren", "c.buren"].map(|name| directory.join(name));
    std::fs::write(&csv, table(random, rows)).unwrap();
    convert(&csv, &buren, &["--key", "none", "--row-group", "64k", "--force"]);
    convert(&csv, &clustered, &["--key", "k", "--row-group", "64k", "--force"]);
    vec![csv, buren, clustered]
}

pub async fn plan(context: &SessionContext, question: &str) -> String {
    let plan = async { context.sql(question).await?.create_physical_plan().await }.await;
    plan.map_or_else(|_| String::new(), |plan| displayable(plan.as_ref()).indent(false).to_string())
}
