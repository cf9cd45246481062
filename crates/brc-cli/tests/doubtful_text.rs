//! Texts that programs write in unusual ways, and texts that can be read in two ways: they are read as a person would,
//! or a note says how they were read.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::{Outcome, Place};

fn query(text: impl AsRef<[u8]>, query: &str) -> Outcome {
    let place = Place::new();
    place.write("t.csv", text);
    place.run_of(&["query", "t.csv", query, "--format", "csv"])
}

/// Asserts that a successful run says something.
#[track_caller]
fn noted(outcome: &Outcome, words: &str) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
}

#[test]
fn years_above_text_are_a_header() {
    for (text, expected) in [
        ("name,2019,2020\nA,n.a.,2\nB,3,x\n", "name,2019,2020\nA,n.a.,2\nB,3,x\n"),
        ("geo\\time\t2019 \t2020 \t2021 \nDE\t12.3 b\t: \t1\nFR\t: \t2.5 e\t: \n", "geo\\time,2019,2020,2021\n"),
    ] {
        let found = query(text, "select *").text();
        assert!(found.starts_with(expected), "{found}");
    }
    // Years below, too, or numbers that are none.
    for text in ["A,2019,x\nB,2020,y\nC,2021,z\n", "A,7,12\nB,n.a.,2\nC,3,x\n"] {
        assert_eq!(query(text, "select count(*) as n").text(), "n\n3\n", "{text}");
    }
}

#[test]
fn a_comment_prefix_alone_names_a_column() {
    for header in ["#,name,score", "# ,name,score", "#.,name,score", "%,name,score", "--,name,score"] {
        let found = query(format!("{header}\n1,Anna,5\n2,Ben,6\n"), "select name, score");
        assert_eq!(found.text(), "name,score\nAnna,5\nBen,6\n", "{header}");
    }
    let place = Place::new();
    place.write("t.csv", "# made by a program\n1,Anna,5\n2,Ben,6\n3,Cleo,7\n");
    noted(&place.run("cat t.csv"), "1 line before the first row skipped (--comment none --skip 0 keeps it)");
    assert!(place.run("cat t.csv --comment none --skip 0 --ragged pad").text().contains("# made by a program"));
}

#[test]
fn blanks_around_numbers_are_no_part_of_them() {
    let text = "\"day\",\"tmin\",\"name\"\n\"2024-01-01\",\"  -16\",\" a\"\n\" 2024-01-02\",\"   44\",\"b \"\n\"2024-01-03\",\"    \",\" 5\"\n";
    let found =
        query(text, "select max(day) as day, max(tmin) as most, sum(tmin) as sum, count(tmin) as n, max(name) as name");
    assert_eq!(found.text(), "day,most,sum,n,name\n2024-01-03,44,28,2,\"b \"\n");
    let place = Place::new();
    place.write("t.csv", text);
    let schema = |options: &str| place.run(&format!("sniff t.csv --schema {options}")).text();
    assert_eq!(schema(""), "day:date,tmin:int64,name:string\n");
    assert_eq!(schema("--exact-text"), "day:string,tmin:string,name:string\n");
    noted(&place.run("convert t.csv t.buren"), "2 values of 'tmin' will be written differently (  -16 → -16)");
    place.write("bad.csv", "n\n\" 1\"\n\" x\"\n");
    place.run("convert bad.csv bad.buren --type n=int64").fails_with(3, "line 3, byte 7, column 'n'");
    // Blanks that come only after the sample.
    let rows: String = (0..60_000)
        .map(|row| if row < 50_000 { format!("{row},{row}\n") } else { format!("{row},  {row}\n") })
        .collect();
    assert_eq!(query(format!("id,n\n{rows}"), "select max(n) as n").text(), "n\n59999\n");
}

#[test]
fn short_dates_with_points_are_dates_if_only_one_part_can_be_the_year() {
    let text =
        "day,at,back,version\n31.12.99,31.12.23 23:59,99.12.31,1.10.15\n01.02.24,01.02.32 00:00,24.02.01,1.9.22\n";
    assert_eq!(
        query(text, "select max(day) as day, max(at) as at, max(back) as back, max(version) as version").text(),
        "day,at,back,version\n2024-02-01,2032-02-01 00:00:00,2024-02-01,1.9.22\n"
    );
    let place = Place::new();
    place.write("t.csv", "day\n31.12.23\n30.11.22\n");
    let outcome = place.run("convert t.csv t.buren");
    noted(&outcome, "'day' is text because it may be written as %d.%m.%y or as %y.%m.%d");
    assert_eq!(place.run("sniff t.csv --schema --date-format day=%d.%m.%y").text(), "day:date\n");
}

#[test]
fn a_leading_zero_is_named_as_the_reason_for_text() {
    let rows: String = (10..500).map(|row| format!("{row},{row}\n")).collect();
    query(format!("id,z\n{rows}500,012\n"), "select sum(z)")
        .fails_with(2, "'z' is text because of '012' (1 of 491 values, line 492)");
    let rows: String = (10..60).map(|row| format!("\"a\nb\",\"{row}\"\n")).collect();
    query(format!("\"id\",\"z\"\n{rows}\"c\",\"012\"\n"), "select sum(z)")
        .fails_with(2, "'z' is text because of '012' (1 of 51 values, line 102)");
}

#[test]
fn points_between_thousands_are_said_if_nothing_proves_them() {
    let place = Place::new();
    let note = "is read with points between thousands (1.234 as 1234)";
    for (text, is_noted) in [
        ("sensor;v\na;100.123\nb;101.250\nc;1,5\nd;102.500\n", true),
        ("station;lat;level\nA;52.520;1,25\nB;48.137;2,50\n", true),
        ("item;price\na;1.150,50\nb;7,25\nc;1.200\n", false),
        ("item;price\na;1,50\nb;7,25\nc;12\n", false),
        ("item;n\na;1.234.567\nb;7,25\nc;1.200\n", false),
    ] {
        place.write("t.csv", text);
        for command in ["convert t.csv t.buren --force", "cat t.csv"] {
            let outcome = place.run(command);
            assert_eq!(outcome.stderr.contains(note), is_noted, "{command}: {text}{}", outcome.stderr);
        }
    }
}

#[test]
fn two_carriage_returns_are_noticed() {
    let place = Place::new();
    place.write("t.csv", "id,name\r\r\n1,a\r\r\n2,b\r\r\n");
    noted(&place.run("convert t.csv t.buren"), "lines end with two carriage returns and a line feed");
    place.write("t.csv", "id,name\r\n1,a\r\n2,b\r\n");
    assert!(!place.run("cat t.csv").stderr.contains("carriage"));
}

#[test]
fn lines_after_the_table_have_a_remedy() {
    let place = Place::new();
    place.write("t.csv", "id,v\n1,2\n2,3\nTotal rows: 2\n");
    let outcome = place.run("convert t.csv t.buren");
    assert!(outcome.stderr.contains("if it is not data, --skip-footer 1 skips it"), "{}", outcome.stderr);
    outcome.fails_with(3, "--skip-footer N skips the last N lines");
    assert_eq!(place.run("cat t.csv --skip-footer 1").text(), "id,v\n1,2\n2,3\n");
}

#[test]
fn floats_with_more_digits_than_they_need_are_floats() {
    let sum = |text: &str| query(text, "select sum(x) as x, count(x) as n").text().to_owned();
    assert_eq!(sum("x\n3.455841920647860221e-01\n-1.303157231604360922e+00\n"), "x,n\n-0.957573039539575,2\n");
    assert_eq!(sum("x\n0.25\n0.10000000000000001\n2e-05\n"), "x,n\n0.35002,3\n");
    let place = Place::new();
    place.write("t.csv", "x\n0.10000000000000001\n2.0000000000000002e-05\n");
    noted(
        &place.run("convert t.csv t.buren"),
        "2 values of 'x' will be written differently (0.10000000000000001 → 0.1)",
    );
    // The same wherever the exponent is.
    let decimals = "1.5\n0.10000000000000001\n1.1000000000000001\n".repeat(9000);
    for text in [format!("x\n{decimals}1e-7\n"), format!("x\n1e-7\n{decimals}")] {
        assert_eq!(query(text, "select min(x) as min, max(x) as max").text(), "min,max\n1e-7,1.5\n");
    }
    // A number of which a float would be another one stays text.
    place.write("t.csv", "x\n9007199254740993\n1e5\n");
    assert_eq!(place.run("sniff t.csv --schema").text(), "x:string\n");
}

#[test]
fn row_names_of_aligned_tables_have_an_indented_header() {
    let place = Place::new();
    place.write(
        "t.txt",
        "REPOSITORY   TAG    IMAGE ID       CREATED       SIZE\nubuntu       22.04  3db8720ecbf5   2 weeks ago   77.9MB\n\
         redis        7      170a1e90f843   5 weeks ago   138MB\n",
    );
    let outcome = place.run("cat t.txt");
    noted(&outcome, "a name or a value with a blank may have shifted the others");
    let text = outcome.text();
    assert!(text.starts_with("REPOSITORY,TAG,IMAGE,ID,CREATED,SIZE,column_7\nubuntu,"), "{text}");
    for text in [
        "        mpg  cyl\nMazda  21.0    6\nDatsun 22.8    4\n",
        "\"mpg\" \"cyl\"\n\"Mazda\" 21.0 6\n\"Datsun\" 22.8 4\n",
    ] {
        place.write("t.txt", text);
        assert_eq!(place.run("cat t.txt").text(), "column_1,mpg,cyl\nMazda,21.0,6\nDatsun,22.8,4\n");
    }
}

#[test]
fn tabs_in_each_row_are_delimiters() {
    let place = Place::new();
    place.write("t.txt", "freq,unit,geo\t2019 \t2020\nA,PC,AT\t1.5 p\t2.5\nA,PC,BE\t: \t3.5 e\nA,PC,BG\t0.5 p\t2 b\n");
    assert!(place.run("cat t.txt").text().starts_with("\"freq,unit,geo\",2019,2020\n"));
    for (text, columns) in [
        ("name,note\nann,\tx\nbob,\ty\n", "name,note\n"),
        ("1,2.5,foo bar\tbaz\n2,3.5,foo\tw\n3,4.5,q\tr\n", "column_1,column_2,column_3\n"),
        ("id,name,val\t# c\n1,ann,2.5\t# x\n2,bob,3.5\t# y\n", "id,name,val\t# c\n"),
    ] {
        place.write("t.csv", text);
        let found = place.run("cat t.csv").text();
        assert!(found.starts_with(columns), "{found}");
    }
}

#[test]
fn commands_with_blanks_are_the_rest_of_the_line() {
    let place = Place::new();
    let rows = ["1 ? 0:00 /sbin/init splash", "2 ? 0:00 /usr/sbin/cron -f", "3 ? 0:00 nginx: worker", "4 ? 0:00 bash"];
    let rows: String = rows.iter().map(|row| format!("root  {row}\n")).collect();
    place.write("t.txt", format!("USER  PID TTY TIME COMMAND\n{rows}"));
    let text = place.run("cat t.txt").text();
    assert!(text.ends_with("nginx: worker\nroot,4,?,0:00,bash\n"), "{text}");
}

#[test]
fn empty_rows_of_spreadsheets_are_no_titles() {
    let place = Place::new();
    place.write("t.csv", "Report,,\nid,day,price\n1,2024-01-01,2.5\n2,2024-01-02,3.5\n,,\nTotal,,6.0\n");
    assert!(place.run("cat t.csv").text().starts_with("id,day,price\n1,2024-01-01,2.5\n"));
}

#[test]
fn marks_of_null_and_doubled_delimiters_are_noticed() {
    let place = Place::new();
    place.write("t.tsv", "1\tbob\t\\N\n2\t\\N\t3\n3\tann\t4\n");
    noted(&place.run("cat t.tsv"), "the \\N in 'column_2' is text; --null ',\\N' reads it as null");
    let outcome = place.run("cat t.tsv --null ,\\N");
    assert!(!outcome.stderr.contains("is text"), "{}", outcome.stderr);
    assert_eq!(outcome.text(), "column_1,column_2,column_3\n1,bob,\n2,,3\n3,ann,4\n");
    place.write("t.dat", "1::F::2::3::00997\n2::M::2::3::00998\n");
    noted(&place.run("cat t.dat"), "every second column is empty; if the delimiter is '::'");
    place.write(
        "t.txt",
        "       total  used  free  shared  cache\nMem:   246    577   202   88      42\nSwap:  0      0     0\n",
    );
    noted(&place.run("cat t.txt"), "a value with a blank may have shifted the others");
}

#[test]
fn rows_before_the_table_have_a_remedy() {
    let place = Place::new();
    place.write("t.csv", "a;b\nTitle\n1;2\n2;3\n3;4\n");
    place.run("cat t.csv").fails_with(3, "--skip N skips the first N lines");
}

#[test]
fn intervals_finer_than_the_timestamps_are_added() {
    let text = "when\n2024-01-31 10:00:00\n2024-01-31 10:00:01\n";
    assert_eq!(
        query(text, "select when + interval '250 milliseconds' as a, when - interval '1 microsecond' as b limit 1")
            .text(),
        "a,b\n2024-01-31 10:00:00.250,2024-01-31 09:59:59.999999\n"
    );
    assert_eq!(
        query(text, "select count() as n where when + interval '900 milliseconds' > timestamp '2024-01-31 10:00:01.5'")
            .text(),
        "n\n1\n"
    );
    assert_eq!(query(text, "select when + interval '2 seconds' as a limit 1").text(), "a\n2024-01-31 10:00:02\n");
}

#[test]
fn names_with_points_are_columns_and_others_are_unknown() {
    let text = "mean.x,x\n1.5,100\n";
    query(text, "select mean.x, x, t.x as y").fails_with(2, "unknown column 't.x'");
    assert_eq!(query(text, "select mean.x as a, x, t.x as y from t").text(), "a,x,y\n1.5,100,100\n");
    let place = Place::new();
    place.write("f.csv", "from,to,n\nOSL,BGO,1\n");
    let text =
        place.run_of(&["query", "select f.from, f.to as t from f.csv f where f.n = 1", "--format", "csv"]).text();
    assert_eq!(text, "from,t\nOSL,BGO\n");
    place.write("n.json", "{\"id\":1,\"user\":{\"name\":\"Ann\"},\"name\":\"other\"}\n");
    place
        .run_of(&["query", "n.json", "select user.name"])
        .fails_with(2, "column 'user' is a list or an object, which brc does not read");
}

#[test]
fn rows_that_describe_the_columns_are_noticed() {
    let place = Place::new();
    let rows = |n: usize| (0..n).map(|i| format!("{i}.0,1{i}.5,101{}.2\n", i % 10)).collect::<String>();
    for n in [2, 3, 8, 40] {
        place.write("t.csv", format!("time,temp,pressure\ns,degC,hPa\n{}", rows(n)));
        let outcome = place.run("cat t.csv");
        noted(&outcome, "the row below the header holds text in number or date columns, which become text");
        noted(&outcome, "--skip 2 --header no --names 'time,temp,pressure' leaves it out");
        assert!(outcome.text().starts_with("time,temp,pressure\ns,degC,hPa\n0.0,10.5,1010.2\n"));
        let schema = place.run("schema t.csv --skip 2 --header no --names time,temp,pressure").text();
        assert!(!schema.contains("string"), "{schema}");
    }
    // A logger of Campbell Scientific.
    let toa5 = "\"TOA5\",\"Station\",\"CR1000\",\"1234\",\"Hourly\"\n\"TIMESTAMP\",\"RECORD\",\"AirTC_Avg\"\n\
                \"TS\",\"RN\",\"Deg C\"\n\"\",\"\",\"Avg\"\n";
    let rows: String = (0..9).map(|i| format!("\"2026-01-01 0{i}:00:00\",{i},1{i}.34\n")).collect();
    place.write("t.dat", format!("{toa5}{rows}"));
    let outcome = place.run("cat t.dat");
    noted(&outcome, "--skip 4 --header no --names 'TIMESTAMP,RECORD,AirTC_Avg'");
    assert!(outcome.text().starts_with("TIMESTAMP,RECORD,AirTC_Avg\nTS,RN,Deg C\n"));
    let schema = place.run("schema t.dat --skip 4 --header no --names TIMESTAMP,RECORD,AirTC_Avg").text();
    assert!(!schema.contains("string"), "{schema}");
    // Text in one typed column, or nulls in several, describe nothing.
    for row in ["Ann,many,n/a", "Ann,NA,NA", "Ann,1,2"] {
        place.write("t.csv", format!("name,a,b\n{row}\nBob,1,2\nCid,3,4\nDan,5,6\nEve,7,8\n"));
        let outcome = place.run("cat t.csv");
        assert!(!outcome.stderr.contains("below the header"), "{}", outcome.stderr);
    }
}

#[test]
fn numbers_in_the_first_row_are_names_or_noted() {
    let place = Place::new();
    for (text, note) in [
        ("shop,1,2,3\nA,9,2,7\nBB,3,4,1\n", "the first row names the columns, though it may be values; --header no"),
        ("shop,1,2,7\nA,9,2,7\nBB,3,4,1\n", "the first row is read as values, though it may be names; --header yes"),
        ("shop,2019\nA,9\nBB,3\n", "the first row is read as values, though it may be names; --header yes"),
    ] {
        place.write("t.csv", text);
        noted(&place.run("cat t.csv"), note);
        assert!(!place.run("cat t.csv --header yes").stderr.contains("note"), "{text}");
    }
    for text in [
        "shop,2019,2020\nA,9,2\nBB,3,4\n",
        "shop,1,2,3,4,5\nA,9,2,7,1,1\nBB,3,4,1,2,2\nC,1,1,1,1,1\n",
        "A,1,2\nBB,3,4\n",
    ] {
        place.write("t.csv", text);
        assert!(!place.run("cat t.csv").stderr.contains("note"), "{text}");
    }
}

#[test]
fn comments_that_name_the_columns_are_noted() {
    let place = Place::new();
    place.write("t.txt", "# Time, Temp C\n1.5,2\n3.5,4\n5,6\n");
    let outcome = place.run("cat t.txt");
    noted(&outcome, "a comment names the columns; --names sets other names");
    noted(&outcome, "1 line before the first row skipped (--comment none --skip 0 keeps it)");
    assert_eq!(outcome.text(), "Time,Temp C\n1.5,2\n3.5,4\n5.0,6\n");
    // An option for the comments keeps the names.
    assert_eq!(place.run("cat t.txt --comment #").text(), "Time,Temp C\n1.5,2\n3.5,4\n5.0,6\n");
    let row = |n: i32| format!("1700000{n:03}.5\tC{n}\t-\n");
    let rows: String = (0..300).map(row).collect();
    let head = "#separator \\x09\n#set_separator\t,\n#fields\tts\tuid\tservice\n#types\ttime\tstring\tstring\n";
    let found =
        query(format!("{head}{rows}#close\t2024-01-01\n"), "select count(*) as n, max(ts) as ts, max(uid) as uid");
    assert_eq!(found.text(), "n,ts,uid\n300,1700000299.5,C99\n");
}

#[test]
fn strings_that_are_not_utf8_are_noted_wherever_they_come() {
    let place = Place::new();
    let text = |name: &[u8]| {
        let rows: String = (0..60_000).map(|row| format!("{row},plain {}\n", row % 10)).collect();
        let more: String = (0..60_000).map(|row| format!("{row},plain {row}\n")).collect();
        [b"id,name\n", rows.as_bytes(), b"7,", name, b"\n", rows.as_bytes(), more.as_bytes()].concat()
    };
    place.write("t.csv", text(b"M\xfcller"));
    let note = "'name' has strings that are not UTF-8 (M\\xfcller); --charset latin1 (or windows-1252) decodes them";
    for command in ["convert t.csv t.buren", "query t.csv --by name --agg count()"] {
        noted(&place.run(command), note);
    }
    assert!(!place.run_of(&["query", "t.csv", "select sum(id)"]).stderr.contains("UTF-8"));
    assert!(!place.run("query t.csv --charset raw --by name --agg count()").stderr.contains("UTF-8"));
    place.write("t.csv", text("Müller".as_bytes()));
    assert!(!place.run("convert t.csv u.buren").stderr.contains("UTF-8"));
    // Long strings, which have no dictionary.
    let rows: String = (0..40_000).map(|row| format!("{row},{row:x} is a long text of its own {row}\n")).collect();
    place.write(
        "t.csv",
        [b"id,name\n", rows.as_bytes(), b"7,M\xfcller is one\n", rows.as_bytes(), rows.as_bytes()].concat(),
    );
    noted(&place.run("convert t.csv v.buren"), "'name' has strings that are not UTF-8 (M\\xfcller is one)");
}

#[test]
fn a_value_that_makes_a_column_text_is_named_by_conversions() {
    let place = Place::new();
    let rows: String = (1..1000).map(|row| format!("{row},2024-01-05,c{row}\n")).collect();
    place.write("t.csv", format!("id,day,name\n{rows}1000,2024-13-05,7\n"));
    let note = "'day' is text because of '2024-13-05' (1 of 1,000 values, line 1,001)";
    let outcome = place.run("convert t.csv t.buren");
    noted(&outcome, note);
    assert!(!outcome.stderr.contains("'name' is text"), "{}", outcome.stderr);
    noted(&place.run("convert t.csv t.parquet --rejects bad.csv"), note);
    // From a pipe, and of several files.
    let outcome = place.pipe("convert - piped.buren", &place.read("t.csv"));
    noted(
        &outcome,
        "'day' is text, but nearly all of its first values are date; --type 'day=date' --rejects FILE sets",
    );
    place.write("u.csv", "id,day,name\n1,2024-01-05,x\n");
    noted(&place.run("convert u.csv t.csv both.buren"), "line 1,001 of t.csv)");
    // Long after the sample; and dates that are written in several ways.
    let rows: String = (0..300_000).map(|row| format!("{row},31/12/2024\n")).collect();
    place.write("late.csv", format!("n,day\n{rows}1.5x,2024-12-31\n"));
    let outcome = place.run("convert late.csv late.buren");
    noted(&outcome, "'n' is text because of '1.5x' (1 of 300,001 values, line 300,002)");
    noted(
        &outcome,
        "'day' is text because its values are written in several ways: '31/12/2024', but also '2024-12-31'",
    );
    // Codes, of which many are numbers.
    let codes: String = (0..300).map(|row| format!("{row},{},a\n", 10_000 + row)).collect();
    place.write("codes.csv", format!("id,zip,number\n{codes}1,02139,b\n"));
    let outcome = place.run("convert codes.csv codes.buren");
    assert!(!outcome.stderr.contains("is text"), "{}", outcome.stderr);
}

#[test]
fn a_comma_before_three_digits_is_ambiguous_beside_longer_numbers() {
    let place = Place::new();
    place.write("t.csv", "page,views,cost\n/a,1500,\"1,012.50\"\n/b,\"1,234\",3.75\n/c,5,1.00\n");
    let outcome = place.run("convert t.csv t.buren");
    noted(
        &outcome,
        "'views' is text because it may be written as 1234,5 or as 1,234.5; use --decimal , or --thousands ,",
    );
    let sum = place.run_of(&["query", "t.csv", "select sum(views) as v", "--format", "csv", "--thousands", ","]);
    assert_eq!(sum.text(), "v\n2739\n");
    place.write("points.csv", "page;views;d\na;1500;2,5\nb;1.234;2,7\nc;5;3,1\n");
    noted(
        &place.run("convert points.csv p.buren"),
        "'views' is read with decimal points; if they separate thousands, so that 1.234 is 1234, --decimal , reads them so",
    );
}

#[test]
fn years_of_two_digits_are_noted() {
    let note = "the years of 'dob' have two digits, read as 1969 to 2068; --type 'dob=string' keeps the text";
    let found = query("name,dob\nA,13.05.45\nB,30.12.62\nC,31.01.58\n", "select max(dob) as d");
    noted(&found, note);
    assert_eq!(found.text(), "d\n2062-12-30\n");
    let found = query("name,dob\nA,13.05.1945\nB,30.12.1962\n", "select max(dob) as d");
    assert!(!found.stderr.contains("two digits"), "{}", found.stderr);
}

#[test]
fn comments_that_name_other_columns_are_noted() {
    let fields = "#Fields: date time c-ip sc-status time-taken\n";
    let rows = "2026-10-30 00:00:01 10.0.0.1 200 15\n2026-10-30 00:00:02 10.0.0.1 404 2\n";
    let other = "#Fields: date time c-ip time-taken sc-status\n";
    let note = "1 comment names other columns than the first, so rows below have wrong names; split the file there";
    noted(&query(format!("{fields}{rows}{other}{rows}"), "select count(*)"), note);
    let many = rows.repeat(20_000);
    noted(&query(format!("{fields}{rows}#Date: today\n{many}{other}{rows}"), "select count(*)"), note);
    for comment in ["#Fields:  date time  c-ip sc-status time-taken", "#Fields: are as above, of one day", "#date"] {
        let found = query(format!("{fields}{rows}{comment}\n{rows}"), "select count(*)");
        assert!(!found.stderr.contains("other columns"), "{comment}: {}", found.stderr);
    }
    let found = query(format!("{fields}{rows}#Date: today\n{fields}{rows}"), "select count(*) as n");
    assert!(!found.stderr.contains("other columns"), "{}", found.stderr);
    assert_eq!(found.text(), "n\n4\n");
}

#[test]
fn lines_of_nothing_but_blanks_are_no_rows() {
    let place = Place::new();
    for (text, rows) in [
        ("a,b\n1,2\n   \n3,4\n \t\n", "a,b\n1,2\n3,4\n"),
        ("Oslo;1.0\n\nBergen;2.0\n\n", "station,temperature\nOslo,1.0\nBergen,2.0\n"),
    ] {
        place.write("t.csv", text);
        noted(&place.run("convert t.csv t.buren --force"), "2 rows written, 0 rejected");
        noted(&place.run("convert t.csv t.buren --force"), "skipped 2 blank lines");
        assert_eq!(query(text, "select *").text(), rows);
    }
    // In a single column they are values.
    assert_eq!(query("a\nx\n  \ny\n", "select count(*) as n").text(), "n\n4\n");
}

#[test]
fn repeated_headers_are_skipped() {
    let rows: String = (0..3000).map(|row| format!("{row},x{row}\n")).collect();
    for (text, count) in [
        ("id,name\n1,a\n2,b\nid,name\n3,c\n".to_owned(), 3),
        ("\u{feff}id,name\r\n1,a\r\n\u{feff}id,name\r\n2,b\r\n\u{feff}id,name\r\n3,c".to_owned(), 3),
        (format!("id,name\n{rows}id,name\n{rows}id,name"), 6000),
        ("\"id\",\"name\"\n1,a\n\"id\",\"name\"\n2,b\n".to_owned(), 2),
        (
            "id  name   at\n1   a      2024-01-01\n2   b      2024-01-02\nid  name   at\n3   c      2024-01-03\n"
                .to_owned(),
            3,
        ),
    ] {
        let found = query(&text, "select count(*) as n, min(id) > -1 as typed");
        noted(&found, "repeated header");
        assert_eq!(found.text(), format!("n,typed\n{count},true\n"), "{text}");
    }
    let place = Place::new();
    place.write("t.csv", "id,name\n1,a\nid,name\n2,b\n");
    noted(&place.run("cat t.csv"), "note: skipped 1 repeated header (--header yes keeps it)");
    noted(&place.run("convert t.csv t.buren"), "2 rows written, 0 rejected");
    noted(&place.run("convert t.csv u.buren"), "skipped 1 repeated header");
    assert_eq!(place.run("cat t.csv --header yes").text(), "id,name\n1,a\nid,name\n2,b\n");
}

#[test]
fn rows_that_may_equal_the_header_are_rows() {
    // The only column, all columns text, names that are values.
    for (text, expected) in [
        ("word\nthe\nword\nof\n", "word\nthe\nword\nof\n"),
        ("key,value\nkey,value\nother,thing\n", "value\n"),
        ("name,2019,2020\na,1,2\nname,2019,2020\nb,3,4\n", "name,2019,2020\na,1,2\nname,2019,2020\nb,3,4\n"),
    ] {
        let found = query(text, "select *");
        assert!(!found.stderr.contains("repeated"), "{}", found.stderr);
        let found = found.text();
        assert!(found.contains(expected), "{found}");
    }
}

/// The rows as CSV, with their header.
fn rows(text: &str) -> String {
    query(text, "select *").text()
}

#[test]
fn rows_that_begin_like_comments_are_rows() {
    let urls =
        "src,host\nhttp://a.com/x,a.com\nhttp://b.com/y,b.com\n//cdn.com/z,cdn.com\n#top,c.com\nhttp://c.com/w,c.com\n";
    assert_eq!(query(urls, "select count(*) as n, count(*) filter (where src like '//%') as m").text(), "n,m\n5,1\n");
    let errors = "px,vol\n1.5,100\n#VALUE!,#VALUE!\n#DIV/0!,#N/A N/A\n1.8,130\n1.9,140\n";
    assert_eq!(query(errors, "select count(*) as n").text(), "n\n5\n");
    let place = Place::new();
    let values = ["--", "//p", "%", "q", "-- s"];
    place.write("g.json", values.map(|value| format!("{{\"grade\":\"{value}\",\"score\":\"x y\"}}\n")).concat());
    place.run("convert g.json g.csv").ok();
    let found = place.run_of(&["query", "g.csv", "select grade, score", "--format", "tsv"]).text();
    let quoted = ["\"--\"", "\"//p\"", "\"%\"", "q", "\"-- s\""];
    assert_eq!(found, format!("grade\tscore\n{}", quoted.map(|value| format!("{value}\tx y\n")).concat()));
}

#[test]
fn columns_of_strings_alone_are_read_back() {
    let place = Place::new();
    for values in
        [&["Smith, Bob", "Doe, Al"][..], &["a;b", "c"], &["apple", "pear", "plum"], &["x|y", "z\tz"], &["--", "#"]]
    {
        let rows: String = values.iter().map(|value| format!("{{\"name\":{value:?}}}\n")).collect();
        place.write("t.json", rows);
        for file in ["t.csv", "t.tsv"] {
            place.shell(&format!("rm -f {file}; \"$BRC\" convert t.json {file}")).ok();
            let read = place.run_of(&["query", file, "select *", "--format", "jsonl"]).text();
            let expected: String = values.iter().map(|value| format!("{{\"name\":{value:?}}}\n")).collect();
            assert_eq!(read, expected, "{file}");
        }
    }
}

#[test]
fn dates_tell_names_from_values() {
    for header in [
        "date,10384,3987,10637\n2024-01-01,0.5,1.5,2.5\n2024-01-02,0.6,1.5,2.5\n",
        "date,100.5,20,7\n05.01.2024,1,2,3\n06.01.2024,1,2,3\n",
        "name,2024-01-05,2024-01-06\nAnna,early,late\nBen,off,late\n",
        "room,10:00,11:00\nA,x,y\nB,z,w\n",
        "x-axis,1\nsecond,Volt\n+0.0E+00,+1.5E+00\n+1.0E-06,+1.6E+00\n+2.0E-06,-1.7E+00\n+3.0E-06,+1.8E+00\n",
    ] {
        let (names, _) = header.split_once('\n').unwrap();
        assert_eq!(rows(header).lines().next(), Some(names));
    }
    for values in ["never,5,7\n2024-01-01,6,8\nnever,9,9\n", "2024-01-01,5\n2024-01-02,6\n", "a,10:00\nb,11:00\n"] {
        assert!(rows(values).starts_with("column_1,"), "{values}");
    }
}

#[test]
fn lists_may_have_a_name() {
    for (text, expected) in [
        ("name\nanna\nben\ncarl\n", "name\n"),
        ("user_name\nanna\nben\n", "user_name\n"),
        ("status\nactive\nclosed\nactive\n", "status\n"),
    ] {
        assert!(rows(text).starts_with(expected), "{text}");
    }
    let note = "the first row is read as a value, though it may be the name; --header yes reads it as the name";
    noted(&query("apple\npear\nplum\n", "select *"), note);
    for (text, is_noted) in [
        ("joe_b\nann_a\nbob_c\n", true),
        ("Makefile\nmain.c\nutil.c\nutil.h\n", true),
        ("__init__.py\na.py\nb.py\nc.py\n", true),
        ("README.md\nsrc\ntests\ndocs\n", true),
        ("localhost\n10.0.0.1\n10.0.0.2\n10.0.0.3\n", false),
        ("WEB01\nweb02\nweb03\n", false),
        ("name\nname\nother\n", false),
        ("one line of text that is long\nand another one\n", false),
    ] {
        assert_eq!(query(text, "select count(*) as n").stderr.contains(note), is_noted, "{text}");
        assert!(rows(text).starts_with("column_1\n"), "{text}");
    }
}

#[test]
fn first_rows_of_values_are_no_header() {
    for text in [
        "S1;<0.05\nS2;0.12\nS3;0.33\nS4;0.07\n",
        "S1;<LOD;<LOD\nS2;0.12;0.4\nS3;0.33;0.3\n",
        "a;12*\nb;13\nc;14\nd;15\n",
        "PROJ-1;Login\nPROJ-14;Logout page\nPROJ-15;Crash\nPROJ-16;Docs\n",
        "ENSG00000141510\tTP53\nENSG00000141511\tTP54\nENSG00000141512\tBRCA\n",
        "hsa:10458\tBAIAP2\nhsa:10459\tMAD2\nhsa:1046\tCDX4\nhsa:107\tADCY1\n",
    ] {
        let count = text.lines().count();
        assert_eq!(query(text, "select count(*) as n").text(), format!("n\n{count}\n"), "{text}");
    }
    let note = "the first row names the columns, though it may be values; --header no reads it as values";
    for (text, is_noted) in [
        ("Anna,unknown\nBen,0172 1234\nCarl,0173 1234\nDora,0174 1234\n", true),
        ("cat;Katze\nhot dog;Wurst im Brot\nice cream;Eis\n", true),
        ("John Smith,Engineer\nAnn Lee,Doctor\nBo Li,Lawyer\nCy Young,Pilot\n", true),
        ("name,city\nAnna,Rome\nBen,Oslo\nCarl,Bern\n", false),
        ("userId;orderRef\nanna;x\nben;y\ncarl;z\n", false),
        ("name,age\nAnna,5\nBen,6\n", false),
    ] {
        assert_eq!(query(text, "select count(*)").stderr.contains(note), is_noted, "{text}");
    }
    for text in [
        "id,x1\n1,\n2,\n3,\n",
        "x,y\n1,true\n2,false\n3,true\n",
        "name,t\na,TRUE\nb,FALSE\n",
        "question,yes\nq1,true\nq2,false\n",
    ] {
        assert!(rows(text).starts_with(text.lines().next().unwrap()), "{text}");
    }
}

#[test]
fn a_number_sign_before_names_is_no_name_of_numbers() {
    let points = "# x y\n0.1 2 0.1\n0.2 3 0.1\n";
    assert_eq!(query(points, "select count(*) as n, sum(column_2) as s").text(), "n,s\n2,5\n");
    let ranks = "# Name Score\n1 Ann 50\n2 Ben 48\n";
    assert_eq!(query(ranks, "select max(Name) as n, max(Score) as s").text(), "n,s\nBen,50\n");
}

#[test]
fn charsets_that_are_not_latin_are_not_said_to_be() {
    let cyrillic = b"\xe8\xe4;\xe8\xec\xff\n1;\xc0\xed\xed\xe0\n2;\xc1\xee\xf0\xe8\xf1\n";
    noted(&query(cyrillic, "select count(*)"), "may be windows-1251; strings keep their bytes");
    // Chinese, Japanese and Korean in the charsets of their countries.
    for (text, name) in [
        (&b"\xb1\xe0\xba\xc5,\xd0\xd5\xc3\xfb,\xb3\xc7\xca\xd0\n1,\xd5\xc5\xc8\xfd,\xb1\xb1\xbe\xa9\n"[..], "gbk"),
        (b"\x94\xd4\x8d\x86,\x8e\x81\x96\xbc,\x93s\x8es\n1,\x8eR\x93c\x91\xbe\x98Y,\x93\x8c\x8b\x9e\n", "shift_jis"),
        (
            b"\xb9\xf8\xc8\xa3,\xc0\xcc\xb8\xa7,\xb5\xb5\xbd\xc3\n1,\xb1\xe8\xc3\xb6\xbc\xf6,\xbc\xad\xbf\xef\n",
            "euc-kr",
        ),
    ] {
        noted(&query(text, "select count(*)"), &format!("to convert it, use --charset {name}"));
    }
    noted(&query(b"id;name\n1;M\xfcller\n2;Ren\xe9\n", "select count(*)"), "looks like Latin-1");
    let utf32: Vec<u8> = "\u{feff}a,b\n1,2\n".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
    query(utf32, "select count(*)").fails_with(1, "is text in UTF-32, which is not read; iconv");
    let days = "day,n\n2024-01-05,1\nNaT,2\n2024-01-07,3\n";
    assert_eq!(query(days, "select max(day) as day, count(day) as n").text(), "day,n\n2024-01-07,2\n");
}

#[test]
fn numbers_in_sequence_above_others_are_names() {
    let row = |row: usize, form: fn(usize) -> String| {
        (0..4).map(|at| form(row * 37 + [3, 29, 11, 57][at])).collect::<Vec<_>>()
    };
    let rows = |form: fn(usize) -> String| (1..31).map(|it| row(it, form).join(",") + "\n").collect::<String>();
    let (fractions, wholes) = (rows(|it| format!("0.{:03}", it % 997)), rows(|it| (5 + it % 90).to_string()));
    let doubt = "the first row names the columns, though it may be values";
    for (text, names) in [
        (format!("2019,2020,2021,2022\n{fractions}"), "2019,2020,2021,2022"),
        (format!("2019,2020,2021,2022\n{wholes}"), "2019,2020,2021,2022"),
    ] {
        let found = query(&text, "select * limit 1");
        noted(&found, doubt);
        assert_eq!(found.text().lines().next(), Some(names));
    }
    noted(
        &query(format!("1,2,3,4\n{wholes}"), "select count(*)"),
        "the first row is read as values, though it may be names",
    );
    let matrix: String = (0..20).map(|it| format!("{},{},{}\n", it * 3, it * 3 + 1, it * 3 + 2)).collect();
    let found = query(&matrix, "select count(*) as n");
    assert_eq!((found.stderr.contains("though"), found.text()), (false, "n\n20\n".to_owned()));
}

#[test]
fn lines_of_prose_can_be_read_whole() {
    let place = Place::new();
    let line = |row: usize| format!("c{row} Fix a{}\n", if row == 20 { ", b, \"c" } else { "" });
    place.write("log.txt", (0..30).map(line).collect::<String>());
    place.run("count log.txt --delimiter ,").fails_with(3, "--delimiter none reads whole lines");
    place.write("two.csv", "id,name\n1,a\n2,b\n");
    let one = "--names has 1 column, but the first lines have 2 columns; --delimiter none reads whole lines";
    place.run("cat two.csv --names x").fails_with(2, one);
    assert_eq!(place.run("count log.txt --delimiter none --quote none").text(), "30\n");
}

#[test]
fn line_ends_of_two_kinds_are_noted() {
    for text in ["a,b\r1,2\r3,4\r5,6\n", "a,b\r1,2\n3,4\n5,6\n"] {
        noted(&query(text, "select count(*)"), "tr '\\r' '\\n' makes all line ends alike");
    }
    let quoted = "a,b\n1,\"x\ry\"\n3,4\n5,6\n";
    assert!(!query(quoted, "select count(*)").stderr.contains("line ends"));
}

#[test]
fn delimiters_do_not_split_times_or_lists() {
    let log: String = (0..9).map(|row| format!("2024-01-05 10:00:0{row},037 - app - INFO - message\n")).collect();
    assert_eq!(query(log, "select count(*) as n, max(column_2) as t").text(), "n,t\n9,\"10:00:08,037\"\n");
    let gps = "gps\tnote\n50.5,10.25\t\n51.5,11.25\t\n52.5,12.25\t\n53.5,13.25\tok\n";
    for text in [gps.to_owned(), gps.replace('\t', ";"), gps.replace('\t', "|")] {
        assert_eq!(query(&text, "select max(gps) as gps, max(note) as note").text(), "gps,note\n\"53.5,13.25\",ok\n");
    }
    let grams: String = (0..9).map(|row| format!("word{row}\t1978,1,1\t1979,5,3\n")).collect();
    assert_eq!(
        query(grams, "select max(column_2) as a, max(column_3) as b").text(),
        "a,b\n\"1978,1,1\",\"1979,5,3\"\n"
    );
    for list in ["Sample ID\nSample 1\nSample 2\nSample 3\n", "flight code\nLH 400\nBA 117\nAF 12\n"] {
        assert_eq!(rows(list).lines().last(), list.lines().last(), "{list}");
    }
    let prices: String = (0..30).map(|row| format!("2024-01-05 10:00:{row:02},{}.50\n", 150 + row)).collect();
    for header in ["timestamp,usd\n", ""] {
        let found = query(format!("{header}{prices}"), "select count(*) as n");
        assert_eq!((found.stderr.as_str(), found.stdout.as_slice()), ("", &b"n\n30\n"[..]), "{header}");
    }
    assert_eq!(query(format!("timestamp,usd\n{prices}"), "select max(usd) as usd").text(), "usd\n179.50\n");
}

#[test]
fn numbers_that_may_be_something_else_stay_text() {
    let lists =
        "'v' is text because it may be written as 1234,5 or as lists of numbers; use --type 'v=decimal(2)' or --type";
    let groups = "'v' is text because it may be written as 1234.5 or as 1.234,5; use --decimal . or --decimal ,";
    for (values, note) in [
        (&["8,1", "8,10", "253,0"][..], lists),
        (&["100", "100,200", "50,60"], lists),
        (&["433,39", "0,360", "567,488"], lists),
        (&["330.579", "45.173", "987"], groups),
        (&["1.234.567", "7", "10.500"], ""),
        (&["12,50", "9,90", "15"], ""),
        (&["2,5", "12,25", "7"], ""),
        (&["1.375", "2", "2.5"], ""),
        (&["0.125", "2", "3.375"], ""),
    ] {
        for delimiter in ["\t", ";", "|"] {
            let row = |(index, value): (usize, &&str)| format!("r{index}{delimiter}{value}\n");
            let text = format!("name{delimiter}v\n{}", values.iter().enumerate().map(row).collect::<String>());
            let found = query(&text, "select max(v) as v");
            let is_noted = !note.is_empty() && (note != lists || delimiter != ";");
            assert_eq!(!found.stderr.is_empty(), is_noted, "{text}{}", found.stderr);
            if !is_noted {
                continue;
            }
            let found = query(&text, "select sum(v) as v");
            assert!(found.stderr.contains(note), "{text}{}", found.stderr);
        }
    }
    let spaced = "ville;pop\nParis;2 145 906\nBrest;139 456\nSein;806\n";
    assert_eq!(query(spaced, "select sum(pop) as n").text(), "n\n2286168\n");
    let phones = "name;phone\nAnna;555 123 456\nBen;555 123 457\n";
    assert_eq!(query(phones, "select max(phone) as n").text(), "n\n555 123 457\n");
}

#[test]
fn commas_in_numbers_may_separate_several() {
    let beside_points = "id,rating,genres\n1,4.5,\"28,12\"\n2,3.5,\"18,35\"\n3,4.0,16\n";
    assert_eq!(rows(beside_points), beside_points);
    let found = query(beside_points, "select max(genres)");
    noted(
        &found,
        "'genres' is text, because its commas may separate the values of lists; if they are decimal marks, --type",
    );
    let tabs = "version\tprice\n1.5\t2,50\n1.6\t13,25\n";
    assert_eq!(query(tabs, "select max(price) as most").text(), "most\n13.25\n");
    // Between semicolons, they are decimal commas all the same.
    let decimals = "version;price\n1.5;2,50\n1.6;3,25\n";
    assert_eq!(query(decimals, "select sum(price) as sum").text(), "sum\n5.75\n");
    for (values, note) in [
        (
            "\"28,12\"\n2,\"18,35\"\n3,16",
            "'v' is read with decimal commas (12,34 as 12.34); if they separate several numbers",
        ),
        (
            "\"101,102\"\n2,\"205,206,207\"\n3,301",
            "'v' is read with commas between thousands (123,456 as 123456); if they",
        ),
    ] {
        noted(&query(format!("id,v\n1,{values}\n"), "select sum(v)"), note);
    }
    let found = query("id,v\n1,\"1,234,567\"\n2,\"123,456\"\n3,999\n", "select sum(v) as sum");
    assert!(!found.stderr.contains("commas"), "{}", found.stderr);
    assert_eq!(found.text(), "sum\n1359022\n");
}

#[test]
fn tables_of_database_clients_are_read() {
    let stamps = "id          name       created\n----------- ---------- -----------------------\n\
                  1           Alice      2024-01-05 10:00:00.000\n2           Bob        2024-01-06 10:00:00.000\n";
    assert_eq!(query(stamps, "select max(name) as name, max(created) as day").text(), "name,day\nBob,2024-01-06\n");
    let completed = "\n(2 rows affected)\n\n\nCompletion time: 2024-01-05T10:00:00.0+01:00\n";
    let text = format!("id          amount\n----------- ------\n1           5\n2           6\n{completed}");
    noted(&query(text, "select count(*)"), "--skip-footer 4 skips it");
    let short = "region,sales\nnorth,10\nsouth,20\n\nregion,cost\nnorth,5\nsouth,6\n";
    noted(&query(short, "select count(*)"), "line 5 below an empty line may be the header of another table");
    assert!(rows("#,Full Name,Pts\n1,Ann Lee,50\n2,Bo Li,48\n").starts_with("\"#\",Full Name,Pts\n"));
    let found = query("# t  v\n0.0 1.5\n0.1 1.6\n", "select sum(v) as v");
    assert!(!found.stderr.contains("shifted"), "{}", found.stderr);
    assert_eq!(found.text(), "v\n3.1\n");
}

#[test]
fn a_first_field_may_be_longer_than_the_sample() {
    let place = Place::new();
    let long = "line, with comma\n".repeat(10_000);
    place.write("t.csv", format!("id,text\n1,\"{long}\"\n2,x\n3,y\n"));
    place.shell("gzip -k t.csv").ok();
    for file in ["t.csv", "t.csv.gz"] {
        let found = place.run_of(&["query", file, "select count(*) as n, max(length(text)) as l", "--format", "csv"]);
        assert_eq!(found.text(), "n,l\n3,170000\n", "{file}");
    }
}

#[test]
fn sizes_of_text_that_may_be_meant_as_numbers_or_dates_are_noted() {
    let place = Place::new();
    place.write("t.csv", "d,amount,x,n\n05/06/2024,1,9,1\n06/07/2023,2,10,2\n12/01/2022,3,n.a.,3\n");
    let day = "note: 'd' is text because it may be written as %d/%m/%Y or as %m/%d/%Y; use --date-format";
    let x = "note: 'x' is text because of 'n.a.' (1 of 3 values, line 4); use try_cast(x as int64)";
    for (question, expected) in [
        ("select * where d > '2024-01-01'", day),
        ("select * where d between '01/01/2022' and '31/12/2022'", day),
        ("select max(d), min(d)", day),
        ("select d as other order by other", day),
        ("select amount, d order by 2", day),
        ("select max(x)", x),
        ("select n group by n having min(x) < '5'", x),
        ("select n order by x desc", x),
    ] {
        let outcome = place.run_of(&["query", "t.csv", question]);
        noted(&outcome, expected);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    }
    noted(&place.run("sort t.csv --by d"), day);
    noted(&place.run("query t.csv t.csv --by n --agg max(x)"), "(1 of 3 values, line 4 of t.csv)");
    for question in ["select * where d = '05/06/2024'", "select count(x), max(n)", "select d, x where n > 1"] {
        let outcome = place.run_of(&["query", "t.csv", question]);
        assert!(outcome.code == Some(0) && outcome.stderr.is_empty(), "{question}: {}", outcome.stderr);
    }
    // Codes and words are meant as text.
    place.write("w.csv", "zip,w\n01234,a\n12345,5\n23456,b\n");
    let outcome = place.run("sort w.csv --by zip,w");
    assert!(outcome.code == Some(0) && outcome.stderr.is_empty(), "{}", outcome.stderr);
}

#[test]
fn numbers_that_name_columns_are_noted() {
    let place = Place::new();
    place.write("t.csv", "country,2019,2020\nDE,5,6\n");
    for arguments in
        [&["select sum(2019)"][..], &["select country, avg(2019) group by 1"], &["--by", "", "--agg", "max(1 + 2019)"]]
    {
        noted(
            &place.run_of(&[&["query", "t.csv"], arguments].concat()),
            "note: 2019 is a number; the column is \"2019\"",
        );
    }
    for question in ["select sum(\"2019\")", "select sum(\"2020\" * 2019)", "select country, 2019", "select sum(5)"] {
        let outcome = place.run_of(&["query", "t.csv", question]);
        assert!(outcome.code == Some(0) && outcome.stderr.is_empty(), "{question}: {}", outcome.stderr);
    }
}

#[test]
fn separators_that_may_mean_something_else_are_noted() {
    let place = Place::new();
    place.write("pairs.tsv", "CHROM\tAD\nchr1\t35,12\nchr1\t8,33\nchr2\t17,18\nchr2\t9,4\n");
    noted(&place.run("convert pairs.tsv p.buren"), "'AD' is read with decimal commas (12,34 as 12.34)");
    place.write("prices.tsv", "item\tprice\na\t35,12\nb\t8,30\nc\t17,18\n");
    assert_eq!(place.run("convert prices.tsv q.buren").stderr.matches("note: ").count(), 0);
    // Lists in another column, decimal points in another column, or two and three digits.
    for rows in [
        "a\t255,0,0\t27,18\nb\t255,0,0\t25,73\n",
        "a\t0.0001\t8,0\nb\t0.0002\t8,1\n",
        "a\tx\t100,51\nb\ty\t75,101\nc\tz\t38,62\n",
    ] {
        place.write("lists.tsv", format!("name\tother\tlist\n{rows}"));
        noted(&place.run("convert lists.tsv l.buren --force"), "'list' is read with decimal commas (12,34 as 12.34)");
    }
    place.write("points.csv", "a;b\n1.234;2\n5.678;3\n");
    noted(&place.run("convert points.csv r.buren"), "'a' is read with decimal points; if they separate thousands");
    let sum = place.run_of(&["query", "points.csv", "select sum(a) as s", "--decimal", ",", "--format", "csv"]);
    assert_eq!(sum.text(), "s\n6912\n");
    place.write("fractions.csv", "a;b\n0.234;2\n5.678;3\n");
    assert_eq!(place.run("convert fractions.csv s.buren").stderr.matches("note: ").count(), 0);
    place.write("spaced.csv", "a,d\n1.5,1 234\n2.5,1 234 567\n3.5,12\n");
    let spaced = place.run_of(&["query", "spaced.csv", "select sum(d) as s", "--format", "csv"]);
    assert_eq!((spaced.stderr.clone(), spaced.text()), (String::new(), "s\n1235813\n".to_owned()));
}

#[test]
fn hints_can_be_pasted_into_a_shell() {
    let place = Place::new();
    place.write("t.csv", "n,it's=%d\n1,05/06/2024\n2,07/08/2024\n");
    let hint = r#"--date-format '"it'\''s=%d"=%d/%m/%Y'"#;
    noted(&place.run("convert t.csv t.buren"), hint);
    let read = place.run_of(&["cat", "t.csv", "--date-format", "\"it's=%d\"=%d/%m/%Y", "--to", "json"]);
    assert!(read.text().contains("\"2024-06-05\""));
}

#[test]
fn json_in_utf_16_is_refused_with_the_reason() {
    let place = Place::new();
    let text: Vec<u8> = "\u{feff}{\"id\":1}\n{\"id\":2}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for name in ["u.txt", "u.jsonl"] {
        place.write(name, &text);
        place.run(&format!("cat {name}")).fails_with(1, "is JSON in UTF-16, which is not read; iconv -f UTF-16");
    }
}

#[test]
fn a_small_table_between_padded_titles_and_notes_has_its_header() {
    for text in [
        "Report,,\nname,qty,price\nA,100,2.50\nB,300,4.00\nSource: ERP,,\n",
        "Report,,\nStand: today,,\n,,\nname,qty,price\nA,100,2.50\nB,300,4.00\n,,\nSource: ERP,,\nDraft,,\n",
    ] {
        let found = query(text, "select name, qty, price where qty > 0");
        noted(&found, "before the header skipped");
        assert_eq!(found.text(), "name,qty,price\nA,100,2.50\nB,300,4.00\n");
    }
    // Rows without values among the others are rows, and so are those at the end of a table of text.
    let many = "Fred,,\n".repeat(20);
    for (text, rows) in [
        ("A,,\nB,,\nC,1,2\nD,,\nE,3,4\nF,,\n", 6),
        ("Anna,,\nBerta,Oslo,red\nCarl,,\nDora,,\nEmil,,\nFred,,\n", 6),
        ("Anna,,\nBerta,Oslo,red\nCarl,Rome,blue\nDora,,\n", 4),
        (&format!("Anna,,\nBerta,Oslo,red\nCarl,Rome,blue\n{many}"), 23),
    ] {
        let place = Place::new();
        place.write("t.csv", text);
        let found = place.run_of(&["query", "t.csv", "select count(*) as n", "--format", "csv"]);
        assert!([format!("n\n{rows}\n"), format!("n\n{}\n", rows - 1)].contains(&found.text()), "{text}");
        assert!(!place.run("head t.csv").stderr.contains("before the header skipped"), "{text}");
    }
}

#[test]
fn text_above_numbers_is_noted_where_it_may_be_the_header() {
    let rows: String = (1..50).map(|row| format!("R{row},{row},2,3,4\n")).collect();
    for head in ["Region,2023,2023,2024,2024\n,Q1,Q2,Q1,Q2\n", ",2023,,2024,\nRegion,Q1,Q2,Q1,Q2\n"] {
        let text = format!("{head}{rows}");
        let note =
            "line 2 holds text above numbers or dates, which become text; if it is the header, --skip 1 starts with it";
        noted(&query(&text, "select count(*) as n"), note);
        let place = Place::new();
        place.write("t.csv", text);
        assert!(place.run("sniff t.csv").text().contains(note));
        let schema = place.run("schema t.csv --skip 1").text();
        assert!(schema.contains("int64") && !schema.contains("Q1 string"), "{schema}");
    }
}

#[test]
fn names_that_all_begin_with_a_sign_are_a_header() {
    let text = "#Data;#Opis;#Kwota;\n2024-01-30;A;-45,20;;\n2024-01-29;B;2500,00;;\n";
    for header in [&[][..], &["--header", "yes"]] {
        let place = Place::new();
        place.write("t.csv", text);
        let query = ["query", "t.csv", "select \"#Opis\", sum(\"#Kwota\") as s group by 1", "--format", "csv"];
        assert_eq!(place.run_of(&[&query[..], header].concat()).text(), "\"#Opis\",s\nA,-45.20\nB,2500.00\n");
    }
    // Also where other lines are comments.
    let text = "#Data;#Opis;#Kwota\n2024-01-30;A;1\n# a comment\n2024-01-29;B;2\n2024-01-28;B;2\n";
    let found = query(text, "select \"#Opis\", sum(\"#Kwota\") as s group by 1");
    assert_eq!(found.text(), "\"#Opis\",s\nA,1\nB,4\n");
}

/// As in the station data of the UK Met Office.
#[test]
fn units_below_names_that_are_above_fewer_columns_are_left_out() {
    let rows: String = (0..30)
        .map(|row| format!("   {}  {:2}   {}.4   {}.7\n", 1853 + row / 12, row % 12 + 1, 8 + row % 9, row % 7))
        .collect();
    let text = format!("Oxford\nLocation: 450900E\n   yyyy  mm   tmax    tmin\n              degC    degC\n{rows}");
    let found = query(text, "select yyyy, max(tmax) as m group by yyyy order by 1 limit 1");
    noted(&found, "the row above the units names the columns; --names sets other names");
    assert_eq!(found.text(), "yyyy,m\n1853,16.4\n");
    // A header below a title of as many words as the rows have fields.
    let rows: String = (0..25).map(|row| format!("A,{row},1.5\n")).collect();
    let names = query(format!("Sales,North region,Draft\nitem,qty\n{rows}"), "select * limit 1");
    assert!(!names.stderr.contains("above the units"), "{}", names.stderr);
}

#[test]
fn numbers_that_blanks_separate_in_the_last_column_are_noted() {
    let text = "                   mpg cyl disp  hp drat    wt  qsec vs am gear carb\n\
                Mazda RX4         21.0   6  160 110 3.90 2.620 16.46  0  1    4    4\n\
                Mazda RX4 Wag     21.0   6  160 110 3.90 2.875 17.02  0  1    4    4\n\
                Datsun 710        22.8   4  108  93 3.85 2.320 18.61  1  1    4    1\n\
                Hornet 4 Drive    21.4   6  258 110 3.08 3.215 19.44  1  0    3    1\n\
                Hornet Sportabout 18.7   8  360 175 3.15 3.440 17.02  0  0    3    2\n\
                Valiant           18.1   6  225 105 2.76 3.460 20.22  1  0    3    1\n";
    noted(&query(text, "select count(*) as n"), "a value with a blank may have shifted the others");
}

#[test]
fn the_last_name_of_a_table_of_blanks_keeps_its_quotes() {
    let place = Place::new();
    place.write("t.txt", "a title \"RMSD\"\n0.0 1.5\n1.0 2.5\n");
    let names = place.run("head t.txt --delimiter blanks -n 1 --format csv").text();
    assert!(names.starts_with("a,\"title \"\"RMSD\"\"\"\n"), "{names}");
}
