//! Tables with very many columns are read back unchanged from every encoding.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use brc_compress::{Compressor, by_name as compression};
use brc_core::{Progress, Schema, Table};
use brc_encodings::{
    CreateOptions, ENCODINGS, Encoding, Input, OpenOptions, Output, OutputOptions, RejectLog, convert, text, writer,
};
use std::fs::File;
use std::path::Path;

const COLUMNS: usize = 10_000;

fn converted(table: &dyn Table, to: &dyn Encoding, compressor: Compressor, path: &Path) {
    let options = CreateOptions::new(compressor);
    let writer = writer(to, table.schema(), &options).unwrap();
    let output = Output::create(path, &OutputOptions { force: true, ..OutputOptions::default() }).unwrap();
    convert(table, writer, output, RejectLog::none(), 1, &Progress::default()).unwrap();
}

#[test]
fn tables_of_ten_thousand_columns_round_trip() {
    let directory = tempfile::tempdir().unwrap();
    let [source, target, back] = ["source", "target", "back"].map(|name| directory.path().join(name));
    let name = |column: usize| format!("measurement_of_sensor_{column}:{}", ["int", "decimal(2)"][column % 2]);
    let schema = Schema::parse(&(0..COLUMNS).map(name).collect::<Vec<_>>().join(",")).unwrap();
    let value = |column: usize| format!("{}{}", column * 7919 % 1000, ["", ".25"][column % 2]);
    let row = (0..COLUMNS).map(value).collect::<Vec<_>>().join(";") + "\n";
    std::fs::write(&source, row.repeat(3)).unwrap();
    let options = OpenOptions { schema: Some(schema.clone()), ..OpenOptions::default() };
    let table = text().open(Input::open(&source).unwrap(), &options).unwrap();
    for encoding in
        ENCODINGS.iter().filter(|encoding| encoding.name() != text().name() && encoding.supports(&schema).is_ok())
    {
        for (name, is_file) in [("none", true), ("zstd", true), ("none", false)] {
            converted(table.as_ref(), *encoding, Compressor::of(compression(name).unwrap()), &target);
            let input = if is_file {
                Input::open(&target)
            } else {
                Input::from_stream("stream".into(), Box::new(File::open(&target).unwrap()))
            };
            let table = encoding.open(input.unwrap(), &OpenOptions::default()).unwrap();
            assert!(table.schema().is_like(&schema), "{}", encoding.name());
            converted(table.as_ref(), text(), Compressor::none(), &back);
            let text = std::fs::read_to_string(&back).unwrap();
            let (_, rows) = text.split_once('\n').unwrap();
            assert!(rows == row.replace(';', ",").repeat(3), "{}", encoding.name());
        }
    }
}
