//! Tests of the commands that select, sort and save rows (count, head, tail, sample, sort and cat) with their common
//! options.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

const TABLE: &str = "city,day,price\nOslo,1,0.50\nBergen,2,1.25\nOslo,3,20.00\nVoss,4,3.75\n";

/// The same small table in several encodings.
fn place() -> Place {
    let place = Place::new();
    place.write("t.csv", TABLE);
    for file in FILES.iter().skip(1) {
        place.run(&format!("convert t.csv {file}")).ok();
    }
    place
}

const FILES: [&str; 4] = ["t.csv", "t.buren", "t.parquet", "t.json"];

#[test]
fn rows_are_counted() {
    let place = place();
    for file in FILES {
        assert_eq!(place.run(&format!("count {file}")).text(), "4\n");
        assert_eq!(place.run_of(&["count", file, "--where", "price * 2 > 2"]).text(), "3\n");
    }
    assert_eq!(place.run("count t.csv t.buren").text(), "8\n");
    assert_eq!(place.pipe("count -", TABLE.as_bytes()).text(), "4\n");
    place.write("none.csv", "a,b\n");
    assert_eq!(place.run("count none.csv").text(), "0\n");
    place.run_of(&["count", "t.csv", "--where", "prize > 2"]).fails_with(2, "did you mean 'price'?");
}

#[test]
fn the_last_rows_come_in_order() {
    let place = place();
    for file in FILES {
        let tail = |options: &[&str]| place.run_of(&[&["tail", file, "--format", "csv"], options].concat()).text();
        assert_eq!(tail(&["-n", "2"]), "city,day,price\nOslo,3,20.00\nVoss,4,3.75\n");
        assert_eq!(tail(&["-n", "0"]), "city,day,price\n");
        assert_eq!(tail(&[]), TABLE);
        assert_eq!(tail(&["-n", "1", "--where", "city = 'Oslo'", "--columns", "day"]), "day\n3\n");
    }
    assert_eq!(place.pipe("tail - -n 1 --format csv", TABLE.as_bytes()).text(), "city,day,price\nVoss,4,3.75\n");
}

#[test]
fn the_last_of_many_rows_are_found() {
    let place = Place::new();
    let row = |row: u64| format!("{row},{}\n", row % 13);
    place.write("t.csv", "n,m\n".to_owned() + &(0..300_000).map(row).collect::<String>());
    for file in ["t.csv", "t.buren", "t.parquet"] {
        if file != "t.csv" {
            place.run(&format!("convert t.csv {file} --row-group 256k")).ok();
        }
        for threads in ["1", "3"] {
            let tail = |rest: &[&str]| {
                let arguments = [&["tail", file, "--format", "csv", "--threads", threads], rest].concat();
                place.run_of(&arguments).text()
            };
            let expected: String = (299_000..300_000).map(row).collect();
            assert!(tail(&["-n", "1000"]) == format!("n,m\n{expected}"), "{file}");
            let expected: String = (0..300_000).filter(|row| row % 13 == 5).skip(3077).map(row).collect();
            assert!(tail(&["-n", "20k", "--where", "m = 5"]).ends_with(&expected), "{file}");
        }
    }
}

/// The mean of a sample is near that of all rows, each row occurs once, and threads do not matter.
#[test]
fn samples_are_uniform_and_repeatable() {
    let place = Place::new();
    let rows: String = (0..200_000).map(|row| format!("{row}\n")).collect();
    place.write("t.csv", format!("n\n{rows}"));
    place.run("convert t.csv t.buren --row-group 256k").ok();
    for file in ["t.csv", "t.buren"] {
        let sample = |options: &str| {
            let text = place.run(&format!("sample {file} --format csv {options}")).text();
            text.lines().skip(1).map(|line| line.parse().unwrap()).collect::<Vec<u64>>()
        };
        let first = sample("-n 10k --threads 1");
        assert_eq!(first.len(), 10_000);
        assert!(first.is_sorted_by(|one, next| one < next), "in the order of the table, none twice");
        let mean = first.iter().sum::<u64>() / 10_000;
        assert!((97_000..103_000).contains(&mean), "{mean}");
        for quarter in 0..4 {
            let count = first.iter().filter(|&&row| row / 50_000 == quarter).count();
            assert!((2_300..2_700).contains(&count), "{count}");
        }
        assert_eq!(sample("-n 10k --threads 4"), first);
        assert_ne!(sample("-n 10k --seed 1"), first);
        assert_eq!(sample("-n 300k").len(), 200_000);
        assert!(sample("-n 0").is_empty());
        let few = place.run_of(&["sample", file, "--where", "n < 5", "--format", "csv"]).text();
        assert_eq!(few, "n\n0\n1\n2\n3\n4\n");
    }
}

#[test]
fn rows_are_sorted() {
    let place = place();
    let sorted = "city,day,price\nBergen,2,1.25\nOslo,3,20.00\nOslo,1,0.50\nVoss,4,3.75\n";
    for file in FILES {
        let sort = |rest: &[&str]| place.run_of(&[&["sort", file, "--format", "csv"], rest].concat()).text();
        assert_eq!(sort(&["--by", "city, day desc"]), sorted);
        assert_eq!(sort(&["--by", "city", "-n", "1"]), "city,day,price\nBergen,2,1.25\n");
        assert_eq!(sort(&["--by", "all"]), sorted.replace("Oslo,3,20.00\nOslo,1,0.50", "Oslo,1,0.50\nOslo,3,20.00"));
        assert_eq!(sort(&["--by", "price * -1", "--columns", "city", "--limit", "2"]), "city\nOslo\nVoss\n");
    }
    place.run_of(&["sort", "t.csv", "--by", "city, day desc", "-o", "sorted.parquet"]).ok();
    assert_eq!(place.run("cat sorted.parquet").text(), sorted);
    assert_eq!(place.run("sort t.csv --by city,day --limit 1").text(), "city,day,price\nBergen,2,1.25\n");
    place.run("sort t.csv").fails_with(2, "--by");
    place.run("sort t.csv --by town").fails_with(2, "unknown column 'town'");
}

#[test]
fn commands_take_the_same_options() {
    let place = place();
    let commands: [&[&str]; 6] =
        [&["head"], &["tail"], &["sample"], &["sort", "--by", "day"], &["cat"], &["cat", "--order-by", "day"]];
    for (number, command) in commands.iter().enumerate() {
        let run = |rest: &[&str]| place.run_of(&[command, &["t.parquet"][..], rest].concat());
        let selected = ["--columns", "price,city", "--where", "price * 2 > 10", "-n", "5"];
        let with = |rest: &[&str]| run(&[&selected[..], rest].concat());
        assert_eq!(with(&["--format", "csv"]).text(), "price,city\n20.00,Oslo\n");
        assert_eq!(with(&["--format", "tsv"]).text(), "price\tcity\n20.00\tOslo\n");
        assert_eq!(with(&["-x"]).text(), "price  20.00\ncity   Oslo\n");
        for name in ["json", "jsonl", "ndjson"] {
            assert_eq!(with(&["--format", name]).text(), "{\"price\":20.00,\"city\":\"Oslo\"}\n");
            assert_eq!(with(&["--to", name]).text(), "{\"price\":20.00,\"city\":\"Oslo\"}\n");
        }
        for option in ["--output", "-o", "--out"] {
            let file = format!("{number}{}.buren", option.trim_matches('-'));
            assert!(with(&[option, &file]).ok().is_empty());
            assert_eq!(place.run(&format!("cat {file}")).text(), "price,city\n20.00,Oslo\n");
            with(&[option, &file]).fails_with(2, "already exists");
            with(&[option, &file, "--force"]).ok();
        }
        with(&["-o", "t.parquet", "--force"]).fails_with(2, "input and output are the same file");
        run(&["--columns", "town"]).fails_with(2, "unknown column 'town'");
        run(&["--columns", "city,city"]).fails_with(2, "column 'city' is named twice");
        run(&["--where", "town = 1"]).fails_with(2, "unknown column 'town'");
        run(&["--where", "city ="]).fails_with(2, "expected");
    }
}

#[test]
fn cat_is_limited_and_sorted() {
    let place = place();
    for file in FILES {
        let cat = |rest: &[&str]| place.run_of(&[&["cat", file], rest].concat()).text();
        assert_eq!(cat(&["--limit", "2"]), "city,day,price\nOslo,1,0.50\nBergen,2,1.25\n");
        assert_eq!(cat(&["--order-by", "day desc", "-n", "1"]), "city,day,price\nVoss,4,3.75\n");
        assert_eq!(cat(&["--order-by", "price", "--columns", "day"]), "day\n1\n2\n4\n3\n");
        assert_eq!(
            cat(&["--format", "table", "-n", "1"]),
            " city   day   price\n────────────────────\n Oslo     1    0.50\n"
        );
    }
}

#[test]
fn wide_rows_are_printed_value_by_value() {
    let place = place();
    let expected = "city   Oslo\nday    1\nprice  0.50\n\ncity   Bergen\nday    2\nprice  1.25\n";
    assert_eq!(place.run("head t.csv -n 2 -x").text(), expected);
    assert_eq!(place.run("head t.csv -n 2 --format vertical").text(), expected);
    let answer = place.run_of(&["query", "t.csv", "select city, max(price) as most group by city limit 1", "-x"]);
    assert_eq!(answer.text(), "city  Bergen\nmost  1.25\n");
    place.run("head t.csv -x --format csv").fails_with(2, "cannot be used with");
}

#[test]
fn json_lines_are_an_output_encoding() {
    let place = place();
    let expected = place.run("cat t.csv --to json").text();
    for name in ["jsonl", "ndjson"] {
        assert_eq!(place.run(&format!("convert t.csv - --to {name}")).text(), expected);
        place.write("lines", &expected);
        assert_eq!(place.run(&format!("cat lines --from {name}")).text(), TABLE);
    }
}
