//! Inferred types that become wider while a table is written: the file is the same as with the final types from the
//! start, whatever the encoding, the number of threads, and the kind of input.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use brc_compress::{Compressor, by_name as compression};
use brc_core::{ColumnChanges, Progress, Schema};
use brc_encodings::{
    Converted, CreateOptions, ENCODINGS, Encoding, Input, OpenOptions, Output, OutputOptions, RejectLog, Target,
    convert_inferred, text, writer,
};
use std::fs::File;
use std::path::Path;

const ROWS: usize = 12_000;

/// A text with columns of every kind. Each surprise is a row, a column, and its value there.
fn table(surprises: &[(usize, usize, &str)]) -> String {
    let mut text = "id,price,day,empty,name,at,flag,note\n".to_owned();
    for row in 0..ROWS {
        let mut fields = [
            row.to_string(),
            format!("{}.{:02}", row % 977, row % 100),
            format!("2024-{:02}-{:02}", row % 12 + 1, row % 28 + 1),
            String::new(),
            ["Hamburg", "Abha", "São Paulo"][row % 3].to_owned(),
            format!("2024-01-01 {:02}:{:02}:00", row % 24, row % 60),
            ["true", "false"][row % 2].to_owned(),
            format!("note {}", row * 7919 % 1000),
        ];
        for (_, column, value) in surprises.iter().filter(|(at, ..)| *at == row) {
            fields[*column] = (*value).to_owned();
        }
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

struct Written {
    converted: Converted,
    bytes: Vec<u8>,
    /// The number of outputs begun.
    begun: usize,
    schema: Schema,
    altered: Vec<ColumnChanges>,
}

fn written(input: Input, schema: Option<&Schema>, to: &dyn Encoding, compressed: &str, threads: usize) -> Written {
    let create = CreateOptions::new(Compressor::of(compression(compressed).unwrap()));
    written_with(input, schema, to, &create, 150_000, threads)
}

fn written_with(
    input: Input,
    schema: Option<&Schema>,
    to: &dyn Encoding,
    create: &CreateOptions,
    row_group_bytes: u64,
    threads: usize,
) -> Written {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("target");
    let mut options = OpenOptions { row_group_bytes: Some(row_group_bytes), ..OpenOptions::default() };
    options.text.types = schema.map(|schema| schema.fields().to_vec()).unwrap_or_default();
    let table = text().open(input, &options).unwrap();
    let mut begun = 0;
    let begin = |schema: &Schema| {
        begun += 1;
        let output = Output::create(&path, &OutputOptions::default())?;
        Ok(Target { writer: writer(to, schema, create)?, output, rejects: RejectLog::none() })
    };
    let converted = convert_inferred(table.as_ref(), begin, threads, &Progress::default()).unwrap();
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "there is just the target");
    let schema = table.inferred().map_or_else(|| table.schema().clone(), |schema| Schema::clone(&schema));
    Written { converted, bytes: std::fs::read(&path).unwrap(), begun, schema, altered: table.changes() }
}

fn file(path: &Path) -> Input {
    Input::open(path).unwrap()
}

fn pipe(path: &Path) -> Input {
    Input::from_stream(path.to_owned(), Box::new(File::open(path).unwrap())).unwrap()
}

const SURPRISES: &[&[(usize, usize, &str)]] = &[
    &[(ROWS - 1, 0, "abc")],
    // In the first row group, after the bytes sampled when the text is opened.
    &[(1800, 0, "abc")],
    &[(ROWS - 1, 1, "1.125")],
    &[(ROWS - 1, 2, "2024-01-01 10:00:00"), (4000, 0, "12.5")],
    &[(3000, 3, "7"), (9000, 3, "7.5"), (9001, 5, "soon")],
    &[(5000, 1, "9.9e-05"), (ROWS - 1, 6, "maybe"), (6000, 0, "99999999999999999999")],
];

#[test]
fn files_equal_those_with_the_final_types() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table.csv");
    for surprises in SURPRISES {
        std::fs::write(&path, table(surprises)).unwrap();
        let any = Schema::parse("id:int64,name:string").unwrap();
        for to in ENCODINGS.iter().filter(|to| to.supports(&any).is_ok()) {
            let replaces = ["buren", "parquet"].contains(&to.name());
            let compressed = if replaces { "zstd" } else { "none" };
            let first = written(file(&path), None, *to, compressed, 1);
            // After the second surprise, all rows are first read for their types.
            let begun = if replaces { 1..=1 } else { 2..=3 };
            assert!(begun.contains(&first.begun), "{} begins {} times", to.name(), first.begun);
            let direct = written(file(&path), Some(&first.schema), *to, compressed, 2);
            let name = to.name();
            assert!(first.bytes == direct.bytes, "{name} {surprises:?}");
            assert_eq!(first.converted, direct.converted, "{name}");
            assert_eq!(first.altered, direct.altered, "{name}");
            let threads: &[usize] = if replaces { &[1, 2, 7] } else { &[3] };
            for threads in threads {
                for input in [file(&path), pipe(&path)] {
                    let other = written(input, None, *to, compressed, *threads);
                    assert!(other.bytes == first.bytes, "{name} {surprises:?} {threads} threads");
                    assert_eq!((other.schema, other.altered), (first.schema.clone(), first.altered.clone()));
                }
            }
        }
    }
}

#[test]
fn clustered_files_equal_those_with_the_final_types() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table.csv");
    let buren = ENCODINGS.iter().find(|encoding| encoding.name() == "buren").unwrap();
    // Equal columns make the rows smaller where they are clustered by one of them.
    let with_copies = |text: String| {
        let value = |row: usize| format!("value {}", (row as u32).wrapping_mul(0x9e37_79b9) >> 26);
        let copies = |row| if row == 0 { "a,b,c,d,e,f,g,h,i,j,k,l".to_owned() } else { vec![value(row); 12].join(",") };
        text.lines().enumerate().map(|(row, line)| format!("{line},{}\n", copies(row))).collect::<String>()
    };
    let keys = [None, Some("name"), Some("note"), Some("flag")];
    for (surprises, key) in SURPRISES.iter().flat_map(|surprises| keys.map(|key| (surprises, key))) {
        let text = table(surprises);
        let text = if key.is_none() { with_copies(text) } else { text };
        std::fs::write(&path, text).unwrap();
        let mut create = CreateOptions::new(Compressor::none());
        create.key = key.map(str::to_owned);
        let row_group = if key.is_none() { 1_000_000 } else { 150_000 };
        let convert = |input, schema, threads| written_with(input, schema, *buren, &create, row_group, threads);
        let first = convert(file(&path), None, 1);
        // If the key itself becomes wider, the rows have a different order.
        let is_key_wider = key == Some("flag") && surprises.iter().any(|&(_, column, _)| column == 6);
        assert_eq!(first.begun, if is_key_wider { 2 } else { 1 }, "{key:?} {surprises:?}");
        let direct = convert(file(&path), Some(&first.schema), 2);
        assert!(first.bytes == direct.bytes, "{key:?} {surprises:?}");
        assert_eq!(first.converted, direct.converted);
        let has_no_effect = |remark: &String| remark.contains("--key has no effect");
        match &first.converted.remark {
            Some(remark) if has_no_effect(remark) => assert_eq!(key, Some("note"), "{surprises:?}"),
            remark => assert_eq!(remark.is_some(), key.is_none(), "{key:?} {surprises:?}"),
        }
        for threads in [2, 7] {
            assert!(
                convert(pipe(&path), None, threads).bytes == first.bytes,
                "{key:?} {surprises:?} {threads} threads"
            );
        }
    }
}
