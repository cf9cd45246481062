//! Tests of the options for reading text in all commands; messages about rejected rows and changed values; compressed
//! text.

mod common;

use common::Place;

/// A text that differs from the default dialect in every part.
const ODD: &str = "\
some title
% a comment
1;'O''Neil; Bob';1,50;2024-01-31
2; NA ;2,5;
total;2
";

const ODD_OPTIONS: [&str; 20] = [
    "--delimiter",
    ";",
    "--quote",
    "'",
    "--escape",
    "none",
    "--brackets",
    "no",
    "--comment",
    "%",
    "--header",
    "no",
    "--skip",
    "1",
    "--skip-footer",
    "1",
    "--trim",
    "yes",
    "--null",
    ",NA",
];

fn run(place: &Place, command: &[&str], options: &[&str]) -> String {
    place.run_of(&[command, options].concat()).text()
}

#[test]
fn every_part_of_a_dialect_can_be_given() {
    let place = Place::new();
    place.write("t.csv", ODD);
    let names = ["--names", "id,name,price,day"];
    let options = [&ODD_OPTIONS[..], &names].concat();
    let expected = "{\"id\":1,\"name\":\"O'Neil; Bob\",\"price\":1.50,\"day\":\"2024-01-31\"}\n\
                    {\"id\":2,\"name\":null,\"price\":2.50,\"day\":null}\n";
    assert_eq!(run(&place, &["cat", "t.csv", "--to", "json"], &options), expected);
    let schema = run(&place, &["schema", "t.csv"], &options);
    let types: Vec<_> = schema.lines().skip(2).filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(types, ["int64", "string", "decimal(18,2)", "date"]);
    let head = run(&place, &["head", "t.csv", "--format", "csv", "-n", "1"], &options);
    assert_eq!(head, "id,name,price,day\n1,O'Neil; Bob,\"1,50\",2024-01-31\n");
    let count = ["query", "t.csv", "--by", "", "--agg", "count(),count(name),sum(id)", "--format", "csv"];
    assert_eq!(run(&place, &count, &options), "count(),count(name),sum(id)\n2,1,3\n");
    let sniffed = run(&place, &["sniff", "t.csv"], &options);
    assert!(sniffed.contains("delimiter            ';'          given"), "{sniffed}");
    assert!(sniffed.contains("O'Neil; Bob"), "{sniffed}");
    assert_eq!(
        run(&place, &["sniff", "t.csv", "--schema"], &options),
        "id:int64,name:string,price:decimal(18,2),day:date\n"
    );
    for command in [&["verify", "t.csv"][..], &["inspect", "t.csv"]] {
        assert!(run(&place, command, &options).contains("csv"), "{command:?}");
    }
    run(&place, &["convert", "t.csv", "t.parquet"], &options);
    assert_eq!(place.run("cat t.parquet --to json").text(), expected);
    let compare = ["compare", "t.csv", "--encodings", "csv,json,parquet", "--compressions", "none", "--runs", "1"];
    let compare = [&compare[..], &["--convert-runs", "1", "--by", "name", "--agg", "count()"], &options].concat();
    assert!(place.run_of(&compare).text().contains("parquet"));
}

#[test]
fn types_can_be_given() {
    let place = Place::new();
    place.write("t.csv", "id,price,day\n007,1.5,2024-01-31\n8,2,2024-02-29\n");
    let schema = |options: &str| place.run(&format!("sniff t.csv --schema {options}")).text();
    assert_eq!(schema(""), "id:string,price:decimal(18,1),day:date\n");
    assert_eq!(schema("--type price=decimal(10,2) --type id=int32"), "id:int32,price:decimal(10,2),day:date\n");
    assert_eq!(schema("--all-strings --type day=date"), "id:string,price:string,day:date\n");
    assert_eq!(schema("--exact-text"), "id:string,price:string,day:date\n");
    place.run("cat t.csv --type prise=int").fails_with(2, "'prise'");
    place.run("cat t.csv --type price:int").fails_with(2, "'price:int' is not of the form name=type");
    place.run("cat t.csv --type price=money").fails_with(2, "unknown type 'money'");
    place.run("verify t.csv --type price=int").fails_with(3, "line 2, byte 13, column 'price'");
    place.run("cat t.csv --all-strings --schema a:int").fails_with(2, "--all-strings");
    place.run("convert t.csv t.parquet").ok();
    place
        .run("cat t.parquet --all-strings")
        .fails_with(2, "the input is parquet, and options for reading text do not apply");
}

/// The output of `brc sniff --schema` is accepted by other commands.
#[test]
fn a_schema_can_be_read_from_a_file() {
    let place = Place::new();
    place.write("t.csv", "id,price\n1,1.5\n2,2\n");
    place.write("t.schema", place.run("sniff t.csv --schema").text());
    for command in ["cat t.csv --to csv", "query t.csv --by id --agg max(price) --format csv"] {
        let plain = place.run(command).text();
        assert_eq!(place.run(&format!("{command} --schema @t.schema")).text(), plain);
    }
    place.write("t.schema", "id:string,price:decimal(18,2)\n");
    assert_eq!(place.run("cat t.csv --schema @t.schema").text(), "id,price\n1,1.50\n2,2.00\n");
    place.run("cat t.csv --schema @none").fails_with(2, "none: cannot read");
}

#[test]
fn ragged_rows_are_an_error_padded_or_rejected() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2\n3\n4,5,6\n7,8\n");
    place.run("verify t.csv --delimiter , --header yes").fails_with(3, "line 3, byte 8: 1 column instead of 2");
    place.run("verify t.csv --delimiter , --ragged pad").fails_with(3, "line 4, byte 10: 3 columns instead of 2");
    assert_eq!(place.run("head t.csv --delimiter , --ragged pad -n 2 --format csv").text(), "a,b\n1,2\n3,\n");
    assert_eq!(place.run("cat t.csv --delimiter , --ragged reject").text(), "a,b\n1,2\n7,8\n");
    let sum = "query t.csv --delimiter , --by '' --agg sum(a) --format csv --ragged reject";
    let sum = sum.replace("''", "");
    let arguments: Vec<&str> = sum.split(' ').collect();
    assert_eq!(place.run_of(&arguments).text(), "sum(a)\n8\n");
    let outcome = place.run("convert t.csv t.buren --delimiter , --ragged reject");
    let stderr = outcome.stderr.clone();
    outcome.ok();
    assert!(stderr.contains("2 rows written, 2 rejected"), "{stderr}");
    assert!(stderr.contains("rejected 1 row: 1 column instead of 2 (first on line 3); --ragged pad"), "{stderr}");
    assert!(
        stderr.contains("rejected 1 row: 3 columns instead of 2 (first on line 4); if a field contains the delimiter"),
        "{stderr}"
    );
}

#[test]
fn rejects_are_summed_up_and_read_back() {
    let place = Place::new();
    let bad = ["x\t\"y\"", "\"open", "7,\"a\"b", "q,w,e"];
    let text = format!("id,name\n1,a\n{}\n2,b\n{}\n{}\n{}\n", bad[3], bad[2], bad[0], bad[1]);
    place.write("t.csv", text);
    let outcome = place.run("convert t.csv t.buren --type id=int,name=string --delimiter , --rejects bad.tsv");
    let stderr = outcome.stderr.clone();
    outcome.ok();
    assert!(stderr.contains("2 rows written, 4 rejected"), "{stderr}");
    assert!(
        stderr
            .contains("rejected 1 row: text after a closing quote (first on line 5); if quotes in fields are escaped"),
        "{stderr}"
    );
    // Any reader of CSV gets the rows back byte by byte.
    let rows = place.run("cat bad.tsv --all-strings --columns line,byte,row --to json").text();
    let expected = "{\"line\":\"3\",\"byte\":\"12\",\"row\":\"q,w,e\"}\n\
                    {\"line\":\"5\",\"byte\":\"22\",\"row\":\"7,\\\"a\\\"b\"}\n\
                    {\"line\":\"6\",\"byte\":\"29\",\"row\":\"x\\t\\\"y\\\"\"}\n\
                    {\"line\":\"7\",\"byte\":\"35\",\"row\":\"\\\"open\"}\n";
    assert_eq!(rows, expected);
}

#[test]
fn values_that_change_their_text_are_reported() {
    let place = Place::new();
    place.write("t.csv", "a,b,c\n1.5,1e5,x\n1.50,2.0,y\n3,7,z\n");
    let outcome = place.run("convert t.csv t.buren");
    let stderr = outcome.stderr.clone();
    outcome.ok();
    let expected = "1 value of 'b' will be written differently (1e5 → 100000.0); --exact-text keeps the spelling";
    assert!(stderr.contains(expected) && !stderr.contains("'a'"), "{stderr}");
    let exact = place.run("convert t.csv u.buren --exact-text");
    assert!(!exact.stderr.contains("written differently"), "{}", exact.stderr);
    assert_eq!(place.run("cat u.buren").text(), "a,b,c\n1.5,1e5,x\n1.50,2.0,y\n3,7,z\n");
}

#[test]
fn blanks_long_comments_and_escaped_quotes_are_read() {
    let place = Place::new();
    place.write("blanks.txt", "  name      price\tday\r\n \"a b\"    1.5  x  \r\n\r\n c\t\t2   \"y \"\"z\"\"\"\t\r\n");
    let read = "name,price,day\na b,1.5,x\nc,2.0,\"y \"\"z\"\"\"\n";
    assert_eq!(place.run("cat blanks.txt --delimiter blanks").text(), read);
    assert_eq!(place.run("cat blanks.txt").text(), read);
    place.write("ragged.txt", "a  b c\n1 2\n");
    place.run("verify ragged.txt --delimiter blanks").fails_with(3, "line 2, byte 7: 2 columns instead of 3");
    let comment = "a,b\n// \"x, \"y\n1,/2\n//\n/3,4\n/\n";
    place.write("t.csv", comment);
    let rows = place.run("cat t.csv --comment // --ragged reject").text();
    assert_eq!(rows, "a,b\n1,/2\n/3,4\n");
    place.run("cat t.csv --comment REM").fails_with(2, "a comment prefix other than one character");
    place.write("u.csv", "a,b\n\"say \\\"hi\\\", or\\\\\",2\n\"x\",3\n");
    assert_eq!(place.run("cat u.csv").text(), "a,b\n\"say \"\"hi\"\", or\\\",2\nx,3\n");
}

#[test]
fn no_line_is_lost_to_a_guess() {
    let place = Place::new();
    for (text, rows, noted) in [
        ("issue,title,state\n# 12,Crash,open\n# 13,Hang,closed\n", "2", ""),
        ("apt,name\n1,a\n2,x\n#3,b\n4,c\n5,e\n", "5", ""),
        ("a,b\n1,2\n3,4\n# one\n5,6\n", "3", "note: skipped 1 comment line (--comment sets the prefix, or none)"),
        ("c0;c1;c2\nalpha;\"one\rtwo\";946\nb c;801;199\nb c;12;881\nb c;501;124\n", "4", ""),
        ("id,name,name\n1,a,b\n2,c,d\n", "2", "column 3, also named 'name', is called 'name_1'"),
        (
            "  id name     city   sal\n   1 Ola      Oslo   800\n   2 Ann Lee  Oslo   160\n   3 Kim      Rome   125\n",
            "3",
            "1 sampled row with runs of blanks in the last column",
        ),
    ] {
        place.write("t.csv", text);
        for command in [&["count", "t.csv"][..], &["query", "t.csv", "select count()", "--format", "csv"]] {
            let outcome = place.run_of(command);
            assert!(outcome.stderr.contains(noted) && (!noted.is_empty() || outcome.stderr.is_empty()), "{outcome:?}");
            assert_eq!(outcome.text().trim_start_matches("count()\n").trim_end(), rows, "{text}");
        }
    }
}

#[test]
fn blanks_around_quotes_and_lone_escapes_are_read() {
    let place = Place::new();
    place.write("t.csv", "id,name,v\n1, \"a, b\", 2.5\n2, \"c\" ,3.5\n3,\"d\", 4.5\n");
    let read = "id,name,v\n1,\"a, b\",2.5\n2,c,3.5\n3,d,4.5\n";
    assert_eq!(place.run("cat t.csv").text(), read);
    assert_eq!(place.shell("$BRC cat - < t.csv").text(), read);
    let large = format!("id,name,v\n{}", "1, \"a, b\", 2.5\n2, \"c\" ,3.5\n".repeat(200_000));
    place.write("large.csv", &large);
    for threads in ["1", "3"] {
        let query = ["query", "large.csv", "select count(), sum(v) where name = 'a, b'", "--format", "csv"];
        assert_eq!(run(&place, &query, &["--threads", threads]), "count(),sum(v)\n200000,500000.0\n");
    }
    place.write("q.csv", "id, msg, x\n1, \"Hello\" he said, 2\n2, ok, 3\n");
    assert_eq!(place.run("cat q.csv --columns msg").text(), "msg\n\"\"\"Hello\"\" he said\"\nok\n");
    place.write("w.csv", "path,note\n\"C:\\temp\\new\",\"said \\\"ok\\\"\"\n\"D:\\data\",plain\n");
    assert_eq!(place.run("cat w.csv --columns path").text(), "path\nC:\\temp\\new\nD:\\data\n");
    place.write("d.csv", "x,y\n.5,1\n1.5,2\n-.25,3\n");
    assert_eq!(place.run_of(&["query", "d.csv", "select sum(x)", "--format", "csv"]).text(), "sum(x)\n1.75\n");
    place.write("h.csv", "a,b\n1,x\nq,y\n3,z\n");
    let converted = place.run("convert h.csv h.buren --type a=int64 --rejects r.tsv");
    assert!(converted.stderr.starts_with("2 rows written, 1 rejected"), "{}", converted.stderr);
}

/// Large enough for several splits: the rows must not depend on where splits begin.
#[test]
fn long_texts_with_blanks_and_comments_are_split_anywhere() {
    let place = Place::new();
    let row = |row: u64| match row % 7 {
        0 => format!("## \"comment {row}\n"),
        1 => format!("  \"quoted\n{row}\"   {row}\n"),
        _ => format!("#{row}  \t {row}  \n"),
    };
    place.write("t.txt", "name value\n".to_owned() + &(0..400_000).map(row).collect::<String>());
    let options = ["--delimiter", "blanks", "--comment", "##"];
    let sum = ["query", "t.txt", "--by", "", "--agg", "count(),sum(value),count(distinct name)", "--format", "csv"];
    let expected: u64 = (0..400_000).filter(|row| row % 7 != 0).sum();
    let rows = (0..400_000).filter(|row| row % 7 != 0).count();
    for threads in ["1", "3"] {
        let answer = run(&place, &sum, &[&options[..], &["--threads", threads]].concat());
        assert_eq!(answer, format!("count(),sum(value),count(distinct name)\n{rows},{expected},{rows}\n"));
    }
    let piped = "cat t.txt | $BRC query - --by '' --agg 'sum(value)' --format csv --delimiter blanks --comment '##'";
    assert_eq!(place.shell(piped).text(), format!("sum(value)\n{expected}\n"));
}

/// A delimiter that the beginning of a file does not show is detected further on.
#[test]
fn a_file_is_sampled_at_several_offsets() {
    let place = Place::new();
    let text = ("x".repeat(999) + "\n").repeat(100) + &"1;2\n".repeat(400_000);
    place.write("t.csv", text);
    let sniffed = place.run("sniff t.csv").stdout;
    let sniffed = String::from_utf8(sniffed).unwrap();
    assert!(sniffed.contains("';'"), "{sniffed}");
    let outcome = place.run("convert t.csv t.buren --ragged reject --header no");
    assert!(outcome.stderr.contains("400,000 rows written, 100 rejected"), "{}", outcome.stderr);
    assert_eq!(place.run("head t.buren -n 1 --format csv").text(), "column_1,column_2\n1,2\n");
}

#[test]
fn bzip2_and_xz_are_read() {
    let place = Place::new();
    let text = "id,name\n".to_owned() + &(0..50_000).map(|row| format!("{row},n{}\n", row % 7)).collect::<String>();
    place.write("t.csv", &text);
    let expected = place.run("query t.csv --by name --agg sum(id) --format csv").text();
    for (tool, extension) in [("bzip2", "bz2"), ("xz", "xz")] {
        if place.shell(&format!("{tool} -c t.csv > t.csv.{extension}")).code != Some(0) {
            continue;
        }
        let file = format!("t.csv.{extension}");
        assert_eq!(place.run(&format!("query {file} --by name --agg sum(id) --format csv")).text(), expected);
        let bytes = place.read(&file);
        assert_eq!(place.pipe("cat -", &bytes).text(), text);
        assert!(place.run(&format!("sniff {file}")).text().contains(&format!("compression          {tool}\n")));
        place.write(&file, &bytes[..bytes.len() / 2]);
        place.run(&format!("query {file}")).fails_with(4, "corrupt file: compressed data");
        let out = format!("convert t.csv out.csv.{extension}");
        place.run(&out).fails_with(2, &format!("the extension means {tool}, which brc only reads"));
        place.run(&format!("convert t.csv out.csv --compression {tool}")).fails_with(2, "--compression");
    }
}

#[test]
fn the_delimiter_of_an_output_can_be_given() {
    let place = Place::new();
    place.write("t.tsv", "a\tb\n1\tx;y\n");
    assert_eq!(place.run("cat t.tsv").text(), "a,b\n1,x;y\n");
    assert_eq!(place.run("cat t.tsv --delimiter tab").text(), "a\tb\n1\tx;y\n");
    assert_eq!(place.run("cat t.tsv --delimiter tab --output-delimiter ;").text(), "a;b\n1;\"x;y\"\n");
    place.run("convert t.tsv t.csv --separator tab --output-delimiter |").ok();
    assert_eq!(place.read("t.csv"), b"a|b\n1|x;y\n");
}

/// Nulls pass through every command and every encoding that supports them.
#[test]
fn nulls_pass_through() {
    let place = Place::new();
    let text = "key,number,text\na,1,x\n,2,\nb,,\"\"\na,4,\n";
    place.write("t.csv", text);
    place.write("u.csv", "key,number\nb,5\n");
    let columns = brc_core::Schema::parse("key:string,number:int64,text:string").unwrap();
    let holds_it = |encoding: &&&'static dyn brc_encodings::Encoding| encoding.supports(&columns).is_ok();
    for encoding in brc_encodings::ENCODINGS.iter().filter(holds_it) {
        let file = format!("t-{}.{}", encoding.name(), encoding.extensions()[0]);
        place.run(&format!("convert t.csv {file}")).ok();
        assert_eq!(place.run(&format!("cat {file}")).text(), text, "{file}");
        let by_key = place.run(&format!("query {file} --by key --agg count(),sum(number),count(text) --format csv"));
        assert_eq!(by_key.text(), "key,count(),sum(number),count(text)\na,2,5,1\nb,1,,1\n,1,2,0\n", "{file}");
        let union = format!("{file} u.csv --union-by-name");
        let by_key = place.run(&format!("query {union} --by key --agg sum(number),count(text) --format csv"));
        assert_eq!(by_key.text(), "key,sum(number),count(text)\na,5,1\nb,5,1\n,2,0\n", "{file}");
        assert_eq!(place.run(&format!("cat {union}")).text(), format!("{text}b,5,\n"), "{file}");
        let out = format!("union-{}.{}", encoding.name(), encoding.extensions()[0]);
        place.run(&format!("convert --union-by-name {file} u.csv {out}")).ok();
        assert_eq!(place.run(&format!("cat {out}")).text(), format!("{text}b,5,\n"), "{file}");
    }
    let compare = "compare t.csv --compressions none --runs 1 --convert-runs 1 --by key --agg sum(number)";
    assert!(place.run(compare).text().contains("buren"));
}

/// Truncated texts and their messages.
#[test]
fn truncated_texts_are_reported() {
    let cut_off = "and no line end";
    let unclosed = "a quote is never closed";
    let cases: &[(&[u8], i32, &str)] = &[
        (b"id,name,price\n1,Oslo,1.5\n2,Ber", 3, cut_off),
        (b"id,name,price\n1,Oslo,1.5\n2,Troms\xc3", 3, cut_off),
        (b"id,name,price\r1,Oslo,1.5\r2", 3, "line 3, byte 25: 1 column instead of 3, and no line end"),
        (b"id,name,price\n1,Oslo,1.5\n2,\"Ber\ngen\",2.5\n3,\"Trom\ns", 3, unclosed),
        (b"id,name,price\n1,Oslo,1.5\n2,Bergen,\"2.", 3, unclosed),
        (b"\xff\xfei\0d\0,\0n\0\n\x001\0,\0O\0\n\x002\0,", 4, "1 byte at byte 22 is not valid UTF-16LE"),
        // Truncation of these cannot be detected.
        (b"id,name,price\n1,Oslo,1.5\n2,Bergen,2.", 0, "2 rows written"),
        (b"id,name,price\n1,Oslo,1.5\n2,Bergen,2.5", 0, "2 rows written"),
        (b"id,name\n1,Oslo\n2,Troms\xc3", 0, "2 rows written"),
        (b"id,name", 0, "0 rows written"),
    ];
    let place = Place::new();
    for (text, code, message) in cases {
        place.write("t.csv", text);
        let outcomes = [place.run("convert t.csv t.buren --force"), place.pipe("convert - t.buren --force", text)];
        for outcome in outcomes {
            assert_eq!(outcome.code, Some(*code), "{}: {}", text.escape_ascii(), outcome.stderr);
            assert!(outcome.stderr.contains(message), "{}: {}", text.escape_ascii(), outcome.stderr);
        }
        let input = format!(" {} B →", text.len());
        let piped = place.pipe("convert - t.buren --force", text);
        assert!(*code != 0 || piped.stderr.contains(&input), "{}", piped.stderr);
    }
}

#[test]
fn tsv_is_written_with_tabs() {
    let place = Place::new();
    place.write("t.csv", "a;b\n1;x y\n");
    place.run("convert t.csv t.tsv").ok();
    place.run("cat t.csv -o u.tsv").ok();
    place.run("query t.csv --by b --agg max(a) --out v.tsv").ok();
    place.run("convert t.csv w.tsv --output-delimiter ;").ok();
    let [t, u, v, w] = ["t.tsv", "u.tsv", "v.tsv", "w.tsv"].map(|name| String::from_utf8(place.read(name)).unwrap());
    assert_eq!([&t, &u, &v, &w], ["a\tb\n1\tx y\n", &t, "b\tmax(a)\nx y\t1\n", "a;b\n1;x y\n"]);
    assert_eq!(place.run("cat t.tsv").text(), "a,b\n1,x y\n");
}

/// The blocks of bgzip end within rows.
#[test]
fn files_of_bgzip_are_read() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../brc-compress/tests/fixtures/bgzip.gz");
    let place = Place::new();
    place.write("t.txt.gz", std::fs::read(fixture).unwrap());
    let text = place.run("cat t.txt.gz").text();
    assert_eq!(text.lines().count(), 12_000);
    let named = place.run("cat t.txt.gz --names a,b --header no --threads 3 --to csv").text();
    assert_eq!(named, format!("a,b\n{}", text.replace(';', ",")));
}

#[test]
fn utf_16_needs_no_byte_order_mark() {
    let place = Place::new();
    let text: Vec<u8> = "id;name\r\n1;Øl\r\n2;日本\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("t.csv", &text);
    assert_eq!(place.run("cat t.csv").text(), "id,name\n1,Øl\n2,日本\n");
    assert_eq!(place.pipe("cat -", &text).text(), "id,name\n1,Øl\n2,日本\n");
}

/// Texts, their options, and the expected numbers of lines: header, rows written, rows rejected, lines before the
/// table, comments, blank lines, lines after it.
const LEDGERS: &[(&str, &str, [u64; 7])] = &[
    ("id,v\n1,1\n2,2\n", "", [1, 2, 0, 0, 0, 0, 0]),
    ("1,1\n2,2", "", [0, 2, 0, 0, 0, 0, 0]),
    ("Weather\nof Oslo\n\ndate,temp,hum\n2024-01-01,1,2\n2024-01-02,1,2\n", "", [1, 2, 0, 3, 0, 0, 0]),
    ("Station,Oslo\ndate,temp,hum\n2024-01-01,1,2\n2024-01-02,1,2\n", "", [1, 2, 0, 1, 0, 0, 0]),
    ("# a note, too\n# and more\nid,v\n1,1\n2,2\n", "", [1, 2, 0, 2, 0, 0, 0]),
    ("# a note, too\n# and more\nid,v\n1,1\n2,2\n", "--header yes", [1, 2, 0, 0, 2, 0, 0]),
    ("\n\nid,v\n\n1,1\n\n\n2,2\n\n", "", [1, 2, 0, 0, 0, 6, 0]),
    ("id,v\n1,1\n# a note\n2,2\n# more\n3,3\n", "", [1, 3, 0, 0, 2, 0, 0]),
    ("sep=;\nid;v\n1;1\n2;2\n", "", [1, 2, 0, 1, 0, 0, 0]),
    ("sep=;\nid;v\n1;1\n2;2\n", "--names id,v", [1, 2, 0, 1, 0, 0, 0]),
    ("a\nb\nid,v\n1,1\n2,2\n", "--skip 2", [1, 2, 0, 2, 0, 0, 0]),
    ("id,v\n1,1\n2,2\ntotal,3\nby me\n", "--skip-footer 2", [1, 2, 0, 0, 0, 0, 2]),
    ("id,v\n1,1\n2,2,x\n3\n4,4\n", "--rejects r.tsv --force", [1, 2, 2, 0, 0, 0, 0]),
    ("id,v\n1,1\n2,2\n3,3,x,y\n4,4,x,y\n5,5,x,y\n", "--rejects r.tsv --force", [1, 3, 2, 0, 0, 0, 0]),
    ("id,v\n1,1\n2,2\n3,3,x,y\n4,4,x,y\n5,5,x,y\n", "--ragged pad", [1, 5, 0, 0, 0, 0, 0]),
    ("Oslo;1.0\nBergen;2.0\n\"Bodo;3.0\n", "", [0, 3, 0, 0, 0, 0, 0]),
];

#[test]
fn every_line_is_accounted_for() {
    for (text, options, counts @ [header, written, rejected, before, comments, blank, after]) in LEDGERS {
        assert_eq!(counts.iter().sum::<u64>(), text.lines().count() as u64, "{text}");
        let place = Place::new();
        place.write("t.csv", text);
        let outcome = place.run(&format!("convert t.csv t.buren {options}"));
        assert_eq!(outcome.code, Some(0), "{text}: {}", outcome.stderr);
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let mut said = vec![format!("{written} row{} written, {rejected} rejected; ", plural(*written))];
        let kinds = [(before, "line", " before the table"), (comments, "comment line", ""), (blank, "blank line", "")];
        for (count, noun, place) in kinds.into_iter().chain([(after, "line", " after the table")]) {
            said.extend((*count > 0).then(|| format!("{count} {noun}{}{place}", plural(*count))));
        }
        for part in said {
            assert!(outcome.stderr.contains(&part), "{text}: {part}: {}", outcome.stderr);
        }
        let skips = outcome.stderr.contains("\nskipped ");
        assert_eq!(skips, before + comments + blank + after > 0, "{text}: {}", outcome.stderr);
        let names = place.run("schema t.buren").text().contains("column_1");
        assert_eq!(names, *header == 0 && !text.starts_with("Oslo"), "{text}");
    }
}

#[test]
fn lines_inferred_not_to_be_rows_are_reported() {
    let place = Place::new();
    place.write("t.csv", "Weather\nof Oslo\ndate,temp,hum\n2024-01-01,1,2\n2024-01-02,1,2\n");
    let note = "note: 2 lines before the header skipped (--skip 0 keeps them)";
    for command in ["query t.csv 'select count(*)'", "cat t.csv", "head t.csv", "convert t.csv t.buren"] {
        assert!(place.shell(&format!("$BRC {command}")).stderr.contains(note), "{command}");
    }
    // With a given schema, no line is dropped by inference.
    for option in ["--skip 0", "--header yes", "--header no", "--names a,b,c", "--ragged error"] {
        let outcome = place.run(&format!("convert t.csv t.buren --force {option}"));
        assert_eq!(outcome.code, Some(3), "{option}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("1 column instead of 3"), "{option}: {}", outcome.stderr);
    }
}

#[test]
fn rows_are_sampled_whole() {
    let place = Place::new();
    let header =
        |columns: usize, name: &str| (0..columns).map(|column| format!("{name}{column}")).collect::<Vec<_>>().join(",");
    let rows = |columns: usize| format!("{}\n", vec!["1"; columns].join(",")).repeat(3);
    let cases = [
        (format!("{}\n{}", header(3000, "a_rather_long_name_of_a_column_"), rows(3000)), "", 3000),
        (format!("{}{}\n{}", "# note\n".repeat(3000), header(3, "c"), rows(3)), "", 3),
        (format!("{}{}\n{}", "# one of many notes, each the same\n".repeat(3000), header(3, "c"), rows(3)), "", 3),
        (format!("{}{}\n{}", "// one of many notes\n".repeat(4000), header(3, "c"), rows(3)), "", 3),
        (format!("{}{}\n{}", "% one;of many;notes\n".repeat(4000), header(3, "c"), rows(3)), "", 3),
        (format!("{}\n{}\n{}", "x".repeat(100_000), header(3, "c"), rows(3)), "--skip 1", 3),
        (format!("{}\n{}\n{}", "x ".repeat(100_000), header(3, "c"), rows(3)), "", 3),
        (format!("a,{},c\n1,2,3\n4,5,6\n", "b".repeat(65_527)), "", 3),
    ];
    for (text, options, columns) in cases {
        place.write("t.csv", &text);
        for compressed in [false, true] {
            let outcome = match compressed {
                false => place.run(&format!("convert t.csv t.buren --force {options}")),
                true => place.pipe(&format!("convert - t.buren --force {options}"), text.as_bytes()),
            };
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            let schema = place.run("schema t.buren").text();
            assert_eq!(schema.lines().count() - 2, columns, "{options}");
            assert!(!schema.contains("string"), "{options}");
        }
    }
}

#[test]
fn files_of_a_table_decide_together_whether_they_have_a_header() {
    let place = Place::new();
    place.write("a.csv", "yr,2023,2024\nEU,1,2\nUS,3,4\n");
    place.write("b.csv", "yr,2023,2024\n7,3,4\n8,5,6\n");
    let sum =
        |files: &str, column: &str| place.shell(&format!("$BRC query {files} 'select sum(\"{column}\")' --format csv"));
    assert_eq!(sum("a.csv b.csv", "2023").text().lines().nth(1), Some("12"));
    assert_eq!(sum("b.csv a.csv", "2023").text().lines().nth(1), Some("12"));
    // A file that was opened before the header was determined is opened again.
    place.write("known.csv", "name,city\nAnna,Oslo\nBob,Rome\n");
    place.write("unknown.csv", "name,city\nname,Bern\n");
    for files in ["known.csv unknown.csv", "unknown.csv known.csv"] {
        let names = format!("$BRC query {files} \"select min(name) where city = 'Bern'\" --format csv");
        assert_eq!(place.shell(&names).text().lines().nth(1), Some("name"), "{files}");
    }
}

/// Files of procfs report no size, or a wrong one.
#[test]
#[cfg(target_os = "linux")]
fn files_without_a_size_are_read_to_their_end() {
    let place = Place::new();
    let rows = place.shell("$BRC query /proc/meminfo --delimiter : --header no 'select count(*)' --format csv").text();
    let lines = std::fs::read_to_string("/proc/meminfo").unwrap().lines().count();
    assert_eq!(rows.lines().nth(1), Some(lines.to_string().as_str()));
    let columns = place.run("cat /sys/kernel/mm/transparent_hugepage/enabled --header no --to csv");
    assert_eq!(columns.code, Some(0), "{}", columns.stderr);
    assert!(columns.stdout.len() > 20, "{}", columns.text());
}

#[test]
fn a_text_in_another_charset_is_noticed() {
    let place = Place::new();
    place.write("t.csv", b"city,n\nZ\xfcrich,1\nBern,2\n");
    let kept =
        "looks like Latin-1 (windows-1252); strings keep their bytes as they are; to convert it, use --charset latin1";
    assert!(place.run("sniff t.csv").text().contains(kept));
    for target in ["t.buren", "t.parquet"] {
        // Parquet strings must be UTF-8; other bytes are binary there.
        let converted = place.run(&format!("convert t.csv {target}"));
        assert!(converted.stderr.contains(kept), "{}", converted.stderr);
        if converted.code != Some(0) {
            continue;
        }
        let asked = place.run_of(&["query", target, "--by", "", "--agg", "count(*)", "--where", "city = 'Zürich'"]);
        let note = "note: 'city' is not UTF-8, so 'Zürich' may not match; convert the text again with --charset latin1 (or \
                    windows-1252)\n";
        assert!(asked.stderr.contains(note), "{target}: {}", asked.stderr);
    }
    let ask = |file: &str, condition: &str, option: &str| {
        let options = ["--by", "", "--agg", "count(*)", "--format", "csv", "--where", condition];
        let option: Vec<&str> = option.split(' ').filter(|word| !word.is_empty()).collect();
        place.run_of(&[&["query", file], &options[..], &option[..]].concat())
    };
    let asked = ask("t.csv", "city in ('Zürich', 'Bern')", "");
    assert!(asked.stderr.contains("'Zürich' may not match; read the text with --charset latin1"), "{}", asked.stderr);
    assert_eq!(ask("t.csv", "city = 'Zürich'", "--charset latin1").text(), "count(*)\n1\n");
    assert_eq!(ask("t.csv", "city = 'Zürich'", "--charset latin1").stderr, "");
    // UTF-8 columns and ASCII conditions give no note.
    assert!(!ask("t.csv", "city = 'Bern'", "").stderr.contains("may not match"));
    place.write("u.csv", "city,n\nZürich,1\nBern,2\n");
    assert_eq!(ask("u.csv", "city = 'Zürich'", "").stderr, "");
}

/// Lines of the combined log format of web servers.
fn access_log(rows: usize) -> String {
    let row = |row: usize| {
        let request = format!("\"GET /{row}?q=[a b] HTTP/1.1\" 200 1{row} \"-\" \"Mozilla/5.0 (X11; rv:1)\"");
        format!("10.0.0.{} - - [20/Nov/2025:10:{:02}:{:02} +0100] {request}\n", row % 250, row / 60 % 60, row % 60)
    };
    (0..rows).map(row).collect()
}

#[test]
fn the_time_in_brackets_of_an_access_log_is_a_timestamp() {
    let place = Place::new();
    place.write("access.log", access_log(30));
    let sniffed = place.run("sniff access.log").text();
    assert!(sniffed.contains("brackets             around fields 30 sampled fields are in [ ]"), "{sniffed}");
    assert!(sniffed.contains("(--brackets)"), "{sniffed}");
    let names = "--names host,ident,user,at,request,status,bytes,referer,agent";
    for target in ["a.buren", "a.parquet"] {
        place.run(&format!("convert access.log {target} {names}")).ok();
        let schema = place.run(&format!("schema {target}")).text();
        assert!(
            schema.contains(" at        timestamp(s) with zone   null    %d/%b/%Y:%H:%M:%S %z at +0100"),
            "{schema}"
        );
        let answer = place.run_of(&["query", target, "select max(at), sum(bytes)", "--format", "csv"]).text();
        assert_eq!(answer, "max(at),sum(bytes)\n2025-11-20 09:00:29Z,2535\n");
    }
    let rows = place.run("cat a.buren --format csv -n 1").text();
    let expected = "10.0.0.0,-,-,20/Nov/2025:10:00:00 +0100,GET /0?q=[a b] HTTP/1.1,200,10,-,Mozilla/5.0 (X11; rv:1)";
    assert_eq!(rows.lines().nth(1), Some(expected));
    let columns =
        |options: &str| place.run(&format!("sniff access.log --schema {options}")).text().matches(',').count();
    assert_eq!([columns(""), columns("--brackets no"), columns("--brackets yes --delimiter blanks")], [8, 9, 8]);
    place.write("t.csv", "a,b\n[x,y],3\n[],4\n[5,6,7\n");
    let outcome = place.run("cat t.csv --brackets yes");
    outcome.fails_with(3, "t.csv: line 4, byte 17: 1 column instead of 2");
    let rows = place.run("cat t.csv --brackets yes --ragged reject");
    assert_eq!(rows.text(), "a,b\n\"x,y\",3\n\"\",4\n");
    place.run("cat t.csv --brackets yes --quote [").fails_with(2, "[ can't have two meanings");
}

#[test]
fn long_access_logs_are_split_anywhere() {
    let place = Place::new();
    place.write("access.log", access_log(40_000));
    let query = "select count(*), count(distinct column_1), max(column_4), sum(column_7)";
    let answers: Vec<String> = ["1", "3"]
        .iter()
        .map(|threads| place.run_of(&["query", "access.log", query, "--format", "csv", "--threads", threads]).text())
        .collect();
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].contains("\n40000,250,"), "{}", answers[0]);
}

#[test]
fn errors_mention_comments_after_the_sample() {
    let place = Place::new();
    let row = |row: usize| {
        if row == 30_000 { "# moved to a new machine\n".to_owned() } else { format!("{row},x{row},1.5\n") }
    };
    place.write("t.csv", format!("id,name,price\n{}", (0..100_000).map(row).collect::<String>()));
    let hint = "if lines that begin with '#' are comments, --comment '#' skips them";
    let outcome = place.run("convert t.csv t.buren");
    outcome.fails_with(3, "t.csv: line 30002, byte ");
    outcome.fails_with(3, "1 column instead of 3, in a line that begins with '#'\n");
    outcome.fails_with(3, &format!("brc: {hint}\n"));
    let outcome = place.run("convert t.csv t.buren --rejects bad.tsv");
    let reason = "rejected 1 row: 1 column instead of 3, in a line that begins with '#' (first on line 30002); ";
    assert!(outcome.stderr.contains(&format!("{reason}{hint}")), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("99,999 rows written, 1 rejected"), "{}", outcome.stderr);
    let outcome = place.run("convert t.csv t.buren --comment # --force");
    assert!(outcome.stderr.contains("99,999 rows written, 0 rejected"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("skipped 1 comment line"), "{}", outcome.stderr);
    // A line with the right number of fields but an invalid value, and a row that is bad for another reason.
    place.write("u.csv", "id,v\n1,2\n# a,b\n#3,x\n");
    let types = "--schema id:int64,v:int64 --comment none";
    place
        .run(&format!("convert u.csv u.buren {types}"))
        .fails_with(3, "column 'id': malformed number '# a', in a line that begins with '#'");
    place.write("u.csv", "id,v\na,2\n#3,x\n");
    let outcome = place.run("convert u.csv u.buren --schema id:string,v:int64 --comment none");
    assert!(outcome.code == Some(3) && !outcome.stderr.contains("--comment"), "{}", outcome.stderr);
    // The same for the table of the One Billion Row Challenge.
    let rows = "Oslo;1.5\n".repeat(30_000);
    place.write("m.txt", format!("{rows}# moved\n{rows}{rows}"));
    place.run("query m.txt").fails_with(3, hint);
}

/// Every command says how many rows it leaves out.
#[test]
fn rows_left_out_are_counted() {
    let place = Place::new();
    place.write("r.csv", "a,b\n1,2\n3\n5,6\n");
    let note = "note: rejected 1 row with the wrong number of columns\n";
    for command in ["count", "cat", "head", "tail", "sort", "summarize", "verify", "query"] {
        let clauses = match command {
            "query" => "--by a --agg count(*)",
            "sort" => "--by a",
            _ => "",
        };
        let outcome = place.run(&format!("{command} r.csv --ragged reject {clauses}"));
        assert_eq!(outcome.stderr, note, "{command}");
        outcome.ok();
    }
    assert_eq!(place.run("verify r.csv --ragged reject").text(), "r.csv: OK (csv, 2 rows, 14 B)\n");
    assert_eq!(place.run("count r.csv --ragged reject").text(), "2\n");
}

/// The advice on a footer counts its lines, not its rows.
#[test]
fn advice_on_a_footer_counts_empty_lines() {
    let place = Place::new();
    for (end, lines) in [("", 1), ("\n", 2), ("\n\n", 3)] {
        place.write("psql.txt", format!(" id | name\n----+------\n  1 | a\n  2 | b\n(2 rows)\n{end}"));
        let advice = format!("--skip-footer {lines} skips it");
        let sniffed = place.run("sniff psql.txt");
        let shown = String::from_utf8_lossy(&sniffed.stdout);
        assert!(shown.contains(&advice), "{shown}");
        assert_eq!(place.run(&format!("count psql.txt --skip-footer {lines}")).text(), "2\n");
    }
}
