//! Tests of Hive folders as tables.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use std::fs;

/// Sales of two years in folders, as text or in the given encoding.
fn sales(extension: &str) -> Place {
    let place = Place::new();
    for (folder, rows) in [
        ("year=2023/city=%C3%85l%2FB", "id;price\n1;1.5\n2;2.5\n"),
        ("year=2024/city=Oslo", "id;price\n3;3.5\n"),
        ("year=2024/city=__HIVE_DEFAULT_PARTITION__", "id;price\n4;4.0\n"),
    ] {
        fs::create_dir_all(place.path(&format!("sales/{folder}"))).unwrap();
        place.write("rows.csv", rows);
        let file = place.path(&format!("sales/{folder}/part-0.{extension}"));
        place.run_of(&["convert", "rows.csv", file.to_str().unwrap()]).ok();
    }
    fs::create_dir(place.path("sales/_temporary")).unwrap();
    for hidden in ["sales/_SUCCESS", "sales/.part-0.crc", "sales/_temporary/x.csv"] {
        place.write(hidden, "junk");
    }
    place
}

#[test]
fn folder_names_become_columns() {
    for extension in ["csv", "buren", "parquet", "json"] {
        let place = sales(extension);
        let all = "id,price,year,city\n1,1.5,2023,Ål/B\n2,2.5,2023,Ål/B\n3,3.5,2024,Oslo\n4,4.0,2024,\n";
        assert_eq!(place.run("cat sales").text(), all, "{extension}");
        assert_eq!(place.run("count sales").text(), "4\n");
        assert!(
            place.run("schema sales").text().contains(" year    int64           not null"),
            "{}",
            place.run("schema sales").text()
        );
        let glob = format!("sales/year=2024/*/*.{extension}");
        assert_eq!(place.run(&format!("cat {glob}")).text(), "id,price,city\n3,3.5,Oslo\n4,4.0,\n");
        assert_eq!(place.run(&format!("cat sales/year=*/**/*.{extension}")).text(), all);
        // A file that is named directly has no folder columns.
        assert_eq!(place.run(&format!("cat sales/year=2024/city=Oslo/part-0.{extension}")).text(), "id,price\n3,3.5\n");
        place.run("convert sales all.buren --force").ok();
        for (query, expected) in [
            ("select year, sum(price) from t group by year", "year,sum(price)\n2023,4.0\n2024,7.5\n"),
            ("select city, count(*) c group by city order by c, city", "city,c\nOslo,1\n,1\nÅl/B,2\n"),
            ("select id where year = 2024 and city is null", "id\n4\n"),
            (
                "select max(year), min(year), sum(year), count(city) c",
                "max(year),min(year),sum(year),c\n2024,2023,8094,3\n",
            ),
            ("select id where city <> 'Oslo'", "id\n1\n2\n"),
            ("select id where not (year > 2023)", "id\n1\n2\n"),
            ("select count(*) where year + 1 = 2025", "count(*)\n2\n"),
        ] {
            for table in ["sales", "all.buren"] {
                for options in [&["--threads", "1"][..], &["--threads", "3"], &["--no-statistics"]] {
                    let arguments = [&["query", table, query, "--format", "csv"], options].concat();
                    assert_eq!(place.run_of(&arguments).text(), expected, "{extension} {table} {query} {options:?}");
                }
            }
        }
        assert_eq!(
            place.run_of(&["query", "sales", "select count(*) c from sales", "--format", "csv"]).text(),
            "c\n4\n"
        );
        assert_eq!(place.run_of(&["query", "select count(*) c from 'sales'", "--format", "csv"]).text(), "c\n4\n");
    }
}

#[test]
fn files_whose_folder_does_not_match_are_not_read() {
    for extension in ["csv", "buren"] {
        let place = sales(extension);
        let file =
            |folder: &str| fs::metadata(place.path(&format!("sales/{folder}/part-0.{extension}"))).unwrap().len();
        let one = file("year=2024/city=Oslo");
        let query = "select sum(price) from t where city = 'Oslo'";
        let explained = place.run_of(&["query", "sales", query, "--explain", "--no-statistics"]);
        let read = explained.stderr.lines().find(|line| line.starts_with("bytes read")).unwrap().to_owned();
        let read: u64 = read.split_whitespace().nth(2).unwrap().parse().unwrap();
        assert!(read > 0 && read <= one, "{}", explained.stderr);
        // Files that are skipped may be damaged.
        let path = place.path(&format!("sales/year=2023/city=%C3%85l%2FB/part-0.{extension}"));
        let mut bytes = fs::read(&path).unwrap();
        match extension {
            "csv" => bytes.extend_from_slice(b"5;1;2;3;4\n"),
            _ => bytes[20] ^= 1,
        }
        fs::write(&path, bytes).unwrap();
        let query = "select sum(price) from t where year = 2024";
        assert_eq!(place.run_of(&["query", "sales", query, "--format", "csv"]).text(), "sum(price)\n7.5\n");
        let whole = place.run_of(&["query", "sales", "select sum(price * id) from t"]);
        assert_ne!(whole.code, Some(0), "{extension}");
    }
}

#[test]
fn folders_that_do_not_form_a_table_are_errors() {
    let place = sales("csv");
    fs::create_dir(place.path("empty")).unwrap();
    place
        .run("cat empty")
        .fails(2, "brc: empty: is a directory without files (names that begin with . or _ are ignored)");
    place.write("sales/year=2024/stray.csv", "id;price\n9;9.0\n");
    place.run("cat sales").fails(
        2,
        "brc: sales/year=2024/stray.csv: is in no folder 'city=…', but sales/year=2023/city=%C3%85l%2FB/part-0.csv is; \
         --union-by-name makes it null there",
    );
    let rows = place.run("cat sales --union-by-name").text();
    assert!(rows.ends_with("9,9.0,2024,\n"), "{rows}");
    fs::create_dir_all(place.path("twice/a=1/a=2")).unwrap();
    place.write("twice/a=1/a=2/x.csv", "b\n1\n");
    place.run("cat twice").fails(2, "brc: twice/a=1/a=2/x.csv: two folders are named 'a='");
    place.run("sort sales --by id --file-name year --union-by-name").fails_with(2, "--file-name year");
}

#[test]
fn the_folder_wins_over_a_column_of_the_file() {
    let place = Place::new();
    for month in ["01", "12"] {
        fs::create_dir_all(place.path(&format!("out/month={month}"))).unwrap();
        place.write(&format!("out/month={month}/x.csv"), "month;n\nJune;1\n");
    }
    assert_eq!(place.run("cat out").text(), "n,month\n1,1\n1,12\n");
}

#[test]
fn urls_without_support_give_advice() {
    let place = Place::new();
    for (scheme, rest, command) in [
        ("ftp", "example.org/a.csv", "curl -s 'ftp://example.org/a.csv'"),
        ("az", "bucket/a*.parquet", "azcopy copy 'az://bucket/a*.parquet' --from-to BlobPipe"),
    ] {
        let address = format!("{scheme}://{rest}");
        let hint = format!("brc does not read {scheme}:// addresses; download the file first");
        let message = format!("brc: {address}: {hint}: {command} | brc query - …");
        for start in ["query", "head", "convert", "sniff", "inspect"] {
            let rest = if start == "convert" { " out.buren" } else { "" };
            place.run(&format!("{start} {address}{rest}")).fails(2, &message);
        }
    }
}

/// The files of a directory, sorted.
fn files(place: &Place, directory: &str) -> Vec<String> {
    let (mut files, mut directories) = (Vec::new(), vec![place.path(directory)]);
    while let Some(at) = directories.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(place.path(directory)).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() { directories.push(path) } else { files.push(name) }
        }
    }
    files.sort();
    files
}

#[test]
fn partitions_are_written_and_read_back() {
    let place = Place::new();
    place.write(
        "in.csv",
        "id,city,price,day\n1,Oslo,1.5,2024-01-02\n2,Köln/Bonn,2.5,2024-01-01\n3,,3.5,2024-01-01\n4,Oslo,4.5,2024-01-02\n\
         5,Oslo,5.5,2024-01-01\n",
    );
    for (to, extension) in
        [("", "buren"), ("--to csv", "csv"), ("--to csv --compression gzip", "csv.gz"), ("--to parquet", "parquet")]
    {
        let outcome = place.run(&format!("convert in.csv out --partition-by city,day {to} --force"));
        assert!(outcome.stderr.starts_with("5 rows written in 4 partitions; "), "{}", outcome.stderr);
        outcome.ok();
        let folders = [
            "city=Köln%2FBonn/day=2024-01-01",
            "city=Oslo/day=2024-01-01",
            "city=Oslo/day=2024-01-02",
            "city=__HIVE_DEFAULT_PARTITION__/day=2024-01-01",
        ];
        assert_eq!(files(&place, "out"), folders.map(|folder| format!("{folder}/part-0.{extension}")));
        let rows = "id,price,city,day\n2,2.5,Köln/Bonn,2024-01-01\n5,5.5,Oslo,2024-01-01\n1,1.5,Oslo,2024-01-02\n\
                    4,4.5,Oslo,2024-01-02\n3,3.5,,2024-01-01\n";
        assert_eq!(place.run("cat out").text(), rows, "{extension}");
    }
    assert_eq!(place.names(), ["in.csv", "out"]);
}

/// A type, two of its values as a text has them, and their folders.
type Case = (&'static str, [&'static [u8]; 2], [&'static str; 2]);

#[test]
fn values_of_every_type_are_folder_names() {
    let place = Place::new();
    let uuids = ["123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174001"];
    let cases: [Case; 7] = [
        ("binary", [b"\xfe", b"\xff"], ["%FE", "%FF"]),
        ("string", [b"\xfe/", b"a"], ["%FE%2F", "a"]),
        ("uuid", uuids.map(str::as_bytes), uuids),
        ("bool", [b"false", b"true"], ["false", "true"]),
        ("time(ms)", [b"01:02:03.004", b"01:02:03.005"], ["01%3A02%3A03.004", "01%3A02%3A03.005"]),
        (
            "timestamp(s) with zone",
            [b"2024-01-02 03:04:05Z", b"2024-01-02 03:04:06Z"],
            ["2024-01-02 03%3A04%3A05Z", "2024-01-02 03%3A04%3A06Z"],
        ),
        ("decimal(4,1)", [b"-1.5", b"1.5"], ["-1.5", "1.5"]),
    ];
    for (logical_type, values, folders) in cases {
        let [first, second] = values;
        place.write("in.csv", [b"x,k\n1,", first, b"\n2,", second, b"\n"].concat());
        let schema = format!("x:int64,k:{logical_type}");
        place.run_of(&["convert", "in.csv", "in.buren", "--schema", &schema, "--force"]).ok();
        place.run("convert in.buren out --partition-by k --force").ok();
        assert_eq!(files(&place, "out"), folders.map(|folder| format!("k={folder}/part-0.buren")), "{logical_type}");
        assert_eq!(place.run("cat out").ok(), place.read("in.csv"), "{logical_type}");
    }
}

#[test]
fn what_is_left_out_of_partitions_is_reported() {
    let place = Place::new();
    let rows: String = (0..50).map(|row| format!("{},{row}\n", row % 3)).collect();
    place.write("in.csv", format!("k,n\n{rows}# a comment\n1,2,3\n1,50\n"));
    let outcome = place.run("convert in.csv out --partition-by k --ragged reject");
    for note in [
        "note: skipped 1 comment line (--comment sets the prefix, or none)",
        "note: rejected 1 row with the wrong number of columns",
    ] {
        assert!(outcome.stderr.lines().any(|line| line == note), "{note}: {}", outcome.stderr);
    }
    assert_eq!(place.run_of(&["query", "out", "select count(*) as n", "--format", "csv"]).text(), "n\n51\n");
}

#[test]
fn a_value_that_a_partition_cannot_hold_is_located() {
    let place = Place::new();
    let rows: String = (0..60_000).map(|row| format!("{},a long string\n", row % 2)).collect();
    place.write("in.csv", [format!("k,s\n{rows}").as_bytes(), b"1,caf\xe9\n"].concat());
    place
        .run("convert in.csv out --partition-by k --to json --memory 1M")
        .fails_with(3, "k=1/part-0.json: row 30001, column 's': json cannot hold 'caf\\xe9', which is not UTF-8");
    assert!(!place.path("out").exists());
}

#[test]
fn rows_of_a_partition_keep_their_order() {
    let place = Place::new();
    let mut text = String::from("n,name,k\n");
    for n in 0..60_000u32 {
        text += &format!("{n},name {},{}\n", n % 977, n.wrapping_mul(2_654_435_761) >> 8 & 31);
    }
    place.write("in.csv", text);
    let expected = place.run_of(&["query", "in.csv", "select n, name, k order by k, n", "--format", "csv"]).text();
    for options in ["--threads 1", "--threads 3", "--threads 2 --memory 1M"] {
        place.run(&format!("convert in.csv out --partition-by k --force {options}")).ok();
        assert_eq!(files(&place, "out").len(), 32);
        let read = place.run_of(&["query", "out", "select n, name, k order by k, n", "--format", "csv"]).text();
        assert!(read == expected, "{options}");
        let mut last: Option<(u64, u64)> = None;
        for line in place.run("cat out --columns k,n --threads 1").text().lines().skip(1) {
            let (k, n) = line.split_once(',').unwrap();
            let (k, n): (u64, u64) = (k.parse().unwrap(), n.parse().unwrap());
            assert!(last.is_none_or(|(last_k, last_n)| last_k != k || last_n < n), "{options}: {k} {n}");
            last = Some((k, n));
        }
    }
}

/// A file written into a directory of inputs would be read with them the next time, so that rows count twice.
#[test]
fn outputs_in_the_directory_of_the_inputs_are_refused() {
    let place = Place::new();
    fs::create_dir_all(place.path("g/below")).unwrap();
    place.write("g/a.csv", "n,x\n1,2\n");
    place.write("g/below/b.csv", "n,x\n3,4\n");
    std::os::unix::fs::symlink("g/below", place.path("link")).unwrap();
    let run = |words: &str, output: &str| {
        let reason = "it would be one of the inputs next time: write it outside";
        place.run(words).fails(2, &format!("brc: {output}: {reason} 'g'"));
    };
    for output in ["g/all.buren", "./g/below/all.buren", "link/all.buren"] {
        run(&format!("convert g {output}"), output);
        run(&format!("convert g {output} --append"), output);
        run(&format!("cat g -o {output}"), output);
        run(&format!("cat g --limit 1 -o {output}"), output);
        run(&format!("query g --by n --agg sum(x) -o {output}"), output);
    }
    run("convert g g/out --partition-by n", "g/out");
    run("convert g all.buren --rejects g/bad.tsv", "g/bad.tsv");
    // These are not read.
    place.run("convert g g/_all.buren").ok();
    place.run("convert g g/below/.all.buren").ok();
    fs::create_dir(place.path("g/_out")).unwrap();
    place.run("convert g g/_out/all.buren").ok();
    place.run("convert g all.buren").ok();
    place.run("convert g/a.csv g/a.buren").ok();
    assert_eq!(place.run("count all.buren").text(), "2\n");
}

#[test]
fn a_failed_directory_leaves_the_old_one() {
    let place = Place::new();
    place.write("in.csv", "a,b\n1,2\n3,4\n");
    place.run("convert in.csv out --partition-by a").ok();
    place.run("convert in.csv out --partition-by a").fails(2, "brc: out: already exists (--force replaces it)");
    place.write("bad.csv", "a,b\n1,2\n3,4,5\n");
    place.run("convert bad.csv out --partition-by a --force --schema a:int64,b:int64").fails_with(3, "bad.csv");
    assert_eq!(place.run("cat out").text(), "b,a\n2,1\n4,3\n");
    let many: String = (0..10_001).map(|n| format!("{n},1\n")).collect();
    place.write("many.csv", format!("a,b\n{many}"));
    place
        .run("convert many.csv out --partition-by a --force --no-sync")
        .fails(2, "brc: --partition-by: a has more than 10000 values; choose columns with fewer values");
    assert_eq!(place.run("cat out").text(), "b,a\n2,1\n4,3\n");
    place.run("convert out out --partition-by a --force").fails(2, "brc: out: an input lies in the output");
    place.write("out/notes.txt", "precious");
    place.run("convert in.csv out --partition-by a --force").fails_with(2, "holds 'notes.txt'");
    for (by, message) in [
        ("x", "unknown column 'x' (columns: a, b)"),
        ("a,b", "at least one column must remain besides those to partition by"),
    ] {
        place.run(&format!("convert in.csv new --partition-by {by}")).fails(2, &format!("brc: {message}"));
    }
    place.run("convert in.csv - --partition-by a").fails_with(2, "writes a directory");
    assert_eq!(place.names(), ["bad.csv", "in.csv", "many.csv", "out"]);
}

#[test]
fn a_folder_is_inspected_as_a_table_and_file_by_file() {
    let place = sales("csv");
    let sniffed = place.run("sniff sales").text();
    let first = "files                3            what follows is of sales/year=2023/city=%C3%85l%2FB/part-0.csv\n";
    assert!(sniffed.starts_with(first), "{sniffed}");
    for line in ["delimiter            ','", " year    int64           not null", "  4     4.0   2024   null"] {
        assert!(sniffed.contains(line), "{line}: {sniffed}");
    }
    assert_eq!(
        place.run("sniff sales --schema --all").text(),
        "id:int64,price:decimal(18,1),year:int64 not null,city:string\n"
    );
    place.write("sales/year=2024/city=Oslo/part-0.csv", "id;price\n3;3.5\n");
    let sniffed = place.run("sniff sales").text();
    let other = "note: sales/year=2024/city=Oslo/part-0.csv: csv, delimiter ';', quote '\"', header, line end LF, charset raw\n";
    assert!(sniffed.contains(other), "{sniffed}");

    let place = sales("buren");
    let inspected = place.run("inspect sales").text();
    assert_eq!(inspected.matches("\nencoding     buren\n").count(), 3, "{inspected}");
    assert!(inspected.contains("sales: 3 files, 4 rows, "), "{inspected}");
    let json = place.run("inspect sales --json").text();
    assert!(json.starts_with("[\n{\n  \"file\": \"sales/year=2023/") && json.ends_with("}\n]\n"), "{json}");
    assert!(!place.run("inspect sales/year=2024/city=Oslo/part-0.buren").text().contains("file "));
    let verified = place.run("verify sales").text();
    assert_eq!(verified.lines().count(), 4, "{verified}");
    assert!(verified.lines().last().unwrap().starts_with("sales: 3 files OK (4 rows, "), "{verified}");
    let damaged = "sales/year=2024/city=Oslo/part-0.buren";
    let mut bytes = place.read(damaged);
    bytes[40] ^= 1;
    place.write(damaged, bytes);
    let outcome = place.run("verify sales none.buren");
    assert_eq!(outcome.code, Some(4), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(&format!("{damaged}: corrupt file")), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("none.buren: cannot open"), "{}", outcome.stderr);
    let printed = String::from_utf8(outcome.stdout).unwrap();
    assert!(printed.contains("\nsales: 2 of 3 files OK (3 rows, "), "{printed}");
    place.write(damaged, "junk");
    let outcome = place.run("inspect sales");
    assert_ne!(outcome.code, Some(0));
    let printed = String::from_utf8(outcome.stdout).unwrap();
    assert!(printed.contains("sales: 3 files, 3 rows, ") && printed.contains(", 1 not readable\n"), "{printed}");
}

#[test]
fn a_folder_is_compared_as_one_table() {
    for extension in ["csv", "parquet"] {
        let place = sales(extension);
        let quick = "--encodings buren,csv --compressions none --runs 1 --convert-runs 1 --warmup 0";
        let query = ["--by", "city", "--agg", "sum(year),count(*)"];
        let compare: Vec<&str> =
            ["compare", "sales", "--out", "out"].into_iter().chain(quick.split(' ')).chain(query).collect();
        let outcome = place.run_of(&compare);
        assert!(outcome.stderr.is_empty() || outcome.code == Some(0), "{}", outcome.stderr);
        let report = outcome.text();
        assert!(report.contains("sales") && report.contains("4 rows"), "{report}");
        // Results are reused until a file changes.
        let again = place.run_of(&compare);
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        place.write("sales/year=2023/city=%C3%85l%2FB/more.csv", "id,price\n9,9.5\n");
        let changed = place.run_of(&compare);
        changed.fails_with(2, "sales changed");
    }
}

#[test]
fn what_links_lead_to_is_read_once_and_pipes_are_skipped() {
    let place = Place::new();
    place.shell("mkdir -p t/a/b o/p; ln -s ../o t/link; ln -s ../../t t/a/up; ln -s a t/latest; ln -s . o/self; mkfifo t/pipe").ok();
    for (name, rows) in
        [("t/1.csv", "1"), ("t/a/2.csv", "2"), ("t/a/b/3.csv", "3"), ("o/4.csv", "4"), ("o/p/5.csv", "5")]
    {
        place.write(name, format!("n\n{rows}\n"));
    }
    for input in ["t", "t/**/*.csv"] {
        let found = place.run_of(&["query", input, "select count(*) as n, sum(n) as s", "--format", "csv"]);
        assert_eq!(found.text(), "n,s\n5,15\n", "{input}");
    }
    place.shell("mkdir -p u/.store/v1; ln -s .store/v1 u/current; ln -s ../o/p u/a; ln -s ../o u/b").ok();
    place.write("u/.store/v1/6.csv", "n\n6\n");
    for input in ["u", "u/**/*.csv", "./*u/**/*.csv"] {
        let found = place.run_of(&["query", input, "select count(*) as n, sum(n) as s", "--format", "csv"]);
        assert_eq!(found.text(), "n,s\n3,15\n", "{input}");
    }
    place.shell("ln -s 1.csv t/latest.csv; mkdir f; ln -s ../t/1.csv f/a.csv; ln -s ../t/1.csv f/b.csv").ok();
    // The same rows with other values of a column are other rows.
    place.shell("mkdir -p h/k=1 h/k=2; ln -s ../../t/1.csv h/k=1/p.csv; ln -s ../../t/1.csv h/k=2/p.csv").ok();
    for (input, expected) in [("t", "n,s\n5,15\n"), ("f", "n,s\n1,1\n"), ("h", "n,s\n2,2\n")] {
        let found = place.run_of(&["query", input, "select count(*) as n, sum(n) as s", "--format", "csv"]);
        assert_eq!(found.text(), expected, "links to files in {input}");
    }
}

#[test]
fn columns_without_a_type_take_that_of_other_files() {
    let place = Place::new();
    let untyped = |name: &str| {
        fs::copy(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR")), place.path(name)).unwrap();
    };
    untyped("untyped.parquet");
    untyped("untyped.arrow");
    place.write("typed.csv", "id,note\n3,5\n");
    place.run("convert typed.csv typed.parquet").ok();
    for untyped in ["untyped.parquet", "untyped.arrow"] {
        for files in [[untyped, "typed.parquet"], ["typed.parquet", untyped]] {
            let found =
                place.run_of(&["query", files[0], files[1], "select sum(note) as s, count(*) as n", "--format", "csv"]);
            assert_eq!(found.text(), "s,n\n5,2\n", "{files:?}");
        }
    }
}

#[test]
fn a_file_without_a_header_among_others_has_a_remedy() {
    let place = Place::new();
    place.write("a.csv", "id,name\n1,a\n2,b\n");
    place.write("b.csv", "3,c\n4,d\n");
    place.run_of(&["query", "a.csv", "b.csv", "select id"]).fails_with(2, "--names gives both the same names");
    let named = ["query", "a.csv", "b.csv", "select count(*) as n", "--names", "id,name", "--format", "csv"];
    assert_eq!(place.run_of(&named).text(), "n\n4\n");
}
