//! Tests of sniff, schema, head and cat.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

const TABLE: &str = "city;day;price\nOslo;1;0.50\nBergen;2;1.25\nOslo;3;20.00\nVoss;4;3.75\n";

#[test]
fn sniff_explains_the_dialect_of_a_text() {
    let place = Place::new();
    place.write("t.csv", TABLE.replace(';', ","));
    let text = place.run("sniff t.csv -n 2").text();
    for line in ["encoding             csv", "compression          none", "delimiter            ','", "header"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.contains("5 of 5 sampled rows have 3 fields with it"), "{text}");
    assert!(text.contains("price   decimal(18,2)") && text.contains(" Bergen "), "{text}");
    assert!(!text.contains("20.00"), "only two rows: {text}");

    let schema = place.run("sniff --schema t.csv").text();
    assert!(schema.starts_with("city:string") && schema.lines().count() == 1, "{schema}");
    place.run_of(&["convert", "t.csv", "t.buren", "--delimiter", ",", "--schema", schema.trim()]).ok();
    assert_eq!(place.pipe("sniff --schema -", TABLE.as_bytes()).text(), schema);
}

/// Late parts of a file are sampled, too.
#[test]
fn sniff_samples_several_ranges() {
    let place = Place::new();
    place.write("t.csv", "a,b\n".repeat(40_000));
    let text = place.run("sniff t.csv -n 0").text();
    let rows: u64 = text.split(" sampled rows").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(rows > (64 << 10) / 4, "{text}");
}

/// The only non-integer lies outside the sampled ranges.
#[test]
fn schema_reads_all_rows() {
    let place = Place::new();
    let row = |row: usize| if row == 123_457 { "1.5,x\n".to_owned() } else { format!("{row},x\n") };
    place.write("t.csv", "n,s\n".to_owned() + &(0..300_000).map(row).collect::<String>());
    assert!(place.run("sniff --schema t.csv").text().contains("n:int64"));
    for threads in ["1", "3"] {
        let text = place.run(&format!("schema t.csv --threads {threads}")).text();
        assert!(text.contains("n      decimal(18,1)"), "{text}");
    }
    place.write("bad.csv", "n,s\n1,x\n2\n");
    place.run("schema bad.csv").fails_with(3, "line 3");
}

#[test]
fn sniff_and_schema_know_every_encoding() {
    let place = Place::new();
    place.write("t.csv", TABLE);
    let columns = place.run("schema t.csv").text();
    let lines: Vec<Vec<_>> = columns.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((lines[0][0], lines[2][0], lines[2][1]), ("name", "city", "string"));
    for encoding in
        brc_encodings::ENCODINGS.iter().filter(|encoding| encoding.name() != "ppm" && !encoding.is_read_only())
    {
        let file = format!("t.{}", encoding.extensions()[0]);
        if encoding.name() != "csv" {
            place.run(&format!("convert t.csv {file}")).ok();
        }
        let json = place.run(&format!("schema --json {file}")).text();
        assert!(json.starts_with("[\n  {\"name\": \"city\", \"type\": \"string\", \"nullable\": "), "{json}");
        if encoding.name() != "csv" {
            let text = place.run(&format!("sniff {file}")).text();
            assert!(text.starts_with(&format!("encoding             {}\n", encoding.name())), "{text}");
            assert!(text.contains("price") && text.contains("Bergen"), "{text}");
        }
    }
    place.write("x.bin", [0, 159, 146, 150, 0, 1, 2, 3].repeat(100));
    place.run("sniff x.bin").fails_with(1, "unrecognised file format");
}

#[test]
fn head_shows_the_first_rows() {
    let place = Place::new();
    place.write("t.csv", TABLE);
    place.run("convert t.csv t.buren").ok();
    place.run("convert t.csv t.parquet").ok();
    for file in ["t.csv", "t.buren", "t.parquet"] {
        let head = |options: &str| place.run(&format!("head {file} {options}")).text();
        assert_eq!(head("-n 2 --format csv"), "city,day,price\nOslo,1,0.50\nBergen,2,1.25\n");
        assert_eq!(head("-n 1 --format jsonl"), "{\"city\":\"Oslo\",\"day\":1,\"price\":0.50}\n");
        assert_eq!(head("-n 0 --format json-array"), "[]\n");
        assert_eq!(head("--format jsonl").lines().count(), 4);
        assert!(head("-n 1 --format markdown").starts_with("| city | day | price |\n| --- | ---: | ---: |\n| Oslo "));
        assert_eq!(head("-n 3").lines().count(), 5);
    }
}

/// A malformed row further on does not matter.
#[test]
fn head_reads_no_more_than_it_shows() {
    let place = Place::new();
    let good = "Oslo;1.0\n".repeat(1_000_000);
    place.write("t.txt", [&good, "bad\n"].concat());
    assert_eq!(place.run("head t.txt -n 3 --format csv").text().lines().count(), 4);
    place.run("head t.txt -n 2000000").fails_with(3, "t.txt: line 1000001, byte 9000000");
    let outcome = place.shell("yes 'Oslo;1.0' | $BRC head - -n 100000 --format csv");
    assert_eq!(outcome.text().lines().count(), 100_001);
}

#[test]
fn cat_selects_columns_and_rows() {
    let place = Place::new();
    place.write("t.csv", TABLE);
    assert_eq!(place.run("cat t.csv").text(), TABLE.replace(';', ","));
    let selected = ["cat", "t.csv", "--columns", "price,city", "--where", "city = 'Oslo' and day > 1"];
    assert_eq!(place.run_of(&selected).text(), "price,city\n20.00,Oslo\n");
    let json = place.run_of(&[&selected[..], &["--to", "json"]].concat()).text();
    assert_eq!(json, "{\"price\":20.00,\"city\":\"Oslo\"}\n");
    for file in ["t.buren", "t.parquet", "t.json.gz"] {
        place.run_of(&["cat", "t.csv", "--columns", "city,price", "--where", "day != 2", "-o", file]).ok();
        assert_eq!(place.run(&format!("cat {file}")).text(), "city,price\nOslo,0.50\nOslo,20.00\nVoss,3.75\n");
    }
    place.run("cat t.csv -o t.parquet").fails_with(2, "already exists");
    place.run("cat t.csv -o t.parquet --force").ok();
    assert_eq!(place.run("cat t.parquet").text(), place.run("cat t.csv").text());
    place.run("cat t.csv --columns town").fails_with(2, "brc: unknown column 'town' (columns: city, day, price)");
    place.run("cat t.csv --where day").fails_with(2, "day");
}

#[test]
fn cat_keeps_the_lines_of_bad_rows() {
    let place = Place::new();
    place.write("t.csv", [TABLE, "Oslo;1\n"].concat());
    let outcome = place.run_of(&["cat", "t.csv", "--columns", "city", "--where", "city = 'Voss'", "-o", "out.csv"]);
    outcome.fails_with(3, "brc: t.csv: line 6, byte 66");
    assert_eq!(place.names(), ["t.csv"]);
}
