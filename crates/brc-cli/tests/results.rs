//! Tests of results: output formats, and results written as tables.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

const ORDERS: &str = "country,price,day\nNO,12.5,2024-01-31\nSE,,2024-02-01\nNO,7.25,2024-02-01\nDK,1.00,2024-03-01\n";
const QUESTION: &str =
    "select country, sum(price) as total, avg(price) as mean, count(*) as n, max(day) as last group by 1";

fn place() -> Place {
    let place = Place::new();
    place.write("orders.csv", ORDERS);
    place
}

#[test]
fn a_result_is_a_table_in_any_encoding() {
    let place = place();
    let expected =
        "country,total,mean,n,last\nDK,1.00,1.0,1,2024-03-01\nNO,19.75,9.875,2,2024-02-01\nSE,,,1,2024-02-01\n";
    assert_eq!(place.run_of(&["query", "orders.csv", QUESTION, "--format", "csv"]).text(), expected);
    for encoding in
        brc_encodings::ENCODINGS.iter().filter(|encoding| !encoding.is_read_only() && encoding.name() != "ppm")
    {
        let file = format!("answer.{}", encoding.extensions()[0]);
        assert!(place.run_of(&["query", "orders.csv", QUESTION, "--out", &file]).ok().is_empty());
        let back = place.run_of(&["query", &file, "select *", "--format", "csv"]).text();
        // Numbers in JSON are decimals with a common scale.
        assert_eq!(back.replace("1.000,", "1.0,"), expected, "{file}");
    }
    let types = place.run("schema answer.parquet --json").text();
    for of_type in ["string", "decimal(38,2)", "float64", "int64", "date"] {
        assert!(types.contains(&format!("\"type\": \"{of_type}\"")), "{types}");
    }
    place.run_of(&["query", "orders.csv", QUESTION, "--out", "answer.csv.gz"]).ok();
    assert_eq!(place.shell("zcat answer.csv.gz").text(), expected);
    let piped = place.run_of(&["query", "orders.csv", QUESTION, "--out", "-", "--to", "arrow"]).ok();
    assert!(piped.starts_with(b"ARROW1"));
}

/// 100,000 distinct strings: neither lookups nor per-value evaluation pay off.
#[test]
fn distinct_strings_are_evaluated_row_by_row() {
    let place = Place::new();
    let rows: String = (0..100_000).map(|row| format!("k{:05},{row}\n", row * 7919 % 100_000)).collect();
    place.write("rows.csv", format!("name,x\n{rows}"));
    let question = "select substr(name, 1, 2) as k, count(*) as n, sum(x) as x group by 1 order by 1";
    let expected = place.run_of(&["query", "rows.csv", question, "--format", "csv"]).text();
    assert!(expected.starts_with("k,n,x\nk0,10000,"), "{expected}");
    for encoding in
        brc_encodings::ENCODINGS.iter().filter(|encoding| !encoding.is_read_only() && encoding.name() != "ppm")
    {
        let file = format!("of.{}", encoding.extensions()[0]);
        place.run_of(&["convert", "rows.csv", &file]).ok();
        let outcome = place.run_of(&["query", &file, question, "--format", "csv", "--explain"]);
        let by_codes = outcome.stderr.contains("dictionary codes: 100_000");
        assert_eq!(outcome.text(), expected, "{file}");
        assert!(!by_codes || ["json", "capnp", "capnp-packed"].contains(&encoding.name()), "{file}");
    }
}

#[test]
fn a_result_replaces_a_file_only_by_force_and_atomically() {
    let place = place();
    place.write("answer.csv", "kept\n");
    let ask = |question: &str, force: bool| {
        let mut arguments = vec!["query", "orders.csv", question, "--out", "answer.csv"];
        arguments.extend(force.then_some("--force"));
        place.run_of(&arguments)
    };
    ask(QUESTION, false).fails(2, "brc: answer.csv: already exists (--force replaces it)");
    ask("select sqrt(-price / 0 + price), 1 // 0, cast(country as int64)", true).fails_with(1, "NO");
    assert_eq!(place.read("answer.csv"), b"kept\n");
    assert_eq!(place.names(), ["answer.csv", "orders.csv"]);
    ask(QUESTION, true).ok();
    assert!(place.read("answer.csv").starts_with(b"country,total"));
    place.run("query orders.csv --by country --out orders.csv --force").fails_with(2, "orders.csv");
    place.run("query orders.csv --by country --out answer").fails_with(2, "no known extension");
}

#[test]
fn rows_come_in_their_order_from_any_encoding() {
    let place = Place::new();
    let text: String = (0..200_000).map(|row| format!("{},name {},{}\n", row, row % 97, row % 1000)).collect();
    place.write("t.csv", format!("n,name,x\n{text}"));
    let question = "select n * 2 as twice, upper(name) as name where x < 990 or n = 5";
    let wanted = (0..200_000).filter(|row| row % 1000 < 990);
    let expected: String = wanted.map(|row| format!("{},NAME {}\n", row * 2, row % 97)).collect();
    let expected = format!("twice,name\n{expected}");
    for file in ["t.csv", "t.buren", "t.parquet", "t.json"] {
        if file != "t.csv" {
            let row_group = if file == "t.json" { "" } else { "--row-group 512k" };
            place.run(&format!("convert t.csv {file} {row_group}")).ok();
        }
        for threads in ["1", "3"] {
            let printed = place.run_of(&["query", file, question, "--format", "csv", "--threads", threads]).text();
            assert!(printed == expected, "{file}");
            let out = ["query", file, question, "--out", "out.buren", "--force", "--threads", threads];
            place.run_of(&out).ok();
            assert!(place.run("cat out.buren").text() == expected, "{file}");
        }
    }
    let limited = place.run_of(&["query", "t.buren", "select n limit 3 offset 150000", "--format", "jsonl"]).text();
    assert_eq!(limited, "{\"n\":150000}\n{\"n\":150001}\n{\"n\":150002}\n");
}

/// A streamed query restarts where types widen.
#[test]
fn rows_of_widened_types_are_all_written() {
    let place = Place::new();
    let rows = "1,2024-01-01\n".repeat(300_000);
    place.write("t.csv", format!("n,day\n{rows}x,2024-01-01\n"));
    let out = place.run_of(&["query", "t.csv", "select n, day", "--format", "csv"]).text();
    assert!(out == format!("n,day\n{rows}x,2024-01-01\n"));
    place.run_of(&["query", "t.csv", "select n", "--out", "n.parquet"]).ok();
    assert!(place.run("schema n.parquet").text().contains("string"));
}

#[test]
fn formats_print_nulls_in_one_way() {
    let place = place();
    let ask = |format: &str| {
        place.run_of(&["query", "orders.csv", "select country, price where price is null", "--format", format]).text()
    };
    assert_eq!(ask("table"), " country   price\n─────────────────\n SE         null\n");
    assert_eq!(ask("markdown"), "| country | price |\n| --- | ---: |\n| SE | null |\n");
    assert_eq!(ask("csv"), "country,price\nSE,\n");
    assert_eq!(ask("json"), "{\"country\":\"SE\",\"price\":null}\n");
    assert_eq!(ask("jsonl"), ask("json"));
    assert_eq!(ask("json-array"), "[\n{\"country\":\"SE\",\"price\":null}\n]\n");
    assert!(place.run("head orders.csv").text().contains("null"));
    let none = place.run_of(&["query", "orders.csv", "select country where price > 100", "--format", "json-array"]);
    assert_eq!(none.text(), "[]\n");
    let markdown = place.run("query orders.csv --by country --agg count() --format markdown").text();
    assert_eq!(markdown, "| country | count() |\n| --- | ---: |\n| DK | 1 |\n| NO | 2 |\n| SE | 1 |\n");
}

#[test]
fn a_result_is_written_as_an_arrow_stream() {
    let place = place();
    place.write("many.csv", (0..300_000).map(|n| format!("{},{n}\n", n % 150_000)).collect::<String>());
    let many = ["query", "many.csv", "--names", "key,n", "select key, sum(n) group by key"];
    let none = ["query", "orders.csv", "select country, sum(price) where price > 100 group by country"];
    for question in [&["query", "orders.csv", QUESTION][..], &many, &none, &["head", "orders.csv"]] {
        let stream = place.run_of(&[question, &["--format", "arrow"]].concat()).ok().to_vec();
        // Messages have multiples of 64 bytes, followed by the end marker.
        assert!(stream.starts_with(b"\xff\xff\xff\xff") && stream.len() % 64 == 8, "{} bytes", stream.len());
        assert!(stream.ends_with(b"\xff\xff\xff\xff\0\0\0\0"));
    }
    place.write("latin.csv", b"name,n\nK\xf6ln,1\n");
    let refused = place.run_of(&["query", "latin.csv", "select *", "--format", "arrow"]);
    assert!(refused.stdout.is_empty());
    refused.fails_with(3, "row 1, column 'name': arrow cannot hold 'K\\xf6ln', which is not UTF-8");
}

/// Row groups answered from statistics list the strings of the whole file, including those of other row groups.
#[test]
fn groups_without_statistics_are_not_lost() {
    let place = Place::new();
    let rows: String = (0..60_000).map(|n| format!("s{},{}\n", n % 50, n % 997)).collect();
    place.write("t.csv", format!("s,n\n{rows}rare,5\nrare,5000\n"));
    let schema = "s:string not null,n:int64 not null";
    place.run_of(&["convert", "t.csv", "t.buren", "--key", "s", "--schema", schema]).ok();
    for question in ["select distinct s where n < 1000", "select s, max(n) where n < 1000 group by s"] {
        let answers =
            ["t.buren", "t.csv"].map(|file| place.run_of(&["query", file, question, "--format", "csv"]).text());
        assert!(answers[0].starts_with("s") && answers[0].contains("\nrare"), "{question}: {}", answers[0]);
        assert_eq!(answers[0], answers[1], "{question}");
    }
}

#[test]
fn a_sum_of_too_many_digits_says_what_to_do() {
    let place = Place::new();
    place.write("t.csv", "a,b\nx,99999999999999999999999999999999999999\ny,1\n");
    place.run_of(&["query", "t.csv", "select sum(b)"]).fails(
        1,
        "brc: sum(b) is out of range for decimal(38,0)\nbrc: a sum of floats has no such limit: sum(cast(x as float64))",
    );
    let answer = place.run_of(&["query", "t.csv", "select sum(cast(b as float64)) as s", "--format", "csv"]).text();
    assert_eq!(answer, "s\n1e38\n");
}
