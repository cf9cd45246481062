//! Tests of several files and globs as one table.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

fn parts() -> Place {
    let place = Place::new();
    place.write("part-1.csv", "city;price\nOslo;1.0\nBergen;2.0\n");
    place.write("part-2.csv", "city;price\nVoss;3.0\nOslo;4.0\n");
    place.write("part-10.csv", "city;price\nBergen;5.5\n");
    place
}

const ROWS: &str = "city,price\nOslo,1.0\nBergen,2.0\nBergen,5.5\nVoss,3.0\nOslo,4.0\n";

#[test]
fn globs_are_expanded_and_sorted_by_name() {
    let place = parts();
    assert_eq!(place.run("cat part-*.csv").text(), ROWS);
    assert_eq!(
        place.run("cat part-[12].csv part-10.csv").text(),
        "city,price\nOslo,1.0\nBergen,2.0\nVoss,3.0\nOslo,4.0\nBergen,5.5\n"
    );
    place.run("cat nothing-*.csv").fails(2, "brc: nothing-*.csv: no file matches this pattern");
    place.run("cat [.csv").fails_with(2, "[.csv: ");
    place.write("odd[1].csv", "city;price\nBodø;9.0\n");
    assert_eq!(place.run("cat odd[1].csv").text(), "city,price\nBodø,9.0\n");
    place.run("convert part-*.csv part-1.csv --force").fails_with(2, "part-1.csv");
}

#[test]
fn several_files_are_converted_and_queried_as_one() {
    let place = parts();
    let summary = place.run("convert part-*.csv all.buren");
    assert!(summary.stderr.starts_with("5 rows written, 0 rejected; "), "{}", summary.stderr);
    summary.ok();
    assert_eq!(place.run("cat all.buren").text(), ROWS);
    let query = "--by city --agg sum(price),count() --format csv";
    let answer = "city,sum(price),count()\nBergen,7.5,2\nOslo,5.0,2\nVoss,3.0,1\n";
    assert_eq!(place.run(&format!("query all.buren {query}")).text(), answer);
    assert_eq!(place.run(&format!("query part-*.csv {query}")).text(), answer);
    for file in ["part-1", "part-2", "part-10"] {
        place.run(&format!("convert {file}.csv {file}.buren")).ok();
        place.run(&format!("convert {file}.csv {file}.parquet")).ok();
    }
    for inputs in ["part-*.buren", "part-*.parquet", "part-1.csv part-2.buren part-10.parquet"] {
        for threads in [1, 3] {
            assert_eq!(place.run(&format!("query {inputs} {query} --threads {threads}")).text(), answer);
        }
    }
    assert_eq!(
        place.run("head part-*.buren -n 3 --format csv").text(),
        "city,price\nOslo,1.0\nBergen,2.0\nBergen,5.5\n"
    );
    place.run("schema part-*.csv").ok();
}

#[test]
fn rows_know_their_file() {
    let place = parts();
    let by_file = "--file-name file --by file --agg count() --format csv";
    let answer = "file,count()\npart-1.csv,2\npart-10.csv,1\npart-2.csv,2\n";
    assert_eq!(place.run(&format!("query part-*.csv {by_file}")).text(), answer);
    place.run("convert part-*.csv all.buren --file-name file").ok();
    assert_eq!(place.run("query all.buren --by file --agg count() --format csv").text(), answer);
    let one = ["cat", "part-*.csv", "--file-name", "file", "--where", "file = 'part-2.csv'", "--columns", "city,file"];
    assert_eq!(place.run_of(&one).text(), "city,file\nVoss,part-2.csv\nOslo,part-2.csv\n");
    assert_eq!(place.run("cat part-10.csv --file-name f").text(), "city,price,f\nBergen,5.5,part-10.csv\n");
    for file in ["part-1", "part-2", "part-10"] {
        place.run(&format!("convert {file}.csv {file}.buren")).ok();
    }
    let statistics = "--file-name f --where f!='part-2.buren' --by f --agg max(price),count() --format csv";
    let expected = "f,max(price),count()\npart-1.buren,2.0,2\npart-10.buren,5.5,1\n";
    assert_eq!(place.run(&format!("query part-*.buren {statistics}")).text(), expected);
    assert_eq!(place.run(&format!("query part-*.buren {statistics} --no-statistics")).text(), expected);
    place.run("cat part-*.csv --file-name city").fails(2, "brc: --file-name city: there is a column of that name");
}

#[test]
fn files_that_differ_are_refused_by_name_and_column() {
    let place = parts();
    place.write("part-3.csv", "city;cost\nOslo;1.0\n");
    let hint = "--union-by-name matches columns by name";
    place
        .run("convert part-1.csv part-3.csv all.buren")
        .fails(2, &format!("brc: part-3.csv: column 2 is 'cost', but 'price' in part-1.csv; {hint}"));
    place.write("part-4.csv", "city;price\nOslo;cheap\n");
    place.run("convert part-4.csv part-4.buren --schema city:string,price:string").ok();
    place.run("query part-1.csv part-4.buren").fails_with(
        2,
        "part-4.buren: column 'price' is of type string, but decimal(18,1) in part-1.csv; --type sets that of a text",
    );
    place.write("part-5.csv", "price;city\n7.0;Oslo\n");
    place.run("cat part-1.csv part-5.csv").fails_with(2, "part-5.csv: column 1 is 'price'");
    let by_name = place.run("cat part-1.csv part-5.csv --union-by-name").text();
    assert_eq!(by_name, "city,price\nOslo,1.0\nBergen,2.0\nOslo,7.0\n");
    let filled = place.run("head part-1.csv part-3.csv --union-by-name --format csv").text();
    assert_eq!(filled, "city,price,cost\nOslo,1.0,\nBergen,2.0,\nOslo,,1.0\n");
    let schema = place.run("schema part-1.csv part-3.csv --union-by-name --json").text();
    assert!(schema.contains("\"cost\", \"type\": \"decimal(18,1)\", \"nullable\": true"), "{schema}");
}

#[test]
fn bad_rows_are_named_by_file_and_line() {
    let place = parts();
    place.write("part-2.csv", "city;price\nVoss;3.0\nOslo;4.0\nOslo\nVoss;x\n");
    let message = "part-2.csv: line 4, byte 29";
    let schema = "--schema city:string,price:decimal(1)";
    place.run(&format!("convert part-*.csv all.buren {schema}")).fails_with(3, message);
    place.run(&format!("query part-*.csv {schema}")).fails_with(3, message);
    place.run(&format!("convert part-*.csv all.buren {schema} --rejects bad.tsv")).ok();
    let rejects = String::from_utf8(place.read("bad.tsv")).unwrap();
    let rejects: Vec<_> = rejects.lines().map(|line| line.split('\t').collect::<Vec<_>>()).collect();
    assert_eq!(rejects[0], ["file", "line", "byte", "column", "reason", "row"]);
    assert_eq!(rejects[1][..3], ["part-2.csv", "4", "29"]);
    assert_eq!((rejects[2][0], rejects[2][1], rejects[2][5]), ("part-2.csv", "5", "Voss;x"));
    assert_eq!(place.run("cat all.buren").text(), ROWS);
}

/// Files with an unknown number of splits.
#[test]
fn streams_can_be_combined_with_files() {
    let place = Place::new();
    let mut expected = String::new();
    for file in 0..4 {
        let rows: String =
            (0..300_000 * (file % 2) + 3).map(|row| format!("city {};{row}.{file}\n", row % 100)).collect();
        place.write(&format!("s{file}.txt"), &rows);
        expected.push_str(&rows);
    }
    place.shell("gzip s0.txt s1.txt s3.txt").ok();
    let written = format!("a,b\n{}", expected.replace(';', ","));
    for threads in [1, 2, 5] {
        let text = place.run(&format!("cat s*.txt* --schema a:string,b:decimal(1) --threads {threads}")).ok();
        assert!(text == written.as_bytes(), "{threads} threads");
    }
    let all = "--schema a:string,b:decimal(1) --by  --agg count(),sum(b) --format csv";
    place.write("all.txt", &expected);
    let options: Vec<_> = all.split(' ').collect();
    let of_all = place.run_of(&[&["query", "all.txt"], &options[..]].concat()).text();
    assert_eq!(place.run_of(&[&["query", "s*.txt*"], &options[..]].concat()).text(), of_all);
    place.run("convert s*.txt* s.buren --schema a:string,b:decimal(1) --row-group 64k").ok();
    assert!(place.run("cat s.buren").ok() == written.as_bytes());
}

#[test]
fn files_of_one_table_share_their_inferred_types() {
    let place = Place::new();
    place.write("1.csv", "id,price,day,note\n1,2,2024-01-31,7\n2,3,2024-02-29,8\n");
    place.write("2.csv", "id,price,day,note\n3,2.5,2024-03-01,soon\n4,,2024-03-02,9\n");
    // The value that widens the column comes after the range that is sampled on opening.
    let rows: String = (0..60_000).map(|row| format!("{row},{},2024-04-01,1\n", row % 90)).collect();
    place.write("3.csv", format!("id,price,day,note\n{rows}5,0.125,2024-04-01 12:00:00,1\n"));
    let types = ["int64", "decimal(18,3)", "timestamp(s)", "string"];
    let query = ["--by", "", "--agg", "count(),sum(id),sum(price),min(day),max(note)", "--format", "csv"];
    let sum: u64 = (0..60_000).map(|row| row % 90).sum();
    let ids: u64 = (0..60_000u64).sum::<u64>() + 15;
    for files in [["1.csv", "2.csv", "3.csv"], ["3.csv", "2.csv", "1.csv"]] {
        for threads in ["1", "3"] {
            place.run(&format!("convert {} all.buren --force --threads {threads}", files.join(" "))).ok();
            let schema = place.run("schema all.buren").text();
            assert!(types.iter().all(|name| schema.contains(name)), "{schema}");
            let expected = format!(
                "count(),sum(id),sum(price),min(day),max(note)\n60005,{ids},{sum_and}.625,2024-01-31 00:00:00,soon\n",
                sum_and = sum + 7
            );
            assert_eq!(place.run_of(&[&["query", "all.buren"][..], &query].concat()).text(), expected);
            assert_eq!(
                place.run_of(&[&["query"][..], &files, &query, &["--threads", threads]].concat()).text(),
                expected
            );
        }
    }
    let whole = ["1.csv", "2.csv", "3.csv"].map(|file| place.read(file)).map(|text| String::from_utf8(text).unwrap());
    let header = "id,price,day,note\n";
    place.write("whole.csv", header.to_owned() + &whole.map(|text| text.replace(header, "")).concat());
    place.run("convert 1.csv 2.csv 3.csv all.json --force").ok();
    place.run("convert whole.csv whole.json").ok();
    assert_eq!(place.read("all.json"), place.read("whole.json"));
}

/// The texts of four files; the third has no rows. The order of strings differs between files, and some strings occur
/// in one file only.
fn rows_of_files() -> [String; 4] {
    let mut files = [(); 4].map(|()| "city,kind,price,day,file_number\n".to_owned());
    for row in 0..40_000_u32 {
        let file = [0, 1, 3][(row / 5_000 % 3) as usize];
        let city = (row.wrapping_mul(2_654_435_761) >> 20) % 300 + file * 20;
        let kind = if row % 7 == 0 { String::new() } else { format!("kind {}", (row + file) % 5) };
        let price = (row % 1_000).wrapping_mul(37) % 1_000;
        let day = 1 + row / 1_600;
        files[file as usize] += &format!("city {city},{kind},{}.{},2024-01-{day:02},{file}\n", price / 10, price % 10);
    }
    files
}

#[test]
fn several_files_give_the_results_of_one() {
    let place = Place::new();
    let files = rows_of_files();
    let header = files[0].lines().next().unwrap_or_default();
    let rows: Vec<_> = files.iter().flat_map(|file| file.lines().skip(1)).collect();
    place.write("all.csv", format!("{header}\n{}\n", rows.join("\n")));
    let types =
        "city:string not null,kind:string,price:decimal(18,1) not null,day:date not null,file_number:int64 not null";
    for (number, file) in files.iter().enumerate() {
        let source = format!("part-{number}.csv");
        place.write(&source, file);
        for encoding in ["buren", "parquet"] {
            let target = format!("part-{number}.{encoding}");
            place.run_of(&["convert", &source, &target, "--schema", types]).ok();
        }
        let clustered = format!("by-kind-{number}.buren");
        place.run_of(&["convert", &source, &clustered, "--schema", types, "--key", "kind"]).ok();
    }
    for question in [
        "select city, count(*), min(price), sum(price) group by city",
        "select kind, day, count(*), max(price) where price > 50 group by kind, day",
        "select kind, count(*), sum(price) where price > 50 and city < 'city 2' and day >= '2024-01-09' group by kind",
        "select city, sum(price) where kind = 'kind 3' and price < 3 group by city",
        "select day, count(distinct city) where kind is null and price > 99 group by day",
        "select kind, max(city) where file_number = 3 and city <> 'city 77' group by kind",
        "select count(*), sum(price) where price > 1000",
        "select city, count(*) where length(city) = 6 and price > 20 and kind like '%2' group by city",
        "select city, kind, price, day where price = 99.9 and kind = 'kind 1' order by city, kind, day",
        "select * where price > 99.5 limit 20 offset 7",
        "select city where price > 99.8 and day < '2024-01-12' limit 8",
        "select price, file_number where kind = 'kind 1' and city < 'city 3' limit 9 offset 4",
        "select kind, day limit 12 offset 321",
    ] {
        let expected = place.run_of(&["query", "all.csv", question, "--format", "csv"]).text();
        for files in [
            "part-*.buren",
            "part-*.parquet",
            "by-kind-*.buren",
            "by-kind-0.buren part-1.csv part-2.parquet by-kind-3.buren",
            "part-0.buren part-1.csv part-2.buren part-3.parquet",
            "part-0.csv part-2.buren part-3.buren part-1.parquet",
        ] {
            let files: Vec<_> = files.split(' ').collect();
            for options in
                [&["--threads", "1"][..], &["--threads", "3"], &["--no-statistics"], &["--file-name", "file"]]
            {
                let columns = if options[0] == "--file-name" {
                    question.replace('*', "* exclude (file)")
                } else {
                    question.to_owned()
                };
                let asked = if question.starts_with("select *") { columns.as_str() } else { question };
                let arguments = [&["query"][..], &files, &[asked, "--format", "csv"], options].concat();
                assert_eq!(place.run_of(&arguments).text(), expected, "{arguments:?}");
            }
        }
    }
    // The file name column is combined with other conditions.
    let of_file = "select kind, count(*) where file = 'part-3.buren' and price > 90 or city = 'city 5' group by kind";
    let same = "select kind, count(*) where file_number = 3 and price > 90 or city = 'city 5' group by kind";
    let expected = place.run_of(&["query", "all.csv", same, "--format", "csv"]).text();
    assert_eq!(
        place.run_of(&["query", "part-*.buren", of_file, "--file-name", "file", "--format", "csv"]).text(),
        expected
    );
    let both = "select kind, count(*) where file = 'part-3.buren' and price > 90 group by kind";
    let same = "select kind, count(*) where file_number = 3 and price > 90 group by kind";
    let expected = place.run_of(&["query", "all.csv", same, "--format", "csv"]).text();
    assert_eq!(
        place.run_of(&["query", "part-*.buren", both, "--file-name", "file", "--format", "csv"]).text(),
        expected
    );
}

/// Two texts that are inferred differently, and both as one text.
fn widened_texts(place: &Place, header: &str, rows: [&str; 2]) {
    for (number, rows) in rows.iter().enumerate() {
        place.write(&format!("{number}.csv"), format!("{header}\n{rows}"));
    }
    place.write("all.csv", format!("{header}\n{}", rows.concat()));
}

const WIDER: [&str; 2] =
    ["Oslo,2,1\nBergen,3,200\nOslo,,7\n", "Voss,2.5,12345678901234567890\nOslo,0.25,4\nOslo,-1.5,9\n"];

#[test]
fn files_converted_one_by_one_answer_as_their_texts_do() {
    let place = Place::new();
    widened_texts(&place, "city,price,quantity", WIDER);
    let questions = [
        "select city, count(*), count(price), sum(price), min(price), max(quantity) group by city",
        "select city, avg(price), sum(quantity) where price > 0.3 or quantity >= 7 group by city",
        "select * where price = 2.5",
        "select * where price < 0.255 order by price",
        "select city where not (price = 2) and quantity < 1000",
        "select distinct price where price in (3, -1.5) order by price",
        "select min(price), max(price), sum(price), max(quantity)",
        "select count(*) where price is null",
        "select * limit 3 offset 2",
    ];
    let encodings = ["buren", "parquet", "arrow", "avro", "capnp", "msgpack", "cbor", "bincode", "protobuf", "json"];
    let all = place.run("cat all.csv").text();
    for encoding in encodings {
        for number in 0..2 {
            place.run(&format!("convert {number}.csv {number}.{encoding} --to {encoding}")).ok();
        }
        let files = [format!("0.{encoding}"), format!("1.{encoding}")];
        assert_eq!(place.run(&format!("cat {}", files.join(" "))).text(), all, "{encoding}");
    }
    let schema = place.run("schema all.csv --json").text();
    for files in [["0.buren", "1.buren"], ["0.parquet", "1.parquet"], ["0.parquet", "1.arrow"]] {
        assert_eq!(place.run(&format!("schema {} --json", files.join(" "))).text(), schema);
    }
    let last = [["0.buren", "1.buren"], ["0.parquet", "1.arrow"], ["0.csv", "1.buren"], ["0.buren", "1.csv"]];
    for question in questions {
        let expected = place.run_of(&["query", "all.csv", question, "--format", "csv"]).text();
        for files in last {
            for options in [&["--threads", "1"][..], &["--threads", "3"], &["--no-statistics"], &["--union-by-name"]] {
                let arguments = [&["query"][..], &files, &[question, "--format", "csv"], options].concat();
                assert_eq!(place.run_of(&arguments).text(), expected, "{arguments:?}");
            }
        }
    }
    for files in last {
        place.run(&format!("convert {} out.parquet --force", files.join(" "))).ok();
        assert_eq!(place.run("cat out.parquet").text(), all, "{files:?}");
    }
    place.run("convert 0.buren 1.buren one.buren").ok();
    assert_eq!(place.run("schema one.buren --json").text(), schema);
    for (number, year) in [(0, 2023), (1, 2024)] {
        std::fs::create_dir_all(place.path(&format!("years/year={year}"))).unwrap();
        place.run(&format!("convert {number}.csv years/year={year}/part.buren")).ok();
    }
    let by_year = ["query", "years", "select year, sum(price) group by year", "--format", "csv"];
    assert_eq!(place.run_of(&by_year).text(), "year,sum(price)\n2023,5.00\n2024,1.25\n");
}

#[test]
fn floats_times_and_nulls_are_widened_where_values_are_known() {
    let place = Place::new();
    let rows = ["1,2024-01-31,,1\n2.5,2024-02-29,,2\n", "1e-3,2024-03-01 12:00:00,5,\n1e5,2024-03-02 00:00:00.5,7,x\n"];
    widened_texts(&place, "ratio,day,note,name", rows);
    let all = place.run("cat all.csv").text();
    for encoding in ["buren", "parquet", "arrow"] {
        for number in 0..2 {
            place.run(&format!("convert {number}.csv {number}.{encoding}")).ok();
        }
    }
    let cast = "brc query can cast it in one of them, and --output saves that";
    let name = "column 'name' is of type string, but int64 in";
    place.run("cat 0.buren 1.buren").fails_with(2, &format!("1.buren: {name} 0.buren; {cast}"));
    for number in 0..2 {
        place.run(&format!("convert {number}.csv {number}.buren --force --type name=string")).ok();
        place.run(&format!("convert {number}.csv {number}.parquet --force --type name=string")).ok();
    }
    for files in ["0.buren 1.buren", "0.parquet 1.parquet"] {
        assert_eq!(place.run(&format!("cat {files}")).text(), all);
    }
    // Arrow files have no statistics.
    let ratio = "column 'ratio' is of type float64, but decimal(18,1) in";
    place.run("cat 0.arrow 1.arrow").fails_with(2, &format!("1.arrow: {ratio} 0.arrow; {cast}"));
}

/// Files that a condition rules out count as skipped, whether or not their encoding stores the rows of each part.
#[test]
fn files_that_a_condition_rules_out_are_not_missed() {
    let place = Place::new();
    place.write("s.csv", "id,k\n1,a\n2,a\n3,b\n");
    for encoding in
        ["buren", "parquet", "arrow", "avro", "capnp", "protobuf", "bincode", "msgpack", "cbor", "json", "csv"]
    {
        place.run(&format!("convert s.csv {encoding} --partition-by k --to {encoding}")).ok();
        let rows = place.run_of(&["cat", encoding, "--where", "k = 'a'", "--to", "csv"]).text();
        assert_eq!(rows, "id,k\n1,a\n2,a\n", "{encoding}");
        let none = place.run_of(&["query", encoding, "select id where false", "--format", "csv"]).text();
        assert_eq!(none, "id\n", "{encoding}");
    }
}

/// The rows of a text are read before its columns without values get the types of other files.
#[test]
fn columns_without_values_take_the_types_of_other_files() {
    let place = Place::new();
    place.write("a.csv", "id,d,b\n1,2024-01-01,true\n");
    for typed in ["a.parquet", "a.buren", "a.arrow"] {
        place.run(&format!("convert a.csv {typed}")).ok();
        for (name, text, rows) in [
            ("header.csv", "id,d,b\n", ""),
            ("nulls.csv", "id,d,b\n,,\n,,\n", ",,\n,,\n"),
            ("nulls.json", "{\"id\":null,\"d\":null,\"b\":null}\n", ",,\n"),
            ("late.csv", &format!("id,d,b\n{}2,2024-01-02,false\n", ",,\n".repeat(100_000)), "late"),
        ] {
            place.write(name, text);
            let late = format!("{}2,2024-01-02,false\n", ",,\n".repeat(100_000));
            let rows = if rows == "late" { &late } else { rows };
            let header = "id,d,b\n";
            let own = "1,2024-01-01,true\n";
            let answer = place.run(&format!("cat {typed} {name} --format csv")).text();
            assert!(answer == format!("{header}{own}{rows}"), "{typed} {name}");
            let answer = place.run(&format!("cat {name} {typed} --format csv --threads 2")).text();
            assert!(answer == format!("{header}{rows}{own}"), "{name} {typed}");
            let select = "select sum(id) as n, max(d) as d where id = 1 and b and d < date '2024-01-02'";
            let answer = place.run_of(&["query", name, typed, select, "--format", "csv"]).text();
            assert_eq!(answer, "n,d\n1,2024-01-01\n", "{name} {typed}");
            place.run(&format!("convert {name} {typed} all.buren --force")).ok();
            let schema = place.run("schema all.buren").text();
            assert!(schema.contains("int64") && schema.contains("date") && schema.contains("bool"), "{schema}");
        }
        place.write("text.csv", format!("id,d,b\n{}x,,\n", ",,\n".repeat(100_000)));
        let mismatch = "text.csv: column 'id' is of type string, but int64 in";
        place.run(&format!("cat {typed} text.csv")).fails_with(2, mismatch);
    }
}

/// An empty file of text does not say which columns it has, and has no rows.
#[test]
fn empty_files_have_no_rows() {
    let place = Place::new();
    for (files, empty) in [
        (["a/1.json", "a/2.json"], ""),
        (["b/2.csv", "b/1.csv"], ""),
        (["c/1.csv", "c/2.csv"], "\n"),
        (["year=2024/1.csv", "year=2025/2.csv"], ""),
    ] {
        for file in files {
            std::fs::create_dir_all(place.path(file).parent().unwrap()).unwrap();
        }
        let text = if files[0].ends_with("json") { "{\"id\":1}\n" } else { "id\n1\n" };
        place.write(files[0], text);
        place.write(files[1], empty);
        for option in ["", "--union-by-name", "--file-name file"] {
            let [first, second] = files;
            let found = place.run(&format!("query {first} {second} --by id --agg count(*) --format csv {option}"));
            assert_eq!(found.text(), "id,count(*)\n1,1\n", "{files:?} {option}");
        }
        place.run(&format!("query {} {}", files[1], files[1])).fails_with(2, "columns");
    }
    assert_eq!(place.run("cat year=*/*.csv").text(), "id,year\n1,2024\n");
    place.shell("printf 'id\n1\n' | gzip > 1.csv.gz; gzip < /dev/null > 2.csv.gz").ok();
    assert_eq!(place.run("cat 1.csv.gz 2.csv.gz").text(), "id\n1\n");
    // A file that is cut off to nothing is no such file.
    place.run("convert 1.csv.gz 1.parquet").ok();
    place.write("2.parquet", "");
    place.run("cat 1.parquet 2.parquet").fails_with(4, "2.parquet");
}

#[test]
fn times_of_other_units_are_refused_with_the_reason() {
    let place = Place::new();
    place.write("t.csv", "t\n2024-01-01 00:00:00\n");
    for (unit, file) in [("ns", "n"), ("us", "u")] {
        for extension in ["arrow", "parquet"] {
            place.run(&format!("convert t.csv {file}.{extension} --type t=timestamp({unit})")).ok();
        }
    }
    assert_eq!(place.run("cat n.parquet u.parquet").text().lines().count(), 3);
    place
        .run("cat n.arrow u.arrow")
        .fails_with(2, "timestamp(ns) may not hold the years of both; brc query can cast it");
}

#[test]
fn files_that_write_their_values_differently_are_named() {
    let place = Place::new();
    place.write("0.csv", "id;p;d\n0;7;2024-02-01\n");
    place.write("1.csv", "id;p;d\n1;9.5;2024-03-01\n");
    place.write("2.csv", "id;p;d\n2;10,5;28/01/2024\n");
    let query = |files: &[&str], text: &str| place.run_of(&[&["query"], files, &[text]].concat()).stderr;
    let largest = "select max(p), max(d)";
    let several = "is text because its values are written in several ways";
    let numbers = format!("'p' {several}: '9.5' in 1.csv, but '10,5' in 2.csv\n");
    let dates = format!("'d' {several}: '2024-02-01' in 0.csv, but '28/01/2024' in 2.csv\n");
    assert_eq!(query(&["0.csv", "1.csv", "2.csv"], largest), format!("note: {numbers}note: {dates}"));
    assert!(query(&["1.csv", "2.csv"], "select avg(p)").ends_with(&numbers));
    assert_eq!(query(&["0.csv", "1.csv"], largest), "");
}
