use super::*;
use crate::encoding::TextOptions;
use crate::text::testing::{Outcome, file, pipe, read, read_table};
use brc_core::{LogicalType, Value};
use brc_text::form::{Form, GivenForms};
use brc_text::infer::Seen;
use brc_text::typed::Ragged;
use proptest::prelude::*;

fn options(size: u64) -> OpenOptions {
    OpenOptions { row_group_bytes: Some(size), ..OpenOptions::default() }
}

fn schema_of(text: &str) -> Schema {
    let table = Csv.open(file(text.as_bytes()), &OpenOptions::default()).unwrap();
    read_table(table.as_ref(), 1).unwrap();
    table.inferred().map_or_else(|| table.schema().clone(), |schema| Schema::clone(&schema))
}

/// The rows, and the types after they no longer change.
fn settled(input: Input, options: &OpenOptions, threads: usize) -> (Outcome, Schema) {
    let table = Csv.open(input, options).unwrap();
    loop {
        let before = table.inferred();
        let outcome = read_table(table.as_ref(), threads);
        if table.inferred() == before {
            return (outcome, before.map_or_else(|| table.schema().clone(), |schema| Schema::clone(&schema)));
        }
    }
}

#[test]
fn column_types_are_inferred() {
    for (text, columns) in [
        ("id,name,price\n1,pen,1.5\n2,ink,0.25\n", "id:int64,name:string,price:decimal(18,2)"),
        ("a;b\n1;2024-01-31\n;2024-02-01\n", "a:int64,b:date"),
        ("x\tis_ok\n1\ttrue\n2\tFALSE\n", "x:int64,is_ok:bool"),
        ("\"a,b\",c\n\"1\",\"x\ny\"\n", "\"a,b\":int64,c:string"),
        ("a,a,\n1,2,3\n", "a:int64,a_1:int64,column_3:int64"),
        ("1,2\n3,4\n", "column_1:int64,column_2:int64"),
        ("a,b\n1,\n2,\n", "a:int64,b:string"),
        ("\u{feff}a,b\n1,x\n", "a:int64,b:string"),
    ] {
        assert_eq!(schema_of(text).to_string(), columns, "{text}");
    }
}

#[test]
fn values_and_nulls_are_distinguished() {
    let text = b"a,b,c\r\n1,,x\r\n,\"\",\"q \"\"q\"\", r\r\ns\"\r\n-3,y,\r\n";
    let (rows, rejects) = read(&Csv, file(text), &options(7), 1).unwrap();
    assert_eq!(rejects, []);
    let expected = [["1", "null", "x"], ["null", "", "q \\\"q\\\", r\\r\\ns"], ["-3", "y", "null"]];
    assert_eq!(rows, expected.map(|row| row.map(String::from).to_vec()));
}

#[test]
fn given_types_are_enforced() {
    let mut options = options(1 << 20);
    options.text.types = Schema::parse("b:decimal(10,2)").unwrap().fields().to_vec();
    let error = read(&Csv, file(b"a,b\n1,2.5\n\n2,\"x\ny\"\n"), &options, 1).unwrap_err();
    assert_eq!(error, "test: line 4, byte 11, column 'b': malformed number 'x\\ny'");
    options.keep_rejects = true;
    let text = b"a,b\n1,2.5\n2,\"x\ny\"\n3,4\n5\n6,7,8\n9,\"10\n11,12\n";
    let (rows, rejects) = read(&Csv, file(text), &options, 1).unwrap();
    assert_eq!(rows, [["1", "250"], ["3", "400"], ["11", "1200"]]);
    let positions: Vec<(u64, &[u8])> = rejects.iter().map(|(line, _, text)| (*line, text.as_slice())).collect();
    assert_eq!(positions, [(3, &b"2,\"x\ny\""[..]), (6, b"5"), (7, b"6,7,8"), (8, b"9,\"10")]);
    let table = Csv.open(file(text), &options).unwrap();
    let reasons: Vec<String> = rejects.iter().map(|(_, _, row)| table.explain(row).unwrap().1.to_string()).collect();
    let expected =
        ["malformed number 'x\\ny'", "1 column instead of 2", "3 columns instead of 2", "a quote is never closed"];
    assert_eq!(reasons, expected);
}

#[test]
fn short_rows_can_be_padded() {
    let text = b"a,b,c\n1,2,3\n4\n5,6,7\n8,9\n1,2,3,4\n";
    let ragged = |ragged| TextOptions { ragged, ..TextOptions::default() };
    let padded = OpenOptions { text: ragged(Some(Ragged::Pad)), keep_rejects: true, ..options(1 << 20) };
    let (rows, rejects) = read(&Csv, file(text), &padded, 1).unwrap();
    assert_eq!(rows, [["1", "2", "3"], ["4", "null", "null"], ["5", "6", "7"], ["8", "9", "null"]]);
    assert_eq!(rejects.len(), 1);
    let rejected = OpenOptions { text: ragged(Some(Ragged::Reject)), ..options(1 << 20) };
    let (rows, rejects) = read(&Csv, file(text), &rejected, 1).unwrap();
    assert_eq!((rows.len(), rejects.len()), (2, 3));
}

#[test]
fn quoted_line_ends_are_found_for_any_split_bounds() {
    let mut text = b"id,text,n\n".to_vec();
    for row in 0..40 {
        let inner = ["x", "a\nb", "\"\"", ",\n,\r\n", "\n\n\n", ""][row % 6];
        text.extend(format!("{row},\"{inner}\",{}\r\n", row * 37).into_bytes());
    }
    for cut in [0, 1, 2, 20] {
        let text = &text[..text.len() - cut];
        let all = OpenOptions { keep_rejects: true, ..options(1 << 20) };
        let expected = read(&Csv, file(text), &all, 1);
        for size in 1..text.len() as u64 + 2 {
            let options = OpenOptions { keep_rejects: true, ..options(size) };
            assert_eq!(read(&Csv, file(text), &options, 2), expected, "splits of {size}");
            assert_eq!(read(&Csv, pipe(text, 1 + size as usize % 7), &options, 2), expected, "stream in {size}");
        }
    }
}

#[test]
fn an_unclosed_quote_is_one_reject() {
    let text = |rows: usize| {
        let rows: String = (0..rows).map(|row| format!("{row},yyyyyy\n")).collect();
        format!("a,b\n1,x\n2,\"open\n{rows}").into_bytes()
    };
    let (short, long) = (text(1_000_000), text(2_000_000));
    for size in [1 << 20, 5 << 20, 64 << 20] {
        let options = OpenOptions { keep_rejects: true, ..options(size) };
        for input in [file(&short), pipe(&short, 1 << 16)] {
            let (rows, rejects) = read(&Csv, input, &options, 2).unwrap();
            assert_eq!((rows.len(), rejects), (1_000_001, vec![(3, 8, b"2,\"open".to_vec())]));
        }
        // The quote may be closed further on: what follows may not be rows.
        for input in [file(&long), pipe(&long, 1 << 16)] {
            let error = read(&Csv, input, &options, 2).unwrap_err();
            assert!(error.contains("line 3, byte 8: a row is longer than"), "{error}");
        }
    }
}

#[test]
fn late_values_widen_the_types() {
    let mut text = b"a,b,c,d\n".to_vec();
    for row in 0..30_000 {
        text.extend(format!("{row},{}.5,true,\n", row % 100).into_bytes());
    }
    for (last, types) in [
        ("1,2.5,false,", "a:int64,b:decimal(18,1),c:bool,d:string"),
        ("x,2.25,1,7", "a:string,b:decimal(18,2),c:string,d:int64"),
        ("1.5,1e5,,2024-01-01", "a:decimal(18,1),b:float64,c:bool,d:date"),
        ("18446744073709551615,12345678901234567890.5,,", "a:uint64,b:decimal(38,1),c:bool,d:string"),
    ] {
        let text = [&text[..], last.as_bytes()].concat();
        for threads in [1, 3] {
            for input in [file(&text), pipe(&text, 4000)] {
                let (outcome, schema) = settled(input, &options(50_000), threads);
                assert_eq!((outcome.unwrap().0.len(), schema.to_string()), (30_001, types.to_owned()), "{last}");
            }
        }
    }
}

#[test]
fn changed_spellings_are_counted() {
    let text = b"a,b,c\n1.5,2,x\n1.25,3,y\n7,-0,z\n";
    let table = Csv.open(file(text), &OpenOptions::default()).unwrap();
    read_table(table.as_ref(), 1).unwrap();
    let altered: Vec<u64> = table.changes().iter().map(|changes| changes.altered).collect();
    assert_eq!(altered, [0, 1, 0]);
    let as_written = TextOptions { exact_text: true, ..TextOptions::default() };
    let exact = OpenOptions { text: as_written, ..OpenOptions::default() };
    assert_eq!(settled(file(text), &exact, 1).1.to_string(), "a:string,b:string,c:string");
}

#[test]
fn other_charsets_and_extra_lines_are_handled() {
    let utf16: Vec<u8> = "\u{feff}name,n\nKöln,1\n日本,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (rows, _) = read(&Csv, file(&utf16), &options(5), 2).unwrap();
    assert_eq!(rows[0], ["K\\xc3\\xb6ln", "1"]);
    let mut around = OpenOptions::default();
    around.text.dialect.preamble_lines = Some(1);
    around.text.dialect.trailing_lines = Some(1);
    around.text.dialect.null_tokens = Some(vec!["NA".to_owned(), "-".to_owned()]);
    let (rows, _) = read(&Csv, file(b"a \"title\na,b\n1,NA\n-,\"-\"\n,x\ntotal: 3\n"), &around, 1).unwrap();
    assert_eq!(rows, [["1", "null"], ["null", "-"], ["", "x"]]);
    let unread = Csv.open(
        file(b"a,b\n1,2\n"),
        &OpenOptions { names: Some(["x", "y", "z"].map(String::from).to_vec()), ..OpenOptions::default() },
    );
    assert!(unread.is_err_and(|error| error.to_string().contains("--names has 3 columns, but the first lines have 2")));
}

/// A value as it may occur in a file.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        5 => "[0-9]{1,2}",
        1 => "-?[1-9][0-9]{14,19}",
        2 => "-?[0-9]{1,3}\\.[0-9]{1,3}",
        1 => "1e5|9\\.9e-05|nan|true|FALSE",
        1 => "NA|NULL|-|NaN",
        1 => " {1,2}[0-9]{0,2} ?",
        1 => "20[0-2][0-9]-0[1-9]-1[0-9]( 12:00:00(\\.5)?)?",
        1 => "[a-c ,\"\n]{1,5}",
    ]
}

/// Rows of three columns, whose values may share a form or have none.
fn formed_rows() -> impl Strategy<Value = Vec<Vec<String>>> {
    const VALUES: [&[&str]; 7] = [
        &["31/12/2024", "01/02/2024", "5/6/2024", "NA", ""],
        &["05/06/2024", "01/02/2024", "12/31/2024", "-"],
        &["1.234", "1.234.567", "12", "1.234,5", "0", "NA"],
        &["1.234", "0.234", "12.5", "1.234.567", "999"],
        &["1,234", "5,678.5", "12", "-3,210", "0,5", "1234"],
        &["9:05", "10:05", "23:59:59", "9:05 PM"],
        &["2024-1-5", "2024-12-31", "2024-1-5 10:00", "05/06/2024 9:00 AM"],
    ];
    let column = (prop::sample::select(VALUES.to_vec()), 1usize..7);
    let columns = prop::collection::vec(column, 3);
    (columns, prop::collection::vec(any::<[prop::sample::Index; 3]>(), 1..40)).prop_map(|(columns, rows)| {
        let value = |((values, most), index): (&(&[&str], usize), &prop::sample::Index)| {
            values[index.index(values.len().min(*most))].to_owned()
        };
        rows.iter().map(|row| columns.iter().zip(row).map(value).collect()).collect()
    })
}

fn written(field: &str) -> String {
    if field.contains([',', '"', '\n']) || !field.is_empty() && field.trim_matches(' ').is_empty() {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The inferred types equal those from all values at once, whatever the order, threads, splits and source.
    #[test]
    fn inference_equals_an_oracle(
        rows in prop_oneof![prop::collection::vec(prop::collection::vec(field(), 3), 1..40), formed_rows()],
        size in 1u64..200,
        threads in 1usize..4,
        exact: bool,
    ) {
        let mut text = "left,middle,right\n".to_owned();
        for row in &rows {
            let row: Vec<String> = row.iter().map(|field| written(field)).collect();
            text += &format!("{}\n", row.join(","));
        }
        let mut options = options(size);
        options.text.exact_text = exact;
        options.text.dialect = DialectOverrides {
            delimiter: Some(Delimiter::Byte(b',')),
            header: Some(true),
            quote: Some(Some(b'"')),
            escape: Some(None),
            comment: Some(None),
            trim: Some(false),
            preamble_lines: Some(0),
            ..DialectOverrides::default()
        };
        let seen: Vec<Seen> = (0..3).map(|column| {
            let values = rows.iter().map(|row| &row[column]).filter(|value| !value.is_empty());
            values.fold(Seen::NOTHING, |seen, value| {
                seen.join(Seen::of_field(value.as_bytes(), true, &GivenForms::default()))
            })
        }).collect();
        let commas = GivenForms { may_have_lists: true, ..GivenForms::default() };
        let mut decimals: Vec<u8> = seen.iter().filter_map(|seen| seen.decimal(&commas)).collect();
        decimals.sort_unstable();
        decimals.dedup();
        let likely_decimal = if let [decimal] = decimals[..] { Some(decimal) } else { None };
        let no_decimal_commas = decimals.contains(&b'.');
        let given = GivenForms { likely_decimal, no_decimal_commas, ..commas };
        let (types, forms): (Vec<LogicalType>, Vec<Option<Form>>) = seen.iter().map(|seen| {
            let form = seen.form(&given).filter(|_| !exact);
            (seen.type_in(exact, &given).unwrap_or(LogicalType::String), form)
        }).unzip();
        let expected: Vec<Vec<String>> = rows.iter().map(|row| {
            // Blanks are part of a string only.
            let text = |column: usize| match types[column] {
                LogicalType::String => row[column].as_bytes(),
                _ => row[column].trim_matches(' ').as_bytes(),
            };
            let parse = |column: usize| match &forms[column] {
                Some(form) => form.parse(text(column), types[column]),
                None => Value::parse(text(column), types[column]),
            };
            let value = |(column, (field, logical_type)): (usize, (&String, &LogicalType))| match parse(column) {
                _ if field.is_empty() => "null".to_owned(),
                _ if !Seen::of(text(column)).null_tokens(*logical_type).is_empty() => "null".to_owned(),
                Ok(Value::Integer(value)) => value.to_string(),
                Ok(Value::Float(value)) => format!("{value:?}"),
                Ok(Value::Bytes(value)) => value.escape_ascii().to_string(),
                Err(fault) => panic!("{fault}"),
            };
            row.iter().zip(&types).enumerate().map(value).collect()
        }).collect();
        for input in [file(text.as_bytes()), pipe(text.as_bytes(), 1 + size as usize % 50)] {
            let (outcome, schema) = settled(input, &options, threads);
            let found: Vec<LogicalType> = schema.fields().iter().map(|field| field.logical_type).collect();
            prop_assert_eq!(&found, &types);
            let found: Vec<_> = Form::of_columns(&schema).iter().map(|form| form.map(|form| form.to_string())).collect();
            let expected_forms: Vec<_> = forms.iter().map(|form| form.map(|form| form.to_string())).collect();
            prop_assert_eq!(found, expected_forms);
            prop_assert_eq!(&outcome.unwrap().0, &expected);
        }
    }
}

/// The text that the writer writes for a batch.
fn text_of(schema: &Schema, batch: &brc_core::Batch<'_>) -> Vec<u8> {
    let mut writer = table_writer::TableWriter::new(schema, &Dialect::default());
    let mut text = writer.start();
    let mut encoder = writer.encoder();
    encoder.batch(batch).unwrap();
    text.extend(encoder.finish().unwrap().bytes);
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any table is read back unchanged, in splits of any size.
    #[test]
    fn tables_round_trip(
        rows in prop::collection::vec(
            (
                prop::option::of(prop::collection::vec(prop::sample::select(b"ab,;\"\n\r #\t\xff".to_vec()), 0..6)),
                prop::option::of(any::<i64>()),
                prop::option::of(any::<f64>().prop_filter("nan has no bits in text", |value| !value.is_nan())),
                prop::option::of(-(10i128.pow(38) - 1)..10i128.pow(38)),
                prop::option::of(-700_000i32..2_900_000),
            ),
            1..30,
        ),
        size in 1u64..300,
    ) {
        use brc_core::{Batch, BitmapBuffer, ByteStrings, Column, Data, Integers};
        let schema = "text:string,i:timestamp(ns),f:float64,d:decimal(38,9),day:date";
        let schema = Schema::parse(schema).unwrap();
        let mut validity = vec![BitmapBuffer::default(); 5];
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for row in &rows {
            bytes.extend_from_slice(row.0.as_deref().unwrap_or_default());
            offsets.push(bytes.len() as i32);
            let valid = [row.0.is_some(), row.1.is_some(), row.2.is_some(), row.3.is_some(), row.4.is_some()];
            validity.iter_mut().zip(valid).for_each(|(column, valid)| column.push(valid));
        }
        let integers: Vec<i64> = rows.iter().map(|row| row.1.unwrap_or(7)).collect();
        let floats: Vec<f64> = rows.iter().map(|row| row.2.unwrap_or(7.0)).collect();
        let decimals: Vec<i128> = rows.iter().map(|row| row.3.unwrap_or(7)).collect();
        let days: Vec<i32> = rows.iter().map(|row| row.4.unwrap_or(7)).collect();
        let data = [
            Data::Bytes(ByteStrings::new(&offsets, &bytes)),
            Data::Integers(Integers::I64(&integers)),
            Data::Floats(&floats),
            Data::Integers(Integers::I128(&decimals)),
            Data::Integers(Integers::I32(&days)),
        ];
        let columns: Vec<Column<'_>> = data.into_iter().zip(&validity)
            .map(|(data, validity)| Column::from(data).with_validity(validity.bitmap())).collect();
        let text = text_of(&schema, &Batch { rows: rows.len(), columns: &columns });
        let value = |column: &Column<'_>, row| match Value::of_row(column, row) {
            None => "null".to_owned(),
            Some(Value::Integer(value)) => value.to_string(),
            Some(Value::Float(value)) => format!("{value:?}"),
            Some(Value::Bytes(value)) => value.escape_ascii().to_string(),
        };
        let expected: Vec<Vec<String>> =
            (0..rows.len()).map(|row| columns.iter().map(|column| value(column, row)).collect()).collect();
        let mut options = OpenOptions { schema: Some(schema), ..options(size) };
        options.text.dialect = DialectOverrides {
            delimiter: Some(Delimiter::Byte(b',')),
            escape: Some(None),
            comment: Some(None),
            trim: Some(false),
            preamble_lines: Some(0),
            line_end: Some(brc_text::LineEnd::Lf),
            charset: Some(brc_text::Charset::Raw),
            ..DialectOverrides::default()
        };
        for input in [file(&text), pipe(&text, 3)] {
            prop_assert_eq!(&read(&Csv, input, &options, 2).unwrap().0, &expected);
        }
    }
}

#[test]
fn a_long_row_does_not_hide_the_header() {
    for long in [1_000, 70_000, 3_000_000] {
        for quote in ["", "\""] {
            let field = "x".repeat(long);
            let text = format!("a,b\n5,6\n1,{quote}{field}{quote}\n2,y\n");
            assert_eq!(schema_of(&text).to_string(), "a:int64,b:string", "{long}");
            let (rows, _) = read(&Csv, file(text.as_bytes()), &OpenOptions::default(), 1).unwrap();
            let expected = [["5", "6"], ["1", field.as_str()], ["2", "y"]];
            assert!(rows == expected.map(|row| row.map(String::from).to_vec()), "{long}");
        }
    }
}
