//! Tests of common workflows: generate a table, convert it, query it, convert it back.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

/// Stations in an order that is neither that of names nor of values.
const SMALL: &str = "Hamburg;12.0\nAbha;-0.1\nHamburg;8.9\nAbha;0.2\nHamburg;34.2\nSão Paulo;0.0\n";
const SMALL_ANSWER: &str = "{Abha=-0.1/0.1/0.2, Hamburg=8.9/18.4/34.2, São Paulo=0.0/0.0/0.0}\n";

#[test]
fn a_table_is_generated_converted_queried_and_converted_back() {
    let place = Place::new();
    place.run("generate m.txt --rows 100_000").ok();
    let outcome = place.run("convert m.txt m.buren");
    assert!(outcome.stderr.starts_with("100,000 rows written, 0 rejected; "), "{}", outcome.stderr);
    outcome.ok();
    let answer = place.run("query m.txt").text();
    assert!(answer.starts_with("{Abha=") && answer.ends_with("}\n"));
    assert_eq!(answer.matches('=').count(), 413);
    assert_eq!(place.run("query m.buren").text(), answer);
    assert_eq!(place.run("query m.buren --no-statistics").text(), answer);
    place.run("convert m.buren back.txt").ok();
    assert!(place.read("back.txt") == place.read("m.txt"));
    assert!(place.read("m.buren").len() < place.read("m.txt").len() / 4);
    assert_eq!(place.names(), ["back.txt", "m.buren", "m.txt"]);
}

/// A seed gives the same bytes in all versions.
#[test]
fn the_bytes_of_a_seed_are_pinned() {
    let place = Place::new();
    let text = place.run("generate - --rows 5 --seed 42").text();
    assert_eq!(text, "Los Angeles;24.5\nIfrane;5.3\nBerlin;-3.6\nManama;2.0\nAtlanta;8.0\n");
    let text = place.run("generate - --rows 5 --seed 42 --preset 1brc-10k --stations 20").text();
    assert_eq!(text, "Еж;37.3\nÄk;-6.0\nÌ;14.8\nЕж;8.1\nE;15.2\n");
}

#[test]
fn every_encoding_gives_the_same_results() {
    let place = Place::new();
    place.write("t.txt", SMALL);
    place.run("convert t.txt t.buren").ok();
    place.run("convert t.buren again.buren --compression lz4").ok();
    place
        .run("convert t.txt tabs.csv --delimiter tab --schema station:string,temperature:decimal(1)")
        .fails_with(3, "line 1");
    for file in ["t.txt", "t.buren", "again.buren"] {
        assert_eq!(place.run(&format!("query {file}")).text(), SMALL_ANSWER);
        let count = place.run_of(&[
            "query",
            file,
            "--where",
            "temperature > 0.1 and station != 'Abha'",
            "--agg",
            "count()",
            "--format",
            "csv",
        ]);
        assert_eq!(count.text(), "station,count()\nHamburg,3\n");
    }
}

#[test]
fn an_empty_file_needs_a_schema() {
    const SCHEMA: &str = "--schema station:string,temperature:decimal(1)";
    let place = Place::new();
    for (name, text) in [("t.txt", ""), ("blank.csv", "\n\n"), ("mark.csv", "\u{feff}")] {
        place.write(name, text);
        place.run(&format!("query {name}")).fails_with(2, "no columns");
        place.run(&format!("convert {name} t.buren")).fails_with(2, "no columns");
    }
    assert_eq!(place.run(&format!("query t.txt {SCHEMA}")).text(), "{}\n");
    place.run(&format!("convert t.txt t.buren {SCHEMA}")).ok();
    assert_eq!(place.run("query t.buren").text(), "{}\n");
    place.run("convert t.buren back.txt").ok();
    assert_eq!(place.read("back.txt"), b"");
    place.run("generate none.txt --rows 0").ok();
    assert_eq!(place.read("none.txt"), b"");
    let count = ["query", "t.buren", "--by", "", "--agg", "count(),max(temperature)", "--format", "json"];
    assert_eq!(place.run_of(&count).text(), "{\"count()\":0,\"max(temperature)\":null}\n");
}

#[test]
fn results_come_in_four_formats() {
    let place = Place::new();
    place.write("t.txt", "b,\"x\";1.0\na;-2.5\n");
    let ask = |format: &str| place.run_of(&["query", "t.txt", "--format", format, "--agg", "sum(temperature),count()"]);
    assert_eq!(ask("csv").text(), "station,sum(temperature),count()\na,-2.5,1\n\"b,\"\"x\"\"\",1.0,1\n");
    assert_eq!(
        ask("json").text(),
        "{\"station\":\"a\",\"sum(temperature)\":-2.5,\"count()\":1}\n\
         {\"station\":\"b,\\\"x\\\"\",\"sum(temperature)\":1.0,\"count()\":1}\n"
    );
    let table = " station   sum(temperature)   count()\n──────────────────────────────────────\n \
                 a                     -2.5         1\n b,\"x\"                  1.0         1\n";
    assert_eq!(ask("table").text(), table);
    ask("1brc").fails_with(2, "min, mean and max of one column");
    assert_eq!(place.run("query t.txt --format 1brc").text(), "{a=-2.5/-2.5/-2.5, b,\"x\"=1.0/1.0/1.0}\n");
}

#[test]
fn names_that_are_not_utf_8_keep_their_bytes() {
    let place = Place::new();
    let text = b"K\xf6ln;1.0\nBonn;2.0\n";
    place.write("t.txt", text);
    place.run("convert t.txt t.buren").ok();
    for file in ["t.txt", "t.buren"] {
        assert_eq!(place.run(&format!("query {file}")).ok(), b"{Bonn=2.0/2.0/2.0, K\xf6ln=1.0/1.0/1.0}\n");
        let csv = place.run(&format!("query {file} --format csv --agg count()"));
        assert_eq!(csv.ok(), b"station,count()\nBonn,1\nK\xf6ln,1\n");
        assert!(place.run(&format!("query {file} --format table")).text().contains("K\\xf6ln"));
        place.run(&format!("query {file} --format json")).fails_with(2, "K\\xf6ln");
    }
    place.run("convert t.buren back.txt").ok();
    assert_eq!(place.read("back.txt"), text);
}

#[test]
fn output_does_not_depend_on_the_number_of_threads() {
    let place = Place::new();
    for preset in ["1brc", "1brc-10k"] {
        place.run(&format!("generate t.txt --force --preset {preset} --rows 120k --seed 7 --threads 1")).ok();
        let text = place.read("t.txt");
        place.run("convert t.txt t.buren --force --threads 1 --row-group 64k").ok();
        let buren = place.read("t.buren");
        let answer = place.run("query t.txt --threads 1").ok();
        for threads in 2..=16 {
            let made =
                place.run(&format!("generate - --preset {preset} --rows 120k --seed 7 --threads {threads}")).ok();
            assert!(made == text, "{threads} threads");
            place.run(&format!("convert t.txt n.buren --force --no-sync --row-group 64k --threads {threads}")).ok();
            assert!(place.read("n.buren") == buren, "{threads} threads");
            place.run(&format!("convert t.buren n.txt --force --no-sync --threads {threads}")).ok();
            assert!(place.read("n.txt") == text, "{threads} threads");
            assert_eq!(place.run(&format!("query t.buren --no-statistics --threads {threads}")).ok(), answer);
        }
    }
}

#[test]
fn a_pipe_works_like_a_file() {
    let place = Place::new();
    place.run("generate t.txt --rows 50k").ok();
    place.run("convert t.txt t.buren --row-group 64k").ok();
    let (text, buren) = (place.read("t.txt"), place.read("t.buren"));
    assert!(place.pipe("convert - - --to buren --row-group 64k", &text).ok() == buren);
    assert!(place.pipe("convert - - --to csv", &buren).ok() == text);
    let answer = place.run("query t.txt").text();
    assert_eq!(place.pipe("query -", &text).text(), answer);
    assert_eq!(place.pipe("query -", &buren).text(), answer);
    assert_eq!(place.shell("$BRC query - < t.buren").text(), answer);
    assert_eq!(place.shell("mkfifo f; cat t.txt > f & $BRC query f").text(), answer);
    assert!(
        place.shell("mkfifo g; cat g > copy & $BRC convert t.txt g --to buren --row-group 64k; wait").code == Some(0)
    );
    assert!(place.read("copy") == buren);
    // Another process has read the beginning.
    assert_eq!(
        place.shell("{ read line; $BRC query - --by '' --agg 'count()' --format csv; } < t.txt").text().lines().count(),
        2
    );
}

#[test]
fn a_closed_output_pipe_is_not_a_failure() {
    let place = Place::new();
    let outcome = place.shell("{ $BRC generate - --rows 10M; echo $? > code; } | head -n 1 | wc -l");
    assert_eq!(place.read("code"), b"0\n");
    assert_eq!(outcome.stderr, "");
    assert_eq!(outcome.text().trim(), "1");
    let outcome =
        place.shell("$BRC generate t.txt --rows 10k; { $BRC convert t.txt - --to csv; echo $? > code; } | true");
    assert_eq!((place.read("code"), outcome.code), (b"0\n".to_vec(), Some(0)));
    // But a corrupt file is one, whoever reads about the others.
    place.shell(
        "$BRC convert t.txt good.buren; head -c 5000 good.buren > cut.buren; mkdir d; cp cut.buren good.buren d",
    );
    for words in ["verify cut.buren good.buren", "inspect d"] {
        place.shell(&format!("{{ sleep 0.1; $BRC {words}; echo $? > code; }} | true"));
        assert_eq!(place.read("code"), b"4\n", "{words}");
    }
}

#[test]
fn tables_may_have_other_columns() {
    let place = Place::new();
    place.write("visits.tsv", "10.0.0.1\t3\t1.25\n10.0.0.2\t4\t-0.5\n10.0.0.1\t5\t2\n");
    let schema = "--delimiter tab --schema ip:string,visits:int,revenue:decimal(2)";
    place.run(&format!("convert visits.tsv v.buren {schema} --from csv")).ok();
    let answer = "ip,sum(revenue),max(visits)\n10.0.0.1,3.25,5\n10.0.0.2,-0.50,4\n";
    let question = "--agg sum(revenue),max(visits) --format csv";
    assert_eq!(place.run(&format!("query visits.tsv {schema} {question} --from csv")).text(), answer);
    assert_eq!(place.run(&format!("query v.buren {question}")).text(), answer);
    place
        .run("query v.buren --schema a:int")
        .fails_with(2, "its columns are ip:string,visits:int64,revenue:decimal(18,2)");
    place
        .run("convert v.buren v2.buren --key visitors")
        .fails_with(2, "there is no column 'visitors' to cluster by (columns: ip, visits, revenue)");
    assert!(!place.path("v2.buren").exists());
}

#[test]
fn any_table_can_be_clustered_by_a_key() {
    let place = Place::new();
    let row = |row: u32| match row % 7 {
        0 => format!("{row},,2020-01-02,0.5\n"),
        shop => format!("{row},shop {shop},2020-01-{:02},{}.25\n", 1 + row % 28, row * 31 % 1000),
    };
    place.write("s.csv", &("id,shop,day,price\n".to_owned() + &(0..5000).map(row).collect::<String>()));
    let question = "select shop, count(*), sum(price), min(day), first(id), last(id) group by shop";
    let ask = |file: &str| place.run_of(&["query", file, question, "--format", "csv"]).text();
    let (answer, rows) = (ask("s.csv"), place.run("cat s.csv --to csv").text());
    for key in ["shop", "day", "none"] {
        let converted = place.run(&format!("convert s.csv {key}.buren --key {key}"));
        assert!(!converted.stderr.contains("--key"), "{}", converted.stderr);
        converted.ok();
        assert_eq!(ask(&format!("{key}.buren")), answer);
        assert_eq!(place.run(&format!("cat {key}.buren --to csv")).text(), rows);
        place.run(&format!("verify {key}.buren")).ok();
        let described = place.run(&format!("inspect {key}.buren --json")).text();
        assert_eq!(described.contains(&format!("\"cluster_key\": \"{key}\"")), key != "none");
    }
    let note = "--key has no effect: 'price' has fewer than 16 rows per value in every row group";
    let converted = place.run("convert s.csv price.buren --key price");
    assert!(converted.stderr.contains(note), "{}", converted.stderr);
    converted.ok();
    let appended = place.run("convert s.csv shop.buren --append --key price");
    assert!(appended.stderr.contains(note), "{}", appended.stderr);
}

#[test]
fn a_key_that_makes_the_file_smaller_is_chosen() {
    const ROWS: u32 = 12_000;
    let place = Place::new();
    let random = |row: u32| row.wrapping_mul(0x9e37_79b9) >> 16;
    // Country and currency depend on the shop, or on nothing.
    let row = |row: u32, shop: u32| {
        let price = random(row ^ 0x5555) % 10_000;
        format!(
            "{},shop {},country {},{},{price}\n",
            random(row ^ 0x1234),
            random(row) % 40,
            shop % 40 / 2,
            ["EUR", "NOK", "SEK"][shop as usize % 3]
        )
    };
    let table = |rows: &dyn Fn(u32) -> String| {
        "id,shop,country,currency,price\n".to_owned() + &(0..ROWS).map(rows).collect::<String>()
    };
    place.write("dependent.csv", table(&|at| row(at, random(at) % 40)));
    place.write("independent.csv", table(&|at| row(at, random(at ^ 0xaaaa))));
    let key_of = |file: &str| {
        let described = place.run(&format!("inspect {file} --json")).text();
        described
            .contains("\"cluster_key\": \"shop\"")
            .then_some("shop")
            .or(described.contains("cluster_key").then_some("other"))
    };
    let converted = place.run("convert dependent.csv chosen.buren --threads 1");
    assert!(converted.stderr.contains("grouped by 'shop' to save space"), "{}", converted.stderr);
    assert_eq!(key_of("chosen.buren"), Some("shop"));
    place.run("verify chosen.buren").ok();
    assert_eq!(place.run("cat chosen.buren --to csv").text(), place.run("cat dependent.csv --to csv").text());
    place.run("convert dependent.csv three.buren --threads 3").ok();
    place.run("convert dependent.csv named.buren --key shop").ok();
    place.run("convert dependent.csv unmoved.buren --key none").ok();
    let bytes = |file: &str| std::fs::read(place.path(file)).unwrap();
    assert_eq!(bytes("three.buren"), bytes("chosen.buren"));
    assert_eq!(bytes("named.buren"), bytes("chosen.buren"));
    assert!(bytes("unmoved.buren").len() > bytes("chosen.buren").len());
    assert_eq!(key_of("unmoved.buren"), None);
    assert_eq!(place.run("convert independent.csv independent.buren").stderr.matches("clustered").count(), 0);
    assert_eq!(key_of("independent.buren"), None);
}

/// Nulls make no difference.
#[test]
fn the_only_column_of_strings_is_the_key() {
    let place = Place::new();
    let row = |row: u32, null: &str| {
        let city = ["Oslo", "Bergen", null][(row * row % 7 % 3) as usize];
        format!("{city},{},{}.{}\n", row * 37 % 1000, row % 50, row % 10)
    };
    for (file, null) in [("full", "Voss"), ("nulls", "")] {
        let rows: String = (0..4000).map(|at| row(at, null)).collect();
        place.write(&format!("{file}.csv"), format!("city,count,price\n{rows}"));
        let converted = place.run(&format!("convert {file}.csv {file}.buren"));
        assert!(!converted.stderr.contains("grouped by"), "{}", converted.stderr);
        assert!(place.run(&format!("inspect {file}.buren")).text().contains("cluster key  city"));
        let query = |of: &str, more: &[&str]| {
            let file = format!("{file}.{of}");
            let aggregates = "sum(count), max(price), count(*)";
            let words = ["query", &file, "--by", "city", "--agg", aggregates, "--where", "count > 500"];
            place.run_of(&[&words, more].concat()).text()
        };
        assert_eq!(query("buren", &[]), query("csv", &[]));
        assert_eq!(query("buren", &["--no-statistics"]), query("csv", &[]));
        let cat = |of: &str| place.run(&format!("cat {file}.{of} --to csv")).text();
        assert_eq!(cat("buren"), cat("csv"));
        place.run(&format!("convert {file}.csv none.buren --key none --force")).ok();
        assert!(!place.run("inspect none.buren").text().contains("cluster key"));
    }
}

#[test]
fn timings_list_only_stages_that_ran() {
    let place = Place::new();
    place.run("generate t.txt --rows 100k").ok();
    place.run("convert t.txt t.buren").ok();
    place.run("convert t.txt t.csv.gz").ok();
    for (file, decompressed) in [("t.txt", false), ("t.buren", false), ("t.csv.gz", true)] {
        let outcome = place.run(&format!("query {file} --timings --no-statistics"));
        let stages: Vec<&str> = outcome.stderr.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(stages.contains(&"decompress"), decompressed, "{}", outcome.stderr);
        assert!(stages.starts_with(&["read"]) && stages.ends_with(&["total"]), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains(" 0.000 ms"), "{}", outcome.stderr);
    }
}

#[test]
fn row_groups_of_a_sorted_table_are_grouped_by_themselves() {
    let place = Place::new();
    let rows: Vec<String> = (0..300_000).map(|row| format!("{},{}\n", 1_000_000 + row / 2, row % 1000)).collect();
    for (file, rows) in [("t", &rows[..]), ("half1", &rows[..150_001]), ("half2", &rows[150_001..])] {
        place.write(&format!("{file}.csv"), format!("n,x\n{}", rows.concat()));
        place.run(&format!("convert {file}.csv {file}.buren --row-group 512k")).ok();
    }
    place.run("convert t.csv t.parquet --row-group 512k").ok();
    for question in [
        "select n, sum(x), count(*) from t group by n",
        "select n, x, count(*) from t where x > 7 group by n, x having n % 3 = 1",
        "select n, max(x) m from t group by n order by m desc, n limit 5",
    ] {
        let expected = place.run_of(&["query", "t.csv", question, "--format", "csv"]).text();
        for (file, threads) in [("t.buren", "1"), ("t.buren", "3"), ("t.parquet", "2"), ("half*.buren", "2")] {
            let options = ["--format", "csv", "--explain", "--threads", threads];
            let outcome = place.run_of(&[&["query", file, question][..], &options].concat());
            assert!(outcome.stderr.contains("disjoint splits"), "{file} {question}: {}", outcome.stderr);
            assert!(outcome.text() == expected, "{file} {question}");
        }
    }
}

#[test]
fn a_query_explains_itself() {
    let place = Place::new();
    place.run("generate t.txt --rows 100k").ok();
    place.run("convert t.txt t.buren").ok();
    let outcome = place.run("query t.buren --explain --timings");
    for words in ["groups by   station", "answered from statistics: 100,000", "aggregate"] {
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    let answer = outcome.text();
    let outcome = place.run("query t.buren --explain --no-statistics");
    assert!(outcome.stderr.contains("read: 100,000"), "{}", outcome.stderr);
    assert_eq!(outcome.text(), answer);
    let outcome = place.run_of(&["query", "t.buren", "select distinct station", "--explain"]);
    assert!(outcome.stderr.contains("groups by   station\ncomputes    only the groups\n"), "{}", outcome.stderr);
    let question = "select sum(temperature * 2) filter (where temperature > 1) / count(*) from t";
    let outcome = place.run_of(&["query", "t.buren", question, "--explain"]);
    let computes = "computes    sum(CASE WHEN temperature > 1 THEN temperature * 2 END), count()\n";
    assert!(outcome.stderr.contains(computes), "{}", outcome.stderr);
}

#[test]
fn inspect_describes_a_file() {
    let place = Place::new();
    place.run("generate t.txt --rows 100k").ok();
    place.run("convert t.txt t.buren --row-group 1M --compression lz4").ok();
    let text = place.run("inspect t.buren").text();
    for words in ["encoding     buren", "compression  lz4", "rows         100,000", "row groups   2", "station", "413"]
    {
        assert!(text.contains(words), "{text}");
    }
    let json = place.run("inspect t.buren --json").text();
    for words in ["\"rows\": 100000", "\"cluster_key\": \"station\"", "\"cardinality\": 413", "\"max\": \"İzmir\""] {
        assert!(json.contains(words), "{json}");
    }
    let text = place.run("inspect t.txt").text();
    assert!(text.contains("encoding     csv") && text.contains("decimal(18,1)"), "{text}");
    assert!(place.run("inspect t.txt --json").text().contains("{\"name\": \"station\", \"type\": \"string\"}"));
}

#[test]
fn files_are_verified_one_by_one() {
    let place = Place::new();
    place.run("generate t.txt --rows 10k").ok();
    place.run("convert t.txt t.buren").ok();
    let size = place.read("t.buren").len();
    let prune_result = place.run("verify t.buren t.txt").text();
    assert!(
        prune_result.starts_with("t.buren: OK (buren, 10,000 rows, ")
            && prune_result.contains("\nt.txt: OK (csv, 10,000 rows, ")
    );
    place.write("cut.buren", &place.read("t.buren")[..size - 1]);
    place.write("bad.txt", "Abha\n");
    let outcome =
        place.run("verify bad.txt missing.txt cut.buren t.buren --schema station:string,temperature:decimal(1)");
    assert_eq!(outcome.code, Some(4));
    assert_eq!(outcome.stderr.lines().count(), 3, "{}", outcome.stderr);
    assert_eq!(outcome.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1);
    assert_eq!(place.run("verify missing.txt bad.txt").code, Some(1));
}

#[test]
fn options_may_stand_anywhere() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2\n");
    place.run("convert t.csv --threads 1 t.buren --force").ok();
    assert_eq!(place.run("cat --to csv t.buren --threads 1").text(), "a,b\n1,2\n");
    place.run("convert t.csv").fails(2, "brc: convert needs an input and an output: brc convert IN… OUT");
}

#[test]
fn nulls_and_empty_strings_are_the_same_bytes_for_any_threads() {
    let place = Place::new();
    let row = |row: usize| match (row % 10, row % 21) {
        (3, _) => "1,\n".to_owned(),
        (_, 0) => "1,\"\"\n".to_owned(),
        _ => format!("1,v{row}\n"),
    };
    place.write("t.csv", format!("n,s\n{}", (0..120_000).map(row).collect::<String>()));
    place.run("convert t.csv t.parquet --row-group 64k").ok();
    for encoding in ["capnp", "capnp-packed"] {
        let written = ["1", "2", "4"].map(|threads| {
            let name = format!("{threads}.{encoding}");
            place.run_of(&["convert", "t.parquet", &name, "--to", encoding, "--threads", threads]).ok();
            place.read(&name)
        });
        assert!(written.iter().all(|bytes| *bytes == written[0]), "{encoding}");
    }
    assert_eq!(place.run("cat 2.capnp --format csv").text().into_bytes(), place.read("t.csv"));
}

#[test]
fn numbers_of_rows_are_separated_and_singular() {
    let place = Place::new();
    let rows: String = (0..1200).map(|row| format!("{row},{}\n", if row == 7 { "1" } else { "x" })).collect();
    place.write("t.csv", format!("a,b\n{rows}"));
    let outcome = place.run("convert t.csv t.buren --type b=int64 --rejects bad.tsv");
    assert!(outcome.stderr.starts_with("1 row written, 1,199 rejected; "), "{}", outcome.stderr);
    place.write("one.csv", "a,b\n1,2\n");
    assert_eq!(place.run("verify one.csv").text(), "one.csv: OK (csv, 1 row, 8 B)\n");
    std::fs::create_dir(place.path("one")).unwrap();
    place.write("one/t.csv", "a,b\n1,2\n");
    assert!(place.run("verify one").text().ends_with("one: 1 file OK (1 row, 8 B)\n"));
    assert!(place.run("inspect one").text().ends_with("one: 1 file, 8 B\n"));
    assert!(place.run("generate g.txt --rows 1").stderr.starts_with("1 row, "));
    place.run("generate g1.csv --preset g1 --nulls 101").fails_with(2, "--nulls is a percentage from 0 to 100");
}
