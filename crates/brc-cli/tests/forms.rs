//! Tests of number, date and time formats other than the default: detected or given by options, and preserved on
//! output.

#![forbid(unsafe_code)]

mod common;

use common::Place;

const ORDERS: &str = "\
id,due,paid,at,amount,units,logged
1,31/12/2024,12/31/2024,12/31/2024 1:05 PM,\"1.234,56\",\"1,234,567\",20/Nov/2025:10:00:00 +0100
2,01/02/2024,1/2/2024,1/2/2024 12:00 AM,\"7,50\",12,21/Nov/2025:10:00:00 +0100
3,,3/4/2024,3/4/2024 11:59 AM,\"-999,00\",\"1,234\",22/Nov/2025:00:00:00 +0100
";

const TYPES: [&str; 7] = ["int64", "date", "date", "timestamp(s)", "decimal(18,2)", "int64", "timestamp(s) with zone"];

fn place() -> Place {
    let place = Place::new();
    place.write("orders.csv", ORDERS);
    place
}

/// The types of the columns of a file.
fn types(place: &Place, arguments: &str) -> Vec<String> {
    let schema = place.run(&format!("schema --json {arguments}")).text();
    let of_line = |line: &str| Some(line.split_once("\"type\": \"")?.1.split_once('"')?.0.to_owned());
    schema.lines().filter_map(of_line).collect()
}

/// The message of a command that fails with the given exit code.
fn failure(place: &Place, arguments: &[&str], code: i32) -> String {
    let outcome = place.run_of(arguments);
    assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
    outcome.stderr
}

#[test]
fn text_in_other_formats_round_trips() {
    let place = place();
    assert_eq!(types(&place, "orders.csv"), TYPES);
    for target in ["o.buren", "o.parquet", "o.arrow"] {
        let outcome = place.run(&format!("convert orders.csv {target}"));
        assert!(!outcome.stderr.contains("differently"), "{}", outcome.stderr);
        assert_eq!(types(&place, target), TYPES);
        place.run(&format!("convert {target} back.csv --force"));
        assert_eq!(std::fs::read_to_string(place.path("back.csv")).unwrap(), ORDERS, "{target}");
        let answer = place.run_of(&[
            "query",
            target,
            "select sum(amount), sum(units), max(due), min(at), max(logged)",
            "--format",
            "csv",
        ]);
        let rows = answer.text();
        assert_eq!(rows.lines().nth(1), Some("243.06,1235813,2024-12-31,2024-01-02 00:00:00,2025-11-21 23:00:00Z"));
    }
    let sniffed = place.run("sniff orders.csv").text();
    for form in
        ["%d/%m/%Y", "%-m/%-d/%Y", "%-m/%-d/%Y %-I:%M %p", "1.234,5", "1,234.5", "%d/%b/%Y:%H:%M:%S %z at +0100"]
    {
        assert!(sniffed.contains(form), "{form}: {sniffed}");
    }
    // The output of sniff is accepted as a schema.
    place.write("orders.schema", place.run("sniff orders.csv --schema --all").text());
    place.run("convert orders.csv given.buren --schema @orders.schema");
    place.run("convert given.buren given.csv");
    assert_eq!(std::fs::read_to_string(place.path("given.csv")).unwrap(), ORDERS);
    assert!(types(&place, "orders.csv --exact-text").iter().skip(1).all(|it| it == "string"));
}

#[test]
fn floats_with_a_decimal_comma_round_trip() {
    let place = Place::new();
    let text = "id;x;y\n1;8,3e-7;1,5\n2;1.234,0;NaN\n3;-0,5;2,25\n";
    place.write("t.csv", text);
    assert_eq!(types(&place, "t.csv"), ["int64", "float64", "float64"]);
    place.run("convert t.csv t.buren").ok();
    place.run("convert t.buren back.csv --output-delimiter ;").ok();
    assert_eq!(std::fs::read_to_string(place.path("back.csv")).unwrap(), text);
    place.write("late.csv", format!("x;y\n{}1,5E-05;7\n", "0,25;3\n".repeat(200_000)));
    assert_eq!(
        place.run_of(&["query", "late.csv", "select min(x), max(x)", "--format", "csv"]).text(),
        "min(x),max(x)\n1.5e-5,0.25\n"
    );
}

#[test]
fn times_of_other_formats_may_lack_their_last_parts() {
    let place = Place::new();
    place.write("t.csv", "at\n31.12.2024 10:00:00.5\n31.12.2024 10:00:01\n31.12.2024 10:05\n31.12.2024\n");
    assert_eq!(types(&place, "t.csv"), ["timestamp(ms)"]);
    let written =
        "31.12.2024 10:00:00.500\n31.12.2024 10:00:01.000\n31.12.2024 10:05:00.000\n31.12.2024 00:00:00.000\n";
    let outcome = place.run("convert t.csv t.buren");
    assert!(outcome.stderr.contains("31.12.2024"), "{}", outcome.stderr);
    assert_eq!(place.run("cat t.buren").text(), format!("at\n{written}"));
}

#[test]
fn formats_that_do_not_fit_are_noted() {
    let place = Place::new();
    place.write("t.csv", "a,b\n31/12/2024,x\n12/31/2024,y\n");
    let outcome = place.run("convert t.csv t.buren --date-format a=%d/%m/%Y");
    assert!(outcome.stderr.contains("'a' is not read in the format '%d/%m/%Y'"), "{}", outcome.stderr);
    place.write("o.csv", "d\n13/01/2024\n12/02/2024\n");
    let outcome = place.run("cat o.csv --date-format d=%m/%d/%Y");
    assert!(outcome.stderr.contains("'d' is not read in the format '%m/%d/%Y'"), "{}", outcome.stderr);
    place.write("s.csv", "a\n1700000000\n0\n");
    let seconds = place.run("cat s.csv --timestamp-format a=%s --type a=timestamp(s) --to csv").text();
    assert_eq!(seconds, "a\n1700000000\n0\n");
    place.write("z.csv", "a\n2024-01-01T00:00:00Z\n");
    place.run("convert z.csv z.buren --type a=timestamp").fails_with(3, "--type 'NAME=timestamp with zone'");
    let rows = (0..5000).map(|row| format!("{row};{};{}.{:03}\n", row % 100, row % 9 + 1, row % 1000));
    place.write("late.csv", format!("id;v;w\n{}5000;1,5;2.345\n", rows.collect::<String>()));
    let outcome = place.run("convert late.csv late.buren");
    assert!(
        outcome.stderr.contains("'w' is read with decimal points; if they separate thousands"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_format_that_no_column_has_is_noted() {
    let place = place();
    place.write("t.csv", "day,n\n20240105,1\n2024122,2\n20240107,3\n");
    let note = "no column is read in the format '%Y%m%d', because none has only values that fit it";
    let of = |format: &str| place.run_of(&["schema", "t.csv", "--date-format", format]).stderr;
    assert!(of("%Y%m%d").contains(note));
    place.write("t.csv", "day,n\n20240105,1\n20241222,2\n");
    assert!(!of("%Y%m%d").contains(note));
}

#[test]
fn durations_are_not_times_of_day() {
    let place = place();
    for (values, expected) in [
        (["5:12", "1:02:03", "12:45"], "string"),
        (["05:12", "01:02:03", "12:45"], "time(s)"),
        (["5:12", "9:02", "12:45"], "time(s)"),
        (["0:05:12", "1:02:03", "12:45:00"], "time(s)"),
        (["2024-01-05 05:12", "2024-01-05 01:02:03", "2024-01-06"], "timestamp(s)"),
    ] {
        let text: String = values.iter().enumerate().map(|(row, value)| format!("{row},{value}\n")).collect();
        place.write("t.csv", format!("n,t\n{text}"));
        assert!(types(&place, "t.csv")[1] == expected, "{:?} {:?}", values, types(&place, "t.csv"));
    }
    place.write("t.csv", "n,t\n1,5:12\n2,1:02:03\n");
    let found = place.run_of(&["query", "t.csv", "select max(t) as t", "--type", "t=time(s)", "--format", "csv"]);
    assert_eq!(found.text(), "t\n05:12:00\n");
}

#[test]
fn points_in_fractions_are_decimal_points() {
    let place = place();
    place.write("t.csv", "site;lat;price\nA;52.520;9,99\nB;48.137;12,50\n");
    let sum = |of: &str| {
        let column = format!("lat={of}");
        let found =
            place.run_of(&["query", "t.csv", "select max(lat) + 1 as s", "--type", &column, "--format", "jsonl"]);
        (found.stderr.clone(), found.text())
    };
    let (float, scaled, other) = (sum("float64"), sum("decimal(9,3)"), sum("decimal(9,2)"));
    assert_eq!(float.1, "{\"s\":53.52}\n");
    assert!(float.0.contains("'lat' is read with decimal points, because of its type"), "{}", float.0);
    assert_eq!(scaled, (String::new(), "{\"s\":53.520}\n".to_owned()));
    assert_eq!(other.1, "{\"s\":52521.00}\n");
    assert!(other.0.contains("--type 'lat=decimal(3)' reads them so"), "{}", other.0);
    assert_eq!(sum("int64").1, "{\"s\":52521}\n");
    let inferred = place.run_of(&["query", "t.csv", "select sum(lat)"]);
    assert!(inferred.stderr.contains("--type 'lat=string' keeps the text"), "{}", inferred.stderr);
    // A value with a comma tells what the points are.
    place.write("t.csv", "x;y\n1,5;2,250\n2,5;2,255\n3,5;1.000\n");
    let found = place.run_of(&["query", "t.csv", "select max(y) as y", "--type", "y=float64", "--format", "jsonl"]);
    assert_eq!(found.text(), "{\"y\":1000.0}\n");
}

#[test]
fn ambiguous_values_are_text_unless_an_option_decides() {
    let place = Place::new();
    place.write("t.csv", "day,x\n05/06/2024,\"1,234\"\n01/02/2024,\"5,678\"\n");
    assert_eq!(types(&place, "t.csv"), ["string", "string"]);
    let hints = [
        "'day' is text because it may be written as %d/%m/%Y or as %m/%d/%Y; use --date-format 'day=%d/%m/%Y' or \
         --date-format 'day=%m/%d/%Y'",
        "'x' is text because it may be written as 1234,5 or as 1,234.5; use --decimal , or --thousands ,",
    ];
    let (sniffed, schema, converted) =
        (place.run("sniff t.csv").text(), place.run("schema t.csv").stderr, place.run("convert t.csv t.buren").stderr);
    for hint in hints {
        for said in [&sniffed, &schema, &converted] {
            assert!(said.contains(hint), "{said}");
        }
    }
    let failed = failure(&place, &["query", "t.csv", "select avg(x)"], 2);
    assert!(failed.contains(hints[1]), "{failed}");
    let ask = |options: &[&str]| {
        let query = ["query", "t.csv", "select max(day), sum(x)", "--format", "csv"];
        place.run_of(&[&query[..], options].concat()).text().lines().nth(1).map(str::to_owned)
    };
    let day_first = ask(&["--date-format", "%d/%m/%Y", "--decimal", ","]);
    assert_eq!(day_first.as_deref(), Some("2024-06-05,6.912"));
    let month_first = ask(&["--date-format", "day=%m/%d/%Y", "--thousands", ","]);
    assert_eq!(month_first.as_deref(), Some("2024-05-06,6912"));
}

#[test]
fn formats_that_are_not_detected_can_be_given() {
    let place = Place::new();
    place.write("t.csv", "day,at,n\n20241231,1700000000,1 234\n20240229,-1,56 789\n");
    assert_eq!(types(&place, "t.csv"), ["int64", "int64", "string"]);
    let options = "--date-format day=%Y%m%d --timestamp-format at=%s --thousands space";
    let options: Vec<&str> = options.split(' ').map(|word| if word == "space" { " " } else { word }).collect();
    let run = |first: &[&str]| place.run_of(&[first, &options].concat());
    let answer = run(&["query", "t.csv", "select day, at, n", "--format", "csv"]).text();
    assert_eq!(answer, "day,at,n\n20241231,1700000000,1 234\n20240229,-1,56 789\n");
    let answer = run(&["query", "t.csv", "select day, at, n", "--format", "json"]).text();
    assert!(answer.starts_with("{\"day\":\"2024-12-31\",\"at\":\"2023-11-14 22:13:20Z\",\"n\":1234}\n"), "{answer}");
    run(&["convert", "t.csv", "t.buren"]);
    place.run("convert t.buren back.csv");
    let written = std::fs::read_to_string(place.path("back.csv")).unwrap();
    assert_eq!(written, std::fs::read_to_string(place.path("t.csv")).unwrap());
    for (options, message) in [
        ("--date-format %Q", "unknown format term '%Q'"),
        ("--date-format %Y-%m", "'%Y-%m' has neither a date (%Y %m %d) nor a time (%H %M)"),
        ("--date-format %FT%T", "has both a date and a time; use --timestamp-format"),
        ("--timestamp-format %F", "does not have both a date and a time; use --date-format"),
        ("--date-format when=%F", "--date-format: unknown column 'when' (columns: day, at, n)"),
        ("--decimal , --thousands ,", "',' cannot be both the decimal and the thousands separator"),
        ("--decimal x", "'x' cannot be a separator in numbers"),
    ] {
        let arguments = [&["schema", "t.csv"][..], &options.split(' ').collect::<Vec<_>>()].concat();
        let failed = failure(&place, &arguments, 2);
        assert!(failed.contains(message), "{options}: {failed}");
        for command in ["verify t.csv", "inspect t.csv", "sniff t.csv", "compare t.csv --by day --encodings csv"] {
            // Columns are known only once rows are read.
            if options.starts_with("--decimal") {
                place.run(&format!("{command} {options}")).fails_with(2, message);
            }
        }
    }
}

#[test]
fn given_columns_take_their_format_from_the_first_rows() {
    let place = place();
    let rejected = format!("{ORDERS}4,soon,1/1/2024,1/1/2024 9:00 AM,\"1,00\",1,22/Nov/2025:00:00:00 +0100\n");
    place.write("more.csv", rejected);
    let failed = failure(&place, &["query", "more.csv", "select max(due - date '2024-01-01')"], 2);
    assert!(
        failed.contains("'due' is text because of 'soon' (1 of 3 values, line 5); use brc convert --type 'due=date'"),
        "{failed}"
    );
    let outcome = place.run("convert more.csv more.buren --type due=date --rejects bad.csv");
    assert!(outcome.stderr.contains("3 rows written, 1 rejected"), "{}", outcome.stderr);
    place.run("convert more.buren back.csv");
    assert_eq!(std::fs::read_to_string(place.path("back.csv")).unwrap(), ORDERS);
    let types = "--type due=date --type amount=decimal(10,3) --date-format %d/%m/%Y";
    let failed =
        failure(&place, &[&["convert", "more.csv", "x.buren"][..], &types.split(' ').collect::<Vec<_>>()].concat(), 3);
    assert!(failed.contains("line 5") && failed.contains("'soon' is not a valid date"), "{failed}");
}

#[test]
fn ambiguous_date_formats_are_listed() {
    let place = Place::new();
    place.write("t.csv", "d\n31/12/2024\n2024-12-31\n");
    let failed = failure(&place, &["query", "t.csv", "select max(d + 1)"], 2);
    let reason = "'d' is text because its values are written in several ways: '31/12/2024', but also '2024-12-31'";
    assert!(failed.contains(reason), "{failed}");
}

/// For any order of values, splits and threads, even where a late value changes the interpretation of numbers.
#[test]
fn the_format_does_not_depend_on_the_position_of_values() {
    let place = Place::new();
    let last = 300_000;
    for (plain, telling, logical_type, sum) in [
        ("1.234", "1.234.567", "int64", 1_234 * last + 1_234_567),
        ("1.234", "1.234,567", "decimal(18,3)", 1_234_000 * last + 1_234_567),
        ("05/06/2024", "31/12/2024", "date", 0),
        ("5/6/2024", "31/12/2024", "date", 0),
    ] {
        let mut files = Vec::new();
        for at in [0, last / 2, last] {
            let value = |row| if row == at { telling } else { plain };
            let rows: Vec<String> = (0..=last).map(|row| format!("{row},\"{}\"", value(row))).collect();
            place.write("t.csv", format!("id,v\n{}\n", rows.join("\n")));
            for threads in ["1", "3"] {
                place.run_of(&["convert", "t.csv", "t.buren", "--threads", threads, "--force", "--key", "none"]);
                assert_eq!(types(&place, "t.buren")[1], logical_type, "{telling} at {at}");
                let size = std::fs::metadata(place.path("t.buren")).unwrap().len();
                files.push((at, size));
                if sum > 0 {
                    let answer = place.run_of(&["query", "t.buren", "select sum(v)", "--format", "csv"]).text();
                    let digits: String = answer.lines().nth(1).unwrap().replace('.', "");
                    assert_eq!(digits, sum.to_string(), "{telling} at {at}");
                    let answer = place.run_of(&["query", "t.csv", "select sum(v)", "--format", "csv"]).text();
                    assert_eq!(answer.lines().nth(1).unwrap().replace('.', ""), digits, "{telling} at {at}");
                }
            }
            place.run("convert t.buren back.csv --force");
            let written = std::fs::read_to_string(place.path("back.csv")).unwrap();
            let again = written.lines().nth(at + 1).unwrap();
            let unquoted = again.split_once(',').unwrap().1.trim_matches('"').to_owned();
            assert_eq!(unquoted, telling);
        }
        assert!(files.chunks(2).all(|pair| pair[0] == pair[1]), "{files:?}");
    }
}

/// The same rule in all commands: rows of a table written as CSV or TSV keep their text format; everything else has the
/// default format.
#[test]
fn csv_rows_keep_the_text_format_and_all_else_has_the_default() {
    let place = place();
    place.run("convert orders.csv o.buren");
    let tabs = ORDERS.replace(",\"", "\t\"").replace("\",", "\"\t");
    let tabs: String = tabs
        .split('"')
        .enumerate()
        .map(|(n, it)| if n % 2 == 0 { it.replace(',', "\t") } else { it.to_owned() })
        .collect();
    for table in ["orders.csv", "o.buren"] {
        for command in [
            "cat",
            "cat --format csv",
            "cat --limit 9",
            "cat --order-by id --format csv",
            "head --format csv",
            "tail --format csv",
            "sample --format csv",
            "sort --by id",
        ] {
            let (name, options) = command.split_once(' ').unwrap_or((command, ""));
            let rows = place.run(&format!("{name} {table} {options}"));
            assert_eq!(rows.text(), ORDERS, "{command} {table}");
        }
        assert_eq!(place.run(&format!("cat {table} --format tsv")).text(), tabs);
        for query in ["from t", "select id, due, paid, at, amount, units, logged order by id"] {
            let options = [["--format", "csv"], ["-o", "answer.csv"]];
            let answers =
                options.map(|options| place.run_of(&[&["query", table, query][..], &options, &["--force"]].concat()));
            let [printed, saved] = answers;
            saved.ok();
            assert_eq!(printed.text(), ORDERS, "{query}");
            assert_eq!(String::from_utf8(place.read("answer.csv")).unwrap(), ORDERS, "{query}");
        }
        let answer = place.run_of(&[
            "query",
            table,
            "select due as d, due + 1 as next, amount * 2 as x limit 1",
            "--format",
            "csv",
        ]);
        assert_eq!(answer.text(), "d,next,x\n31/12/2024,2025-01-01,2469.12\n");
        let answer = place.run_of(&["query", table, "select due, sum(amount) group by due limit 1", "--format", "csv"]);
        assert_eq!(answer.text(), "due,sum(amount)\n2024-02-01,7.50\n");
        // A renamed column keeps its format.
        place.run_of(&["query", table, "select due as d", "-o", "d.buren", "--force"]).ok();
        assert_eq!(place.run("cat d.buren").text().lines().nth(1), Some("31/12/2024"));
        for format in ["table", "vertical", "json", "json-array", "markdown"] {
            let rows = place.run(&format!("head {table} --format {format}")).text();
            assert!(rows.contains("2024-12-31") && !rows.contains("31/12/2024"), "{format}: {rows}");
        }
        assert!(place.run(&format!("cat {table} --to json")).text().contains("\"2024-12-31\""));
    }
}

#[test]
fn a_text_has_one_decimal_separator() {
    let place = Place::new();
    place.write("w.csv", "x;net\na;99,50\nb;12,10\n");
    place.run_of(&["query", "w.csv", "select x, net, net * 1.5 as gross, net * 1e0 as f", "-o", "w2.csv"]).ok();
    assert_eq!(
        std::fs::read_to_string(place.path("w2.csv")).unwrap(),
        "x,net,gross,f\na,\"99,50\",\"149,250\",\"99,5\"\nb,\"12,10\",\"18,150\",\"12,1\"\n"
    );
    let sums = ["select sum(net) as n, sum(gross) as g, sum(f) as f", "--format", "csv"];
    let of = |file: &str| place.run_of(&[&["query", file], &sums[..]].concat()).text();
    assert_eq!(of("w2.csv"), "n,g,f\n111.60,167.400,111.6\n");
    // A copy of a text whose columns differ is read in the same way.
    place.write("mixed.csv", "lat;price\n52.5;1.234,50\n48.137;7,25\n");
    place.run("convert mixed.csv copy.csv").ok();
    let query = "select sum(lat) as lat, sum(price) as price";
    for file in ["mixed.csv", "copy.csv"] {
        let sums = place.run_of(&["query", file, query, "--format", "csv"]).text();
        assert_eq!(sums, "lat,price\n100.637,1241.75\n", "{file}");
    }
}

#[test]
fn several_files_in_the_same_other_formats_are_one_table() {
    let place = Place::new();
    place.write("a.csv", "d;x\n31.12.2024;2,5\n");
    place.write("b.csv", "d;x\n01.02.2024;1.000,5\n");
    place.run("convert a.csv c.buren").ok();
    for files in ["a.csv b.csv", "b.csv a.csv", "c.buren b.csv"] {
        assert_eq!(place.run(&format!("count {files}")).text(), "2\n");
        let files: Vec<&str> = files.split(' ').collect();
        let query = ["select max(d) as d, max(x) as x", "--format", "csv"];
        assert_eq!(place.run_of(&[&["query"], &files[..], &query].concat()).text(), "d,x\n2024-12-31,1000.5\n");
        let query = ["select count(*) as n where d < '2024-03-01' and x > 2", "--format", "csv"];
        assert_eq!(place.run_of(&[&["query"], &files[..], &query].concat()).text(), "n\n1\n");
    }
}

#[test]
fn values_of_given_types_are_written_as_in_the_other_rows_of_the_table() {
    let place = Place::new();
    place.write("c1.csv", "d;x\n13/02/2024;1.234,500\n");
    place.write("c2.csv", "d;x\n01/02/2025;1.250\n");
    place.write("usual.csv", "d;x\n2025-03-01;12.5\n");
    place.run("convert c1.csv c.buren").ok();
    place.run("convert c2.csv c.buren --append").ok();
    place.run("convert usual.csv c.buren --append").ok();
    let rows = ["select d, x order by d", "--format", "csv"];
    let text = place.run_of(&[&["query", "c.buren"], &rows[..]].concat()).text();
    assert_eq!(text, "d,x\n13/02/2024,\"1.234,500\"\n01/02/2025,\"1.250,000\"\n01/03/2025,\"12,500\"\n");
    // Null tokens are written in no form.
    place.write("c3.csv", "d;x\n01/03/2025;1.250\nNA;NA\n");
    place.run("convert c1.csv n.buren").ok();
    place.run("convert c3.csv n.buren --append").ok();
    let text = place.run_of(&["query", "n.buren", "select max(d) as d, min(x) as x", "--format", "json"]).text();
    assert_eq!(text, "{\"d\":\"2025-03-01\",\"x\":1234.500}\n");
    let types = ["--type", "d=date,x=decimal(18,3)"];
    let query = ["select min(x) as x, max(d) as d", "--format", "csv"];
    for files in [["c1.csv", "c2.csv"], ["c2.csv", "c1.csv"]] {
        let answer = place.run_of(&[&["query"], &files[..], &query, &types].concat()).text();
        assert_eq!(answer, "x,d\n1234.500,2025-02-01\n", "{files:?}");
    }
}

/// Values that the format of their column cannot express are written in the usual one, so that nothing is lost.
#[test]
fn no_part_of_a_time_is_lost() {
    let place = Place::new();
    place.write("a.csv", "t,d\n31/12/2024 05:06 PM,31-Dec-24\n");
    place.write("b.csv", "t,d\n2024-12-31 05:06:07,1924-12-31\n");
    place.run("convert a.csv a.buren").ok();
    place.run("convert b.csv a.buren --append").ok();
    let rows = "t,d\n31/12/2024 05:06 PM,31-Dec-24\n2024-12-31 05:06:07,1924-12-31\n";
    assert_eq!(place.run("cat a.buren").text(), rows);
}

/// Integers without points are read back as integers.
#[test]
fn grouped_integers_are_read_back() {
    let place = Place::new();
    place.write("th.csv", "k;n;m\na;1.234.567;7,25\nb;1.250;1.000,5\n");
    for (columns, expected) in [("k, n", "k,n\nb,1250\n"), ("n, m", "n,m\n1.250,\"1.000,50\"\n")] {
        let query = format!("select {columns} where k = 'b'");
        let text = place.run_of(&["query", "th.csv", &query, "--format", "csv"]).text();
        assert_eq!(text, expected);
        place.write("back.csv", text);
        let sum = place.run_of(&["query", "back.csv", "select sum(n) as n", "--format", "csv"]).text();
        assert_eq!(sum, "n\n1250\n");
    }
}
