//! Tests of `brc convert --append`.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use std::fs;

const FIRST: &str = "id,city,price,day\n1,Oslo,1.5,2024-01-01\n2,Bergen,,2024-01-02\n3,,2.5,2024-01-03\n";
const SECOND: &str = "id,city,price,day\n4,Voss,7,2024-01-04\n5,Oslo,8.5,\n";

fn appended(rows: &str) -> &str {
    rows.split_once('\n').unwrap().1
}

#[test]
fn rows_are_appended_after_the_existing_bytes() {
    for options in ["", "--compression zstd", "--key city"] {
        let place = Place::new();
        place.write("first.csv", FIRST);
        place.write("second.csv", SECOND);
        place.run(&format!("convert first.csv all.buren {options}")).ok();
        let old = place.read("all.buren");
        fs::hard_link(place.path("all.buren"), place.path("old.buren")).unwrap();
        let mut expected = FIRST.to_owned();
        for round in 1..=3 {
            let before = place.read("all.buren");
            let outcome = place.run("convert second.csv all.buren --append");
            assert!(outcome.stderr.starts_with("2 rows written, 0 rejected; "), "{}", outcome.stderr);
            outcome.ok();
            let all = place.read("all.buren");
            assert!(all.starts_with(&before), "what is stored stays where it is");
            expected += &appended(SECOND).replace("Voss,7,", "Voss,7.0,");
            assert_eq!(place.run("cat all.buren").text(), expected, "{options} {round}");
            place.run("verify all.buren").ok();
            let [by_statistics, by_rows] = ["", "--no-statistics"].map(|option| {
                let query = "--by city --agg count(*),sum(price),max(id) --format csv";
                place.run(&format!("query all.buren {query} {option}")).text()
            });
            assert_eq!(by_statistics, by_rows);
            let oslo = 1 + round;
            assert!(by_rows.contains(&format!("Oslo,{oslo},")), "{by_rows}");
            assert_eq!(place.run("count all.buren").text(), format!("{}\n", 3 + 2 * round));
            let distinct = "select count(distinct city) c, min(price), max(day)";
            assert_eq!(
                place.run_of(&["query", "all.buren", distinct, "--format", "csv"]).text(),
                "c,min(price),max(day)\n3,1.5,2024-01-04\n"
            );
        }
        // A process that has the old file open can still read all of it.
        assert_eq!(place.read("old.buren"), old);
        // A flipped bit in an unused part of the file is found too.
        let mut damaged = place.read("all.buren");
        damaged[old.len() - 20] ^= 1;
        place.write("damaged.buren", damaged);
        place.run("verify damaged.buren").fails_with(4, "damaged.buren");
    }
}

#[test]
fn many_row_groups_and_strings_are_added() {
    let place = Place::new();
    let rows = |range: std::ops::Range<u32>| {
        let row = |n: u32| format!("{n},name {},{}.{}\n", n % 1009, n % 37, n % 10);
        format!("n,name,x\n{}", range.map(row).collect::<String>())
    };
    place.write("a.csv", rows(0..30_000));
    place.write("b.csv", rows(30_000..70_000));
    place.write("all.csv", rows(0..70_000));
    for threads in [1, 3] {
        place.run("convert a.csv out.buren --force --row-group 64k --key none").ok();
        place.run(&format!("convert b.csv out.buren --append --row-group 64k --threads {threads}")).ok();
        assert!(place.run("cat out.buren").ok() == place.read("all.csv"));
        place.run("verify out.buren").ok();
        for query in
            ["--by name --agg 'count(*),sum(x)'", "--by x --agg 'count(*),min(name)'", "--by '' --agg 'sum(n)'"]
        {
            let answer = |file: &str| place.shell(&format!("$BRC query {file} {query} --format csv")).text();
            assert_eq!(answer("out.buren"), answer("all.csv"), "{query}");
        }
        place.run("convert out.buren copy.parquet --force").ok();
    }
}

#[test]
fn a_file_of_version_1_is_rewritten() {
    let place = Place::new();
    place.write("a.csv", "station;t\nOslo;1.0\nOslo;2.0\n");
    place.write("b.csv", "station;t\nVoss;3\n");
    place.run("convert a.csv out.buren --schema station:string,t:decimal(4,1)").ok();
    place.run("convert b.csv out.buren --append").ok();
    assert_eq!(place.run("cat out.buren").text(), "station,t\nOslo,1.0\nOslo,2.0\nVoss,3.0\n");
    place.run("verify out.buren").ok();
}

#[test]
fn columns_added_by_options_are_appended() {
    let place = Place::new();
    for year in ["2023", "2024"] {
        fs::create_dir_all(place.path(&format!("{year}/year={year}"))).unwrap();
        place.write(&format!("{year}/year={year}/x.csv"), format!("n;d\n{year};1.5\n"));
        place.run(&format!("convert {year} all.buren --append --file-name f")).ok();
    }
    let rows = "n,d,year,f\n2023,1.5,2023,2023/year=2023/x.csv\n2024,1.5,2024,2024/year=2024/x.csv\n";
    assert_eq!(place.run("cat all.buren").text(), rows);
}

#[test]
fn rows_of_the_one_billion_row_challenge_are_appended() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.5\nBonn;2.5\n");
    place.run("convert t.txt t.buren").ok();
    place.run("convert t.txt t.buren --append").ok();
    assert_eq!(place.run("query t.buren").text(), "{Abha=1.5/1.5/1.5, Bonn=2.5/2.5/2.5}\n");
    assert_eq!(place.run("count t.buren").text(), "4\n");
    place.write("with-header.csv", "station;temperature\nOslo;3.5\n");
    place.run("convert with-header.csv t.buren --append").ok();
    assert_eq!(place.run("count t.buren").text(), "5\n");
}

#[test]
fn a_failed_append_leaves_the_file_unchanged() {
    let place = Place::new();
    place.write("first.csv", FIRST);
    place.run("convert first.csv new.buren --append").ok();
    assert_eq!(place.run("cat new.buren").text(), FIRST);
    let before = place.read("new.buren");
    place.write("bad.csv", "id,city,price,day\n4,Voss,cheap,2024-01-04\n");
    place.run("convert bad.csv new.buren --append").fails_with(3, "bad.csv: line 2");
    place.run("convert bad.csv new.buren --append --rejects bad.tsv").ok();
    assert_eq!(place.run("cat new.buren").text(), FIRST);
    let rejected = place.read("bad.tsv");
    place
        .run("convert bad.csv new.buren --append --rejects bad.tsv")
        .fails_with(2, "bad.tsv: already has rejected rows; with --append, --rejects needs a new file");
    assert_eq!(place.read("bad.tsv"), rejected);
    for _ in 0..2 {
        place.run("convert first.csv twice.buren --append --rejects none.tsv").ok();
    }
    place.write("other.csv", "id,town,price,day\n4,Voss,1.0,2024-01-04\n");
    place
        .run("convert other.csv new.buren --append")
        .fails_with(2, "new.buren: the rows to append lack its column 'city' (their columns: id, town, price, day)");
    place.run("convert first.csv other.buren --type price=float64").ok();
    place.run("convert other.buren new.buren --append").fails_with(2, "new.buren: its columns are id:int64");
    place.run("convert new.buren new.buren --append").fails_with(2, "input and output are the same file");
    place
        .run("convert first.csv out.parquet --append")
        .fails_with(2, "rows can be appended to buren files only, not to parquet");
    place.run("convert first.csv - --to buren --append").fails_with(2, "not to standard output");
    place.write("broken.buren", &before[..before.len() - 3]);
    place.run("convert first.csv broken.buren --append").fails_with(4, "broken.buren");
    assert_eq!(place.run("cat new.buren").text(), FIRST);
}

#[test]
fn json_is_read_in_the_types_of_the_file() {
    let place = Place::new();
    place.write("first.csv", FIRST);
    place.run("convert first.csv all.buren").ok();
    let rows = [
        "{\"id\":4,\"city\":\"Voss\",\"price\":7,\"day\":\"2024-01-04\"}",
        "{\"price\":null,\"city\":5,\"id\":5,\"tags\":[1]}",
        "{\"tags\":null,\"id\":6,\"city\":{\"a\": 1}}",
    ];
    place.write("rows.json", rows.join("\n"));
    place.run("convert rows.json all.buren --append").ok();
    let expected = FIRST.to_owned() + "4,Voss,7.0,2024-01-04\n5,5,,\n6,\"{\"\"a\"\":1}\",,\n";
    assert_eq!(place.run("cat all.buren").text(), expected);
    for (row, expected) in [
        ("{\"id\":7,\"price\":1.55}", "bad.json: line 1, byte 0, column 'price': '1.55' has more than 1 decimal"),
        ("{\"id\":\"x\"}", "bad.json: line 1, byte 0, column 'id': a string in a column of type int64"),
    ] {
        place.write("bad.json", row);
        place.run("convert bad.json all.buren --append").fails_with(3, expected);
        place.run("convert bad.json all.buren --append --rejects rejected.tsv --force").fails_with(2, "--force");
    }
    place.run("convert bad.json all.buren --append --rejects rejected.tsv").ok();
    assert!(place.run("cat rejected.tsv").text().contains("a string in a column of type int64"));
    place.write("more.json", "{\"id\":7,\"zip\":1}");
    place.run("convert more.json all.buren --append").fails_with(2, "zip:int64; --schema sets those of text");
    assert_eq!(place.run("cat all.buren").text(), expected);
}
