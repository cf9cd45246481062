//! Tests of workbook sheets as tables: the displayed value of cells determines the column types.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const SALES: &str = "note: reading sheet 'Sales' of 'Sales', 'Other'; --sheet selects a different one\n";

/// A directory with workbooks written by other programs.
fn place() -> Place {
    let place = Place::new();
    for name in ["book.xlsx", "book.ods", "book.xls"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        place.write(name, std::fs::read(path).unwrap());
    }
    place
}

/// A workbook with the given sheets, each with the XML of its rows.
fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut file = |name: &str, content: &str| {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    };
    let numbered = || (1..).zip(sheets);
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let book = format!(r#"<Relationship Id="r1" Type="{kind}/officeDocument" Target="xl/workbook.xml"/>"#);
    file("_rels/.rels", &format!("<Relationships>{book}</Relationships>"));
    let entries: String = numbered()
        .map(|(number, (name, _))| format!(r#"<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>"#))
        .collect();
    file("xl/workbook.xml", &format!("<workbook><sheets>{entries}</sheets></workbook>"));
    let relations: String = numbered()
        .map(|(number, _)| {
            format!(r#"<Relationship Id="r{number}" Type="{kind}/worksheet" Target="worksheets/sheet{number}.xml"/>"#)
        })
        .collect();
    file("xl/_rels/workbook.xml.rels", &format!("<Relationships>{relations}</Relationships>"));
    for (number, (_, rows)) in numbered() {
        let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
        file(&format!("xl/worksheets/sheet{number}.xml"), &sheet);
    }
    writer.finish().unwrap().into_inner()
}

fn text(cell: &str, value: &str) -> String {
    format!(r#"<c r="{cell}" t="inlineStr"><is><t>{value}</t></is></c>"#)
}

fn number(cell: &str, value: &str) -> String {
    format!(r#"<c r="{cell}"><v>{value}</v></c>"#)
}

#[test]
fn columns_have_the_types_of_their_cells() {
    let place = place();
    let types = "id int64,name string,price float64,day date,at timestamp(s),time time(s),ok bool,mixed string,err int64,\
                 empty string\n";
    assert_eq!(place.run("sniff book.xlsx --schema").text().replace(':', " "), types);
    let rows = place.run("head book.xlsx -n 6 --format csv").text();
    let rows: Vec<_> = rows.lines().collect();
    assert_eq!(rows[0], "id,name,price,day,at,time,ok,mixed,err,empty");
    assert_eq!(rows[4], "3,n0,,2024-01-04,2024-01-01 10:00:03,01:02:03,false,3,,");
    assert_eq!(rows[6], "5,n2,1.25,2024-01-06,2024-01-01 10:00:05,01:02:05,false,x,5,");
    let outcome = place.run("count book.xlsx");
    assert_eq!(outcome.stderr, format!("{SALES}note: the cell #N/A is null\n"));
    assert_eq!(outcome.text(), "20\n");
    assert_eq!(place.pipe("count -", &place.read("book.xlsx")).text(), "20\n");
    place.run("convert book.xlsx t.parquet").ok();
    assert_eq!(place.run("cat t.parquet").ok(), place.run("cat book.xlsx").ok());
    place.run("verify book.xlsx").ok();
    place.run("inspect book.xlsx").ok();
}

#[test]
fn a_sheet_is_chosen_by_name_or_number() {
    let place = place();
    let rows = "k,v\na,1.5\nm,2.0\n,3.0\n";
    for sheet in ["Other", "2"] {
        let outcome = place.run(&format!("cat book.xlsx --sheet {sheet}"));
        assert_eq!(outcome.stderr, "note: skipping the first 2 rows as a title; --skip 0 keeps them\n");
        assert_eq!(outcome.text(), rows);
    }
    let message = "brc: book.xlsx: no sheet 'X' (sheets: 'Sales', 'Other')";
    place.run("cat book.xlsx --sheet X").fails(2, message);
    place.write("t.csv", "a\n1\n");
    place.run("cat t.csv --sheet 1").fails(2, "brc: the input is csv, and a text has no sheets");
}

#[test]
fn applicable_text_options_are_accepted() {
    let place = place();
    let all = place.run("cat book.xlsx --sheet 2 --header no --skip 0").text();
    assert_eq!(all, "column_1,column_2\nReport,\n,\nk,v\na,1.5\nm,2\n,3\n");
    let named = place.run("cat book.xlsx --sheet 2 --names x,y --skip-footer 1 --type y=string").text();
    assert_eq!(named, "x,y\na,1.5\nm,2\n");
    let strings = place.run("sniff book.xlsx --sheet 2 --all-strings --schema").text();
    assert_eq!(strings.matches("string").count(), 2);
    for (options, code, words) in [
        ("--quote x", 2, "of the options for reading text only --header, --names,"),
        ("--names x", 2, "it has 2 columns, but --names has 1"),
        ("--type z=string", 2, "--type: unknown column 'z' (columns: k, v)"),
        ("--type v=uuid", 2, "column 'v' of a workbook cannot be read as uuid"),
        ("--type v=int64", 1, "sheet 'Other', row 6, column 'v': '1.5' is not a valid int64"),
    ] {
        place.run(&format!("cat book.xlsx --sheet 2 {options}")).fails_with(code, words);
    }
    let not_null = ["cat", "book.xlsx", "--sheet", "2", "--type", "k=string not null"];
    place.run_of(&not_null).fails_with(1, "column 'k' is declared not null, but has 1 nulls");
}

#[test]
fn workbooks_of_older_excel_and_of_libreoffice_are_read() {
    let place = place();
    assert_eq!(place.run("cat book.xls").text(), "name,price,day\na,1.0,2024-02-29\nb,2.5,2024-03-01\n");
    let rows = "name,price,day,time,ok\na,1.0,2024-02-29,12:30:05,true\nb,2.5,2024-03-01,00:00:00,false\n";
    assert_eq!(place.run("cat book.ods").text(), rows);
}

#[test]
fn distant_cells_and_sheets_without_a_table_are_reported() {
    let place = Place::new();
    let row = |number: u32, cells: &[String]| format!(r#"<row r="{number}">{}</row>"#, cells.concat());
    let far = [row(1, &[text("A1", "a"), text("XFD1", "b")]), row(1_048_576, &[number("XFD1048576", "7")])].concat();
    let sheets = [("far", far.as_str()), ("none", "")];
    place.write("t.xlsx", workbook(&sheets));
    let query = ["query", "t.xlsx", "select count(*), count(a), sum(b)", "--format", "csv"];
    assert_eq!(place.run_of(&query).text(), "count(*),count(a),sum(b)\n1048575,0,7\n");
    place.run("query t.xlsx --sheet none").fails_with(1, "there is no table in the sheet 'none': it has no cells");
    let cells: Vec<_> = (26..326).map(|column| number(&format!("{}1", letters(column)), "1")).collect();
    let wide = [row(1, &cells), row(1_048_576, &[number("A1048576", "7")])].concat();
    place.write("t.xlsx", workbook(&[("wide", wide.as_str())]));
    place.run("query t.xlsx").fails_with(1, "1048576 rows of 301 columns: these are too many values");
}

/// The two-letter name of a column.
fn letters(column: u16) -> String {
    let letter = |number: u16| char::from(b'A' + number as u8);
    [letter(column / 26 - 1), letter(column % 26)].iter().collect()
}

#[test]
fn a_workbook_is_not_written_and_a_damaged_one_is_corrupt() {
    let place = place();
    place.write("t.csv", "a\n1\n");
    place
        .run("convert t.csv t.xlsx")
        .fails_with(2, "t.xlsx: xlsx can only be read, not written; name the encoding with --to buren|");
    place.run("convert t.csv t.buren --to xlsx").fails_with(2, "invalid value 'xlsx'");
    for name in ["book.xlsx", "book.ods", "book.xls"] {
        let sound = place.read(name);
        for length in [600, sound.len() / 2] {
            place.write(name, &sound[..length]);
            place.run(&format!("query {name}")).fails_with(4, "corrupt file: workbook");
        }
        for at in (0..sound.len()).step_by(sound.len() / 60) {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x10;
            place.write(name, bytes);
            let outcome = place.run(&format!("count {name} --where true"));
            assert!(matches!(outcome.code, Some(0 | 1 | 4)), "{name}, byte {at}: {}", outcome.stderr);
            assert!(!outcome.stderr.contains("panicked"), "{name}, byte {at}: {}", outcome.stderr);
        }
    }
    place.write("t.xls", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 600]].concat());
    assert!(matches!(place.run("query t.xls").code, Some(1 | 4)));
}

#[test]
fn a_single_column_has_a_header_and_no_title() {
    let place = Place::new();
    let rows = |cells: &[String]| cells.iter().map(|cell| format!("<row>{cell}</row>")).collect::<String>();
    let one = rows(&[text("A1", "id"), number("A2", "1"), number("A3", "2")]);
    place.write("one.xlsx", workbook(&[("S", &one)]));
    let outcome = place.run("cat one.xlsx");
    assert_eq!(outcome.stderr, "");
    assert_eq!(outcome.text(), "id\n1\n2\n");
    let share = rows(&[text("A1", "p"), number("A2", "0.3")]);
    place.write("share.xlsx", workbook(&[("S", &share)]));
    assert_eq!(place.run("cat share.xlsx --header yes").text(), "p\n0.3\n");
}

#[test]
fn formulas_without_a_stored_value_are_noted() {
    let place = Place::new();
    let formula = |cell: &str, value: &str| format!(r#"<c r="{cell}"><f>A2*2</f>{value}</c>"#);
    let rows = format!(
        "<row>{}{}</row><row>{}{}</row><row>{}{}</row>",
        text("A1", "a"),
        text("B1", "b"),
        number("A2", "1"),
        formula("B2", "<v>2</v>"),
        number("A3", "2"),
        formula("B3", "<v></v>")
    );
    place.write("f.xlsx", workbook(&[("S", &rows)]));
    let outcome = place.run("cat f.xlsx");
    assert_eq!(outcome.text(), "a,b\n1,2\n2,\n");
    let outcome = place.run("convert f.xlsx f.buren");
    let note = "null in place of 1 formula without stored values; ";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
}

#[test]
fn a_cell_that_makes_a_column_text_is_named() {
    let place = Place::new();
    let rows = [("1", text("A1", "p")), ("2", number("A2", "9")), ("3", text("A3", "24")), ("4", number("A4", "100"))];
    let rows: String = rows.iter().map(|(row, cell)| format!(r#"<row r="{row}">{cell}</row>"#)).collect();
    place.write("t.xlsx", workbook(&[("one", rows.as_str())]));
    let reason = "'p' is text because of '24' (1 of 3 values, row 3); use try_cast(p as int64)\n";
    let query = |text: &str, options: &[&str]| place.run_of(&[&["query", "t.xlsx", text], options].concat()).stderr;
    assert_eq!(query("select max(p)", &[]), format!("note: {reason}"));
    assert!(query("select avg(p)", &[]).ends_with(reason));
    assert_eq!(query("select max(p)", &["--all-strings"]), "");
}
