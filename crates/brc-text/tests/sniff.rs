//! Each feature of a dialect is detected in a small file that has it.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use brc_text::{Delimiter, Dialect, DialectOverrides, Part, Sample, Sniffed, sniff, sniff_rows};
use std::fs;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn bytes_of(file: &str) -> Vec<u8> {
    fs::read(directory().join(file)).unwrap()
}

fn sniff_file(file: &str) -> Sniffed {
    sniff(&[Sample::whole(&bytes_of(file))], &DialectOverrides::default())
}

/// File, its dialect without the defaults, and the names of its columns.
#[rustfmt::skip]
const FILES: &[(&str, &str, &str)] = &[
    ("all-text-no-header.csv", "',', no header", "column_1¦column_2¦column_3"),
    ("all-text.csv", "',', header", "name¦city"),
    ("apostrophes.csv", "',', quote ''', header", "id¦text"),
    ("backslash.csv", "',', escape '\\', header", "id¦text"),
    ("blanks.txt", "blanks, header", "id¦name¦mass"),
    ("caret.csv", "'^', header", "id¦when"),
    ("colon.txt", "':', no header", "column_1¦column_2¦column_3¦column_4¦column_5¦column_6¦column_7"),
    ("cr-fields.csv", "';', no header, line end CR", "column_1¦column_2¦column_3"),
    ("comments.csv", "',', header, comment '#'", "id¦name¦size"),
    ("cr.csv", "',', header, line end CR", "id¦name"),
    ("doubled.csv", "',', header", "id¦text"),
    ("empty.csv", "',', no header", ""),
    ("empty-first.csv", "'|', no header", "column_1¦column_2"),
    ("empty-leading.tsv", "tab, no header", "column_1¦column_2¦column_3"),
    ("empty-trailing.tsv", "tab, no header", "column_1¦column_2"),
    ("hash-header.tsv", "tab, header, 2 preamble lines", "#CHROM¦POS¦REF"),
    ("hash.csv", "'#', header", "id¦city¦zip"),
    ("header-only.csv", "',', header", "id¦name¦price"),
    ("latin1.csv", "';', header", "id¦caf�¦m�re"),
    ("names.csv", "',', header", "a¦column_2¦a_2¦b¦a_1"),
    ("no-header.csv", "';', no header", "column_1¦column_2"),
    ("one-column.csv", "',', header", "price"),
    ("padded-numbers.csv", "',', header, fields trimmed", "id¦name¦size"),
    ("padded.csv", "',', header, fields trimmed", "id¦text¦size"),
    ("pipe.csv", "'|', header", "id¦tags¦ok"),
    ("plain.csv", "',', header", "id¦name¦price"),
    ("preamble.csv", "',', header, 3 preamble lines", "region¦units¦price"),
    ("semicolon.csv", "';', header, line end CRLF", "id¦price¦note"),
    ("lf-fields.csv", "',', header", "id¦text"),
    ("soh.txt", "\\x01, no header", "column_1¦column_2¦column_3"),
    ("sparse-first.csv", "';', no header", "column_1¦column_2¦column_3¦column_4"),
    ("sparse.tsv", "tab, no header", "column_1¦column_2¦column_3"),
    ("tab.tsv", "tab, header", "id¦name¦born"),
    ("tilde.csv", "'~', header", "id¦name¦sum"),
    ("titles.csv", "',', header, 2 preamble lines", "region¦units¦price¦day"),
    ("trailing.csv", "',', header", "region¦units¦price"),
    ("utf16.csv", "',', header, line end CRLF, charset UTF-16LE", "id¦größe"),
    ("utf16be-bom.csv", "',', header, charset UTF-16BE", "id¦größe"),
    ("utf8-bom.csv", "',', header, charset UTF-8", "id¦größe"),
    ("years.csv", "',', header", "country¦2019¦2020¦2021"),
];

/// A dialect in one line, without quote, line end and charset if they are the defaults.
fn in_short(dialect: &Dialect) -> String {
    let usual = [("delimiter ", ""), ("quote '\"', ", ""), (", line end LF", ""), (", charset raw", "")];
    usual.iter().fold(dialect.to_string(), |text, (from, to)| text.replacen(from, to, 1))
}

#[test]
fn every_feature_is_detected() {
    for (file, dialect, names) in FILES {
        let sniffed = sniff_file(file);
        assert_eq!((&*in_short(&sniffed.dialect), &*sniffed.names.join("¦")), (*dialect, *names), "{file}");
        assert_eq!(sniffed.dialect.check(), Ok(()), "{file}");
    }
    let files = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut untested = files.filter(|name| !name.starts_with('.') && FILES.iter().all(|(file, ..)| file != name));
    assert_eq!(untested.next(), None);
}

/// Texts, the expected dialects, and the names of their columns.
#[test]
fn layouts_are_detected() {
    let rows = |count: usize| (1..=count).map(|row| format!("2024-01-{row:02};{row}.5;{row}\n")).collect::<String>();
    let numbers = |count: usize| (1..=count).map(|row| format!("{row},{row}\n")).collect::<String>();
    let wide = |count: usize| (1..=count).map(|row| format!("{row},{row},x,y\n")).collect::<String>();
    let comments = |count: usize, text: &str| format!("{text}\n").repeat(count);
    let keys = "from:;2026-01-01\nto:;2026-02-01\naccount:;CH1\nkind:;all\ncurrency:;CHF\nname:;Ann\n";
    let four = "column_1¦column_2¦column_3¦column_4";
    let cases: Vec<(String, &str, &str)> = vec![
        // Rows that grew, at various positions.
        (format!("id,v\n{}{}", numbers(10), wide(90)), "',', header", "id¦v¦column_3¦column_4"),
        (format!("id,v\n{}{}", numbers(1), wide(90)), "',', header", "id¦v¦column_3¦column_4"),
        (format!("{}{}", numbers(10), wide(90)), "',', no header", "column_1¦column_2¦column_3¦column_4"),
        (format!("id\n{}{}", "1\n2\n", wide(90)), "',', header", "id¦column_2¦column_3¦column_4"),
        (format!("name,city\n{}", "Anna,Oslo,NO\nBob,Rome,IT\nCarl,Bern,CH\n"), "',', header", "name¦city¦column_3"),
        // Names that recur, or look like values.
        ("word,count\nthe,120\nof,90\nword,12\n".to_owned(), "',', header", "word¦count"),
        ("field,type,null\nid,int,NO\nfield,text,YES\nname,text,YES\n".to_owned(), "',', header", "field¦type¦null"),
        ("web,down\nweb,3.5\ndb,2.2\nweb,2.5\n".to_owned(), "',', no header", "column_1¦column_2"),
        ("<DATE>,<OPEN>\n20240130,1.5\n20240131,1.6\n".to_owned(), "',', header", "<DATE>¦<OPEN>"),
        ("region,<18,18-64,>64\nN,1,2,3\nS,4,5,6\n".to_owned(), "',', header", "region¦<18¦18-64¦>64"),
        ("country,2019*\nDE,1.5\nFR,1.5\n".to_owned(), "',', header", "country¦2019*"),
        ("S1,<0.05,0.2\nS2,0.3,0.4\nS3,0.6,0.2\n".to_owned(), "',', no header", "column_1¦column_2¦column_3"),
        ("group,25%,50%\na,1.5,2.5\nb,1.6,2.6\n".to_owned(), "',', header", "group¦25%¦50%"),
        ("quarter,NA\n2024-Q1,5\n2024-Q2,7\n2024-Q3,9\n".to_owned(), "',', header", "quarter¦NA"),
        ("Smith,NA\nJones,5\nBrown,7\nWhite,9\n".to_owned(), "',', no header", "column_1¦column_2"),
        ("#\tTeam\t+/-\n1\tReds\t+15\n2\tBlues\t+8\n".to_owned(), "tab, header", "#¦Team¦+/-"),
        // What spreadsheets write in place of values begins no comment.
        ("Preis;Menge\n1,50;3\n#NV;#NV\n#WERT!;3\n2,25;#DIV/0!\n".to_owned(), "';', header", "Preis¦Menge"),
        // Commas between names are delimiters, whatever divides the values.
        (
            format!("frame,bbox\n{}", (1..10).map(|row| format!("{row},{};{}\n", row * 7, row * 9)).collect::<String>()),
            "',', header",
            "frame¦bbox",
        ),
        // Quotes that hardly any row uses soundly are text.
        (
            (1..4).map(|row| format!("a {row} \"/f\" \"GET /f{row} 1.1\", x: \"y\"\n")).collect(),
            "space, no header",
            "column_1¦column_2¦column_3¦column_4¦column_5¦column_6¦column_7¦column_8",
        ),
        // Titles.
        (
            format!("Acme Ltd;;\n;;\nDate;Temp;Hum\n{}", rows(9)),
            "';', header, 2 preamble lines",
            "Date¦Temp¦Hum",
        ),
        (
            format!("Acme Ltd,,,\nPeriod:,Jan 2024,,\n,,,\na,b,c,d\n{}", wide(9)),
            "',', header, 3 preamble lines",
            "a¦b¦c¦d",
        ),
        (format!("Expenses,\nJanuary,\n,\na,b\n{}", numbers(9)), "',', header, 3 preamble lines", "a¦b"),
        (format!("Station;Oslo\nDate;Temp;Hum\n{}", rows(9)), "';', header, 1 preamble line", "Date¦Temp¦Hum"),
        (format!("Station;Oslo\nDate;Temp;Hum\n{}", rows(1)), "';', header, 1 preamble line", "Date¦Temp¦Hum"),
        (
            format!("Station;Oslo\nYear;2024\n\nDate;Temp;Hum\n{}", rows(9)),
            "';', header, 3 preamble lines",
            "Date¦Temp¦Hum",
        ),
        (format!("Weather of Oslo\nDate;Temp;Hum\n{}", rows(9)), "';', header, 1 preamble line", "Date¦Temp¦Hum"),
        (format!("Weather of Oslo\n{}", rows(9)), "';', no header, 1 preamble line", "column_1¦column_2¦column_3"),
        (
            format!("{}a,b\n{}", comments(20, "On one,\ntwo, three, four and five,"), numbers(20)),
            "',', header, 40 preamble lines",
            "a¦b",
        ),
        // More keys and values than rows.
        (
            format!("{keys}\nDay;Kind;Text;Sum;Left\n30.10.2026;pay;SHOP;-10.00;1\n29.10.2026;pay;;-9.00;2\n"),
            "';', header, 7 preamble lines",
            "Day¦Kind¦Text¦Sum¦Left",
        ),
        (
            format!("{keys}\nBank:;X\n\nDay;Sum;Left\n30.10.2026;-10,00;1\n\nTotal;2\n"),
            "';', header, 9 preamble lines",
            "Day¦Sum¦Left",
        ),
        (
            "name;score\nAnn;5\nBob;6\nCem;7\n\nx;y;z\n1;2;3\n4;5;6\n".to_owned(),
            "';', header",
            "name¦score",
        ),
        // Comments.
        (format!("{}a,b\n{}", comments(40, "# one, two"), numbers(20)), "',', header, 40 preamble lines", "a¦b"),
        (format!("{}a,b\n{}", comments(40, "# one"), numbers(20)), "',', header, 40 preamble lines", "a¦b"),
        (format!("{}a,b\n{}", comments(3, "% one, two"), numbers(20)), "',', header, 3 preamble lines", "a¦b"),
        (format!("a,b\n{}# one, two\n{}", numbers(20), numbers(20)), "',', header, comment '#'", "a¦b"),
        ("#a,b\n1,2\n3,4\n5,6\n".to_owned(), "',', header", "#a¦b"),
        ("#fff,white\n#000,black\n#f00,red\n#0f0,green\n".to_owned(), "',', no header", "column_1¦column_2"),
        ("tag,n\n#a,1\n#b,2\nc,3\n".to_owned(), "',', header", "tag¦n"),
        // Lines that have the fields of a row, and do not differ from typed columns, are rows.
        ("issue,title,state\n# 12,Crash,open\n# 13,Hang,closed\n".to_owned(), "',', header", "issue¦title¦state"),
        ("apt,name\n1,a\n2,x\n#3,b\n4,c\n5,e\n".to_owned(), "',', header", "apt¦name"),
        (format!("metric,value\n{}", "avg m,u\n# of m,v\n".repeat(20)), "',', header", "metric¦value"),
        (format!("a,b\n{}# one, two\n# x\n{}", numbers(20), numbers(20)), "',', header, comment '#'", "a¦b"),
        ("id,name\n1,a\n2,b\n# 2 rows\n# exported 2024, by me\n".to_owned(), "',', header, comment '#'", "id¦name"),
        ("id,name\n1,a\n2,b\n# exported 2024, by me\n".to_owned(), "',', header, comment '#'", "id¦name"),
        (
            "time,sensor,state\n10:00,s1,on\n# maintenance, s2, off\n11:00,s2,on\n# restart\n12:00,s3,off\n".to_owned(),
            "',', header, comment '#'",
            "time¦sensor¦state",
        ),
        (
            "# created by x, on 2024\nid,name\n1,a\n2,b\n# end, of file\n".to_owned(),
            "',', header, comment '#'",
            "id¦name",
        ),
        (
            "# hosts\nip,name\n10.0.0.1,a\n10.0.0.2,b\n# old, unused\n10.0.0.3,c\n".to_owned(),
            "',', header, comment '#'",
            "ip¦name",
        ),
        ("# c\na,b,c\n1,2,x\n#,,\n7,8,y\n".to_owned(), "',', header, comment '#'", "a¦b¦c"),
        // Lines of dashes below a header.
        ("id   name\n---- -----\n   1 Bob\n   2 Ann\n".to_owned(), "blanks, header, comment '--'", "id¦name"),
        ("city  name\n----- -----\nOslo  Bob\nBern  Ann\n".to_owned(), "blanks, header, comment '--'", "city¦name"),
        (
            "id         name\n---------- ----------\n         1 Ann\n         2 Bo\n\n2 rows selected.\n".to_owned(),
            "blanks, header, comment '--'",
            "id¦name",
        ),
        ("city,name\n--,--\nOslo,Bob\nBern,Ann\n".to_owned(), "',', header", "city¦name"),
        // A carriage return in quotes is no line end.
        (
            "a;b;c\nalpha;\"one\rtwo\";946\nb c;801;199\nb c;12;881\nb c;501;124\nalpha;693;990\n".to_owned(),
            "';', header",
            "a¦b¦c",
        ),
        // Short tables of text, and columns of values in other formats.
        ("id,status\na1,ok\na2,fail\na3,ok\n".to_owned(), "',', header", "id¦status"),
        (
            "com,commercial\norg,organisation\nnet,network\nedu,education\n".to_owned(),
            "',', no header",
            "column_1¦column_2",
        ),
        ("id,inf\n0,0\n1,1\n2,2\n".to_owned(), "',', header", "id¦inf"),
        ("v\n\"75 134,15\"\n\"-475 104,43\"\n".to_owned(), "',', header", "v"),
        ("v\n\"Dec 31, 2024\"\n\"Jan 5, 2024\"\n".to_owned(), "',', header", "v"),
        (
            "\"Jan 05, 2024\",\"Mar 07, 2024\"\n\"Feb 06, 2024\",\"Mar 08, 2024\"\n".to_owned(),
            "',', no header",
            "column_1¦column_2",
        ),
        ("k,x\na,1.5\nb,-inf\nc,2.5\nd,3.5\n".to_owned(), "',', header", "k¦x"),
        ("id,name\n1,Ann\n2,Bob\nid,name\n3,Cem\n".to_owned(), "',', header", "id¦name"),
        // Brackets around times with blanks in them, as in web server logs; and other brackets, which are text.
        (
            (0..30)
                .map(|n| {
                    let end = format!("\"GET /{n} HTTP/1.1\" 200 {n}12 \"-\" \"Mozilla/5.0 (X11; rv:1)\"");
                    format!("10.0.0.{n} - - [20/Nov/2025:10:00:{n:02} +0100] {end}\n")
                })
                .collect(),
            "space, brackets, no header",
            "column_1¦column_2¦column_3¦column_4¦column_5¦column_6¦column_7¦column_8¦column_9",
        ),
        (
            "7 a [x] 1.5\n8 b [y] 2.5\n9 c [z] 3.5\n".repeat(9),
            "space, no header",
            "column_1¦column_2¦column_3¦column_4",
        ),
        ("1 [b 7\n2 e] 8\n3 [h 9\n".repeat(9), "space, no header", "column_1¦column_2¦column_3"),
        // A declared delimiter.
        ("sep=;\na;b\n1;2\n".to_owned(), "';', header, 1 preamble line", "a¦b"),
        ("sep=,\r\na,b\r\n1,2\r\n".to_owned(), "',', header, line end CRLF, 1 preamble line", "a¦b"),
        ("\"sep=|\"\na|b;c;d\n1|2;3;4\n".to_owned(), "'|', header, 1 preamble line", "a¦b;c;d"),
        // Headers with numbers, or above row names.
        ("store_id,2019,2020\n1,5,6\n2,7,8\n".to_owned(), "',', header", "store_id¦2019¦2020"),
        ("yr,2023,2024\n7,3,4\n8,5,6\n".to_owned(), "',', header", "yr¦2023¦2024"),
        ("yr,2023,2024\nEU,1,2\nUS,3,4\n".to_owned(), "',', header", "yr¦2023¦2024"),
        ("\"\",\"y\",\"ap\"\n\"1\",\"y\",\"p\"\n\"2\",\"n\",\"a\"\n".to_owned(), "',', header", "column_1¦y¦ap"),
        (",y,ap\n0,y,p\n1,n,a\n".to_owned(), "',', header", "column_1¦y¦ap"),
        (",0,1,2\n0,5,6,7\n1,8,9,9\n".to_owned(), "',', header", "column_1¦0¦1¦2"),
        (",5,6\n1,5,7\n2,3,3\n".to_owned(), "',', no header", "column_1¦column_2¦column_3"),
        ("\"2019\",\"2020\"\n1,5\n2,7\n".to_owned(), "',', header", "2019¦2020"),
        ("name,2019,2021,2022\nA,1.5,2,3\nB,4,5,6\n".to_owned(), "',', header", "name¦2019¦2021¦2022"),
        (",2019,2020\nA,1,2\nB,3,4\n".to_owned(), "',', header", "column_1¦2019¦2020"),
        ("shop,1,2,3,4\nA,9,2,7,4\nBB,3,4,1,8\n".to_owned(), "',', header", "shop¦1¦2¦3¦4"),
        ("shop,1,2,3,7,14\nA,9,2,7,4,1\nBB,3,4,1,8,2\n".to_owned(), "',', header", "shop¦1¦2¦3¦7¦14"),
        ("shop,8,9,10\nA,closed,open,open\nBB,open,open,closed\n".to_owned(), "',', header", "shop¦8¦9¦10"),
        ("shop,400.5,401.0,401.5\nA,2,1,4\nBB,4,9,1\n".to_owned(), "',', header", "shop¦400.5¦401.0¦401.5"),
        (",1,2,3\nS1,0.5,1.5,2.5\nS2,0.6,1.6,2.6\nS3,0.7,1.7,2.7\n".to_owned(), "',', header", "column_1¦1¦2¦3"),
        (",1,2,3\nS1,1,2,3\nS2,2,3,9\n".to_owned(), "',', header", "column_1¦1¦2¦3"),
        ("Sample\t1\t2\t3\nS1\t.5\t1.5\t2.5\nS2\t.6\t1.6\t2.6\n".to_owned(), "tab, header", "Sample¦1¦2¦3"),
        (
            "Gene,101,102,205\nBRCA1,0.5,1.5,2.5\nTP53,0.6,1.6,\nKRAS,0.7,1.7,2e-3\nX,1.1,1.2,1.3\n".to_owned(),
            "',', header",
            "Gene¦101¦102¦205",
        ),
        // Numbers in sequence that are values.
        ("S0,1,2,3\nS1,0.5,1.5,2.5\nS2,0.6,1.6,2.6\nS3,0.7,1.7,2.7\n".to_owned(), "',', no header", four),
        ("Oslo,1,3,2\nRome,0.5,1.5,2.5\nBergen,0.6,1.6,2.6\n".to_owned(), "',', no header", four),
        ("Oslo,1,2,3\nRome,0.5,1,2.5\nBergen,0.6,1.6,2.6\n".to_owned(), "',', no header", four),
        ("shop,1,2,7\nA,9,2,7\nBB,3,4,1\n".to_owned(), "',', no header", "column_1¦column_2¦column_3¦column_4"),
        (
            "A-1,1,2,3\nA-2,9,2,7\nA-3,3,4,1\nA-4,2,1,9\n".to_owned(),
            "',', no header",
            "column_1¦column_2¦column_3¦column_4",
        ),
        ("Ann,1,2,3\nBo,2,3,4\nEve,4,8,9\n".to_owned(), "',', no header", "column_1¦column_2¦column_3¦column_4"),
        (
            "Norway,99,78,56,34,12\nSweden,9,2,7,1,1\nDenmark,3,1,2,2,2\nFinland,8,5,9,1,4\n".to_owned(),
            "',', no header",
            "column_1¦column_2¦column_3¦column_4¦column_5¦column_6",
        ),
        ("Ann,2019\nBo,17\nEve,23\n".to_owned(), "',', no header", "column_1¦column_2"),
        // Keys and values above a table without a header.
        (
            "Interval,10\n2024-01-01,5,7\n2024-01-02,6,8\n2024-01-03,6,9\n".to_owned(),
            "',', no header, 1 preamble line",
            "column_1¦column_2¦column_3",
        ),
        (
            "Site:,Oslo\n2024-01-01,5,7\n2024-01-02,6,8\n2024-01-03,6,9\n".to_owned(),
            "',', no header, 1 preamble line",
            "column_1¦column_2¦column_3",
        ),
        // Keys that may be rows, and names with types above a delimiter at the end of each row.
        (
            "E1,12\nE2,15\nE3,2024-01-01,5\nE4,2024-01-02,6\nE5,2024-01-03,7\nE6,2024-01-03,7\n".to_owned(),
            "',', no header",
            "column_1¦column_2¦column_3",
        ),
        ("time:s;temp:C\n1;2;\n2;3;\n3;4;\n".to_owned(), "';', header", "time:s¦temp:C¦column_3"),
        // Names in comments.
        ("# x y\n1.5 2\n3.5 4\n5 6\n".to_owned(), "space, no header, 1 preamble line", "x¦y"),
        ("# Time, Temp (C)\n1.5,2\n3.5,4\n5,6\n".to_owned(), "',', no header, 1 preamble line", "Time¦Temp (C)"),
        (
            "#Software: x\n#Fields: date cs(User-Agent) sc-status\n2024-01-01 Moz 200\n2024-01-02 Moz 404\n".to_owned(),
            "space, no header, 2 preamble lines",
            "date¦cs(User-Agent)¦sc-status",
        ),
        (
            "#separator \\x09\n#fields\tts\tuid\n#types\ttime\tstring\n1.5\tC1\n2.5\tC2\n#close\t2024\n".to_owned(),
            "tab, no header, comment '#'",
            "ts¦uid",
        ),
        (
            "#YY  MM DD hh mm WSPD  GST\n#yr  mo dy hr mn m/s   m/s\n2024 01 02 00 10  5.1  6.0\n2024 01 02 00 20 10.1 16.0\n"
                .to_owned(),
            "blanks, no header, 2 preamble lines",
            "YY¦MM¦DD¦hh¦mm¦WSPD¦GST",
        ),
        (
            "# Creator: Ann, Oslo\n# Source: web, May\nCountry,Capital\nNorway,Oslo\nSweden,Stockholm\nChad,Ndjamena\n".to_owned(),
            "',', header, 2 preamble lines",
            "Country¦Capital",
        ),
        ("# author: Bob, London\n1,2\n3,4\n5,6\n".to_owned(), "',', no header, 1 preamble line", "column_1¦column_2"),
        ("#a\tb\n1\t2\n3\t4\n".to_owned(), "tab, header", "#a¦b"),
        (
            "# made by hand, in Oslo. Enjoy it!\n1,2\n3,4\n5,6\n".to_owned(),
            "',', no header, 1 preamble line",
            "column_1¦column_2",
        ),
        ("mpg cyl disp\nMazda 21 6 160\nDatsun 22.8 4 108\n".to_owned(), "space, header", "column_1¦mpg¦cyl¦disp"),
        ("not a table\nbut some lines of\nfour words or three\n".to_owned(), "',', no header", "column_1"),
        ("\"a\" \"b\"\n\"x\" 1 2\n\"y\" 3 4\n".to_owned(), "space, header", "column_1¦a¦b"),
        ("1,2,3\n4,5,6\n7,8,9\n".to_owned(), "',', no header", "column_1¦column_2¦column_3"),
        ("2019,5,6\n2020,7,8\n".to_owned(), "',', no header", "column_1¦column_2¦column_3"),
        // A row that starts like a comment is a row.
        ("# ;\nb;c\nd;e\nf;g\n".to_owned(), "';', no header", "column_1¦column_2"),
        ("a;b;c\nx;07:49:14;1\n// ;11:09:05;2\ny;12:00:00;3\n".to_owned(), "';', header", "a¦b¦c"),
        ("a;b;c;d\nx;false;;1\ny;true;true;2\n#;true;Oslo;3\n".to_owned(), "';', header", "a¦b¦c¦d"),
        ("||08:59:25\n||21:56:36\n".to_owned(), "'|', no header", "column_1¦column_2¦column_3"),
        ("Anna,1999,2003\nBob,1987,2001\n".to_owned(), "',', no header", "column_1¦column_2¦column_3"),
        ("1000,aa,aa,1001\n0,ab,ab,0\n0,ab,ab,0\n".to_owned(), "',', no header", "column_1¦column_2¦column_3¦column_4"),
        // Commas below a single name are decimal marks.
        ("Messwert\n11,5\n12,25\n13,75\n".to_owned(), "';', header", "Messwert"),
        ("Betrag in EUR\n-1.211,50\n12\n1 212,75\n".to_owned(), "';', header", "Betrag in EUR"),
        ("# log\nTemp\n-11,5\nNaN\n12,25\n-\n".to_owned(), "';', header, 1 preamble line", "Temp"),
        ("amount\n1,211\n1,212\n".to_owned(), "';', header", "amount"),
        ("a\n1,2\n1,2,3,4\n5,6\n7,8\n".to_owned(), "',', no header, 1 preamble line", "column_1¦column_2"),
        // Commas in numbers between other delimiters.
        (
            "11.10.2026 10:00:00 2,11\n12.10.2026 10:00:00 2,12\n13.10.2026 10:00:00 2,13\n".to_owned(),
            "space, no header",
            "column_1¦column_2¦column_3",
        ),
        (format!("Zeit Temp Druck\n{}", "1,5 2,25 3,75\n".repeat(9)), "space, header", "Zeit¦Temp¦Druck"),
        (format!("Ort  Temp  Druck\n{}", "Bonn  2,25  3,75\n".repeat(9)), "blanks, header", "Ort¦Temp¦Druck"),
        (
            format!("Tag Wert (mm) Druck\n{}", "1,5 2,25 3,75\n".repeat(9)),
            "space, header",
            "Tag¦Wert¦(mm)¦Druck",
        ),
        (
            "Sales report\nRoom 1,20\nRoom 2,30\nRoom 3,45\n".to_owned(),
            "',', no header, 1 preamble line",
            "column_1¦column_2",
        ),
        ("1 2,3\n4 5,6\n7 8,9\n".to_owned(), "',', no header", "column_1¦column_2"),
        ("Main 5,12\nHigh 7,13\nLow 8,14\n".to_owned(), "',', no header", "column_1¦column_2"),
        ("time v,mass\n10:00 a,5\n11:00 b,6\n".to_owned(), "',', header", "time v¦mass"),
        ("2026-01-01 10:00:00,12\n2026-01-02 11:00:00,13\n".to_owned(), "',', no header", "column_1¦column_2"),
        // Names with signs.
        (
            "#hostname;interval;%idle\nn1;10;98.5\nn1;10;98.4\nn2;10;98.3\n".to_owned(),
            "';', header",
            "#hostname¦interval¦%idle",
        ),
        // The use of quotes in the whole sample decides.
        (format!("{}\"a\",1\n", "\"b,2\n".repeat(9)), "',', no quotes, no header", "column_1¦column_2"),
        (format!("{}\"b,2\n", "\"a\",1\n".repeat(9)), "',', no header", "column_1¦column_2"),
    ];
    for (text, dialect, names) in cases {
        let sniffed = sniff(&[Sample::whole(text.as_bytes())], &DialectOverrides::default());
        let found = (in_short(&sniffed.dialect), sniffed.names.join("¦"));
        assert_eq!(found, (dialect.to_owned(), names.to_owned()), "{text}");
    }
}

/// Lines are skipped only if the caller sets neither their number nor how to read the first row.
#[test]
fn overrides_for_rows_keep_all_lines() {
    let text = "Weather of Oslo\nDate;Temp;Hum\n2024-01-01;1.5;2\n2024-01-02;1.5;2\n";
    let samples = [Sample::whole(text.as_bytes())];
    let preamble = |overrides: &DialectOverrides| sniff(&samples, overrides).dialect.preamble_lines;
    let none = DialectOverrides::default();
    assert_eq!(preamble(&none), 1);
    assert_eq!(sniff_rows(&samples, &none).dialect.preamble_lines, 0);
    assert_eq!(preamble(&DialectOverrides { header: Some(true), ..none.clone() }), 0);
    assert_eq!(preamble(&DialectOverrides { preamble_lines: Some(0), ..none }), 0);
}

#[test]
fn a_short_sample_requests_more_bytes() {
    let header: Vec<_> = (0..9000).map(|column| format!("c{column}")).collect();
    let text = format!("{}\n{}", header.join(","), "1,".repeat(9000) + "1\n");
    let needs_more = |text: &str, bytes: usize| {
        let sample = Sample { bytes: &text.as_bytes()[..bytes], offset: 0, is_end: bytes == text.len() };
        sniff(&[sample], &DialectOverrides::default()).needs_more
    };
    assert!(needs_more(&text, 40_000) && needs_more(&text, 60_000));
    assert!(!needs_more(&text, text.len()));
    let comments = "# note\n".repeat(3000) + "a,b\n" + &"1,2\n".repeat(30);
    assert!(needs_more(&comments, 15_000) && needs_more(&comments, 21_010));
    assert!(!needs_more(&comments, 21_100));
}

/// A sample may start inside quotes, where a line of text looks like a row.
#[test]
fn few_padded_quoted_fields_do_not_enable_trimming() {
    let sniffed = |padded: &str| {
        let text = "id,text\n".to_owned() + &"1,\"one, two\"\n".repeat(40) + &padded.repeat(2);
        sniff(&[Sample::whole(text.as_bytes())], &DialectOverrides::default()).dialect
    };
    assert!(!sniffed("1, \"three\"\n").trim);
    assert!(sniffed(&"1, \"three\"\n".repeat(20)).trim);
}

fn evidence(sniffed: &Sniffed, part: Part) -> Option<String> {
    sniffed.findings.iter().find(|finding| finding.part == part).map(ToString::to_string)
}

#[test]
fn each_part_has_evidence() {
    let sniffed = sniff_file("semicolon.csv");
    let delimiter = "delimiter ';' - 4 of 4 sampled rows have 3 fields with it; next best is ',': 2 of 4 have 2 fields";
    assert_eq!(evidence(&sniffed, Part::Delimiter).as_deref(), Some(delimiter));
    assert_eq!(evidence(&sniffed, Part::LineEnd).as_deref(), Some("line end CRLF - the sample has 4 CRLF"));
    let quote = "quote '\"' - no sampled field is quoted; the default";
    assert_eq!(evidence(&sniffed, Part::Quote).as_deref(), Some(quote));
    let header = "header present - in 2 of 2 number or date columns the first row is not a value";
    assert_eq!(evidence(&sniffed, Part::Header).as_deref(), Some(header));
    assert_eq!(evidence(&sniffed, Part::Escape), None);
    let quote = "quote '\"' - 2 sampled fields are quoted with it, 1 contain doubled quotes";
    assert_eq!(evidence(&sniff_file("doubled.csv"), Part::Quote).as_deref(), Some(quote));
}

#[test]
fn undecidable_findings_are_advice() {
    assert!(sniff_file("latin1.csv").advice[0].contains("--charset latin1"));
    assert!(sniff_file("trailing.csv").advice[0].contains("last row"));
    let narrow = b"a    b    c\n1    2    3\n4    5    6\n(2 rows)\n";
    let sniffed = sniff(&[Sample::whole(narrow)], &DialectOverrides::default());
    assert_eq!(sniffed.trailing_note(), Some("the last row counts the rows; --skip-footer 1 skips it"));
    assert_eq!(sniff_file("plain.csv").advice, [""; 0]);
}

/// The notes about a text.
fn notes(text: &str) -> Vec<String> {
    sniff(&[Sample::whole(text.as_bytes())], &DialectOverrides::default()).notes()
}

#[test]
fn doubtful_readings_are_noted() {
    let list = "each row is read as one number with a comma, because the header is a single name; --delimiter , splits \
                the rows at the commas";
    assert_eq!(notes("Messwert\n11,5\n12,25\n"), [list]);
    let values = "the first row is read as values, though it may be names; --header yes reads it as names";
    assert_eq!(notes("Sample,1,2,3\nS1,4,5,6\nS2,7,8,9\nS3,1,2,3\n"), [values]);
    assert_eq!(notes("Anna,3,5,9\nBeth,1.5,2.5,3.5\nCarl,4.5,5.5,6.5\n"), [values]);
    let names = "the first row names the columns, though it may be values; --header no reads it as values";
    assert_eq!(notes(",1,2,3\nS1,4,5,6\nS2,7,8,9\n"), [names]);
    assert_eq!(notes("Sample,1,2,3\nS1,.4,.5,.6\nS2,.7,.8,.9\nS3,.1,.2,.3\n"), [""; 0]);
    let end = "no delimiter found; the last 3 lines have 3 fields each with ';' (--skip 5)";
    let text = "one line\nanother; one\nand; one\nand one\nmore; or less\n";
    assert_eq!(notes(&format!("{text}a;b;c\nd;e;f\ng;h;i\n")), [end]);
    assert_eq!(notes(&format!("{text}a;b;c\nd;e;f\ng;h\n")), [""; 0]);
    let other = "line 4 below an empty line may be the header of another table; --skip 3 starts with it";
    let below = |rows: &str| notes(&format!("lat,long,elevation\n47.1,8.5,400.0\n{rows}"));
    assert_eq!(below("\ntime,temp,rain\n2026-10-30,5.1,.0\n2026-10-31,5.0,.2\n"), [other]);
    assert_eq!(below("\nday,temp\n2026-10-30,5.1\n2026-10-31,5.0\n")[0], other);
    assert_eq!(below("\n48.1,8.5,300.0\n\n48.1,x,\n47.3,7.5,200.0\n"), [""; 0]);
    assert_eq!(notes("name,city\nAnn,Oslo\n\nBob,Rome\nCem,Bern\n"), [""; 0]);
    let ruler = "the row below the header holds text in number or date columns, which become text; if it describes the \
                 columns, --skip 2 --header no --names 'name,age' leaves it out";
    assert_eq!(notes("name  age\n====  ===\nAnn     3\nBo      4\nCem     5\n"), [ruler]);
    assert_eq!(notes("web,down\nweb,3.5\ndb,2.2\nweb,2.5\n"), [values]);
    let footer = "the last row has too few fields; if it is not data, --skip-footer 2 skips it";
    let footed = sniff(&[Sample::whole(b"a,b,c\n1,x,2.5\n2,y,3.5\n\"not\nfinal\"\n")], &DialectOverrides::default());
    assert_eq!(footed.trailing_note(), Some(footer));
    let count = "the last row counts the rows; --skip-footer 1 skips it";
    let table =
        |end: &str| notes(&format!("id   name   sum\n---- ---- -----\n   1 Bob   12.5\n   2 Ann   13.5\n{end}"));
    let list = |end: &str| notes(&format!("name    qty\nBolt     12\nNut      13\n{end}"));
    for end in ["\n(2 rows affected)\n", "2 rows selected.\n", "2 row(s) selected"] {
        assert_eq!(table(end), [count], "{end}");
    }
    assert_eq!(list("(2 rows)\n\n"), [count.replace('1', "2")]);
    assert_eq!(list("\n2 rows\n"), [count]);
    for end in ["12 rows\n", "(12 bolts)\n", "twelve rows\n", "(rows 12)\n"] {
        assert_eq!(list(end), [""; 0], "{end}");
    }
    assert_eq!(notes("name\nAnn\nBo\n(2 rows)\n"), [count]);
    assert_eq!(notes("item,n\na,1\n10 records in total,2\n"), [""; 0]);
    assert_eq!(notes("Messwert;x\n11,5;1\n12,25;2\n"), [""; 0]);
}

#[test]
fn overrides_are_not_detected() {
    let overrides = DialectOverrides {
        delimiter: Some(Delimiter::Byte(b';')),
        quote: Some(None),
        header: Some(false),
        preamble_lines: Some(1),
        ..DialectOverrides::default()
    };
    let sniffed = sniff(&[Sample::whole(&bytes_of("plain.csv"))], &overrides);
    assert_eq!(sniffed.dialect, overrides.apply(Dialect::default()));
    assert_eq!(sniffed.names, ["column_1"]);
    let given = [Part::Delimiter, Part::Quote, Part::Header, Part::Preamble];
    assert!(given.iter().all(|part| evidence(&sniffed, *part).unwrap().ends_with("- given")));

    let latin1 = DialectOverrides { charset: Some("latin1".parse().unwrap()), ..DialectOverrides::default() };
    assert_eq!(sniff(&[Sample::whole(&bytes_of("latin1.csv"))], &latin1).names, ["id", "café", "mère"]);
}

/// Comma-separated rows with more semicolons than commas in quoted fields that extend over lines.
fn tricky_rows(rows: usize) -> String {
    let row = |number| format!("{number},\"first; second; third,\nfourth; fifth\",{number}.5\n");
    (0..rows).map(row).collect()
}

#[test]
fn samples_may_start_anywhere() {
    let bytes = ["id,text,sum\n".to_owned(), tricky_rows(40)].concat().into_bytes();
    let whole = sniff(&[Sample::whole(&bytes)], &DialectOverrides::default());
    for from in 200..320 {
        let samples = [
            Sample { bytes: &bytes[..100], offset: 0, is_end: false },
            Sample { bytes: &bytes[from..from + 400], offset: from as u64, is_end: false },
            Sample { bytes: &bytes[from + 900..], offset: from as u64 + 900, is_end: true },
        ];
        let sniffed = sniff(&samples, &DialectOverrides::default());
        assert_eq!((&sniffed.dialect, &sniffed.names), (&whole.dialect, &whole.names), "from {from}");
        assert_eq!(sniffed.advice, [""; 0], "from {from}");
    }
}

#[test]
fn samples_within_long_fields_tell_nothing() {
    let lines = "| a | b | c |\n".repeat(300);
    let bytes =
        format!("id,text,n\n1,ok,1\n2,ok,1\n3,\"{lines}\",3\n4,\"{lines}\",5\n5,\"{lines}\",6\n6,x,7\n").into_bytes();
    let whole = sniff(&[Sample::whole(&bytes)], &DialectOverrides::default());
    assert_eq!((whole.dialect.delimiter, whole.dialect.preamble_lines), (Delimiter::Byte(b','), 0));
    for from in [5_000, 7_000, 9_000] {
        let samples = [
            Sample { bytes: &bytes[..4_400], offset: 0, is_end: false },
            Sample { bytes: &bytes[from..from + 1_500], offset: from as u64, is_end: false },
            Sample { bytes: &bytes[11_000..], offset: 11_000, is_end: true },
        ];
        let sniffed = sniff(&samples, &DialectOverrides::default());
        assert_eq!((&sniffed.dialect, &sniffed.names), (&whole.dialect, &whole.names), "from {from}");
    }
    // A field that is open over most of the sample may end beyond it.
    for end in [500, 2_000, 4_000] {
        let sniffed = sniff(&[Sample { bytes: &bytes[..end], offset: 0, is_end: false }], &DialectOverrides::default());
        assert!(sniffed.needs_more, "{end}");
    }
}

#[test]
fn rows_inside_quotes_are_noted() {
    let are_noted = |text: &str| notes(text).iter().any(|note| note.starts_with("a field contains whole rows in its"));
    for text in [
        "id\ttext\tn\n1\t\"Hello\t3\n2\tfine\t4\n3\tbye\"\t4\n4\tx\t5\n",
        "id|text|n\n1|\"a|3\n2|b\"|4\n4|x|5\n5|y|6\n",
    ] {
        assert!(are_noted(text), "{text}");
    }
    for text in [
        "name,place\nBob,\"12 High St\nLondon, UK\"\nAnn,x\n",
        "id,text,n\n1,\"a, b\nc\",3\n2,x,4\n",
        "id,text\n1,\"a\nb\nc\"\n2,x\n",
    ] {
        assert!(!are_noted(text), "{text}");
    }
}

#[test]
fn the_start_need_not_be_sampled() {
    let bytes = tricky_rows(20).into_bytes();
    let sniffed = sniff(&[Sample { bytes: &bytes, offset: 1000, is_end: true }], &DialectOverrides::default());
    assert_eq!(sniffed.dialect, Dialect { header: false, ..Dialect::default() });
    assert_eq!(sniffed.names, ["column_1", "column_2", "column_3"]);
}

#[test]
fn a_sample_may_end_anywhere() {
    let bytes = ["id,text,sum\n".to_owned(), tricky_rows(9)].concat().into_bytes();
    for to in 100..bytes.len() {
        let sniffed = sniff(&[Sample { bytes: &bytes[..to], offset: 0, is_end: false }], &DialectOverrides::default());
        assert_eq!(sniffed.dialect, Dialect::default(), "up to {to}");
    }
}

#[test]
fn empty_and_random_samples_are_handled() {
    assert_eq!(sniff(&[], &DialectOverrides::default()).names, [""; 0]);
    for bytes in [&b"\n"[..], b"\"", b"\"\"", b"\0", b"\xff\xfe", b"#\n", b"\\", b",", b"'", b"\r", b"a\\"] {
        let sniffed = sniff(&[Sample::whole(bytes)], &DialectOverrides::default());
        assert_eq!(sniffed.dialect.check(), Ok(()), "{bytes:?}");
    }
}
