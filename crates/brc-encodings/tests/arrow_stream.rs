//! Arrow's stream: the library reads the same rows from it as from a file.
#![cfg(feature = "arrow")]
#![allow(clippy::unwrap_used, clippy::panic)]

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, types::Int32Type};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take;
use brc_compress::Compressor;
use brc_core::{
    Batch, BatchWriter, BitmapBuffer, Column, Dictionary, Error, Field, LogicalType, Progress, Result, Run, Schema,
    Table,
};
use brc_encodings::{
    CreateOptions, Input, OpenOptions, Output, OutputOptions, RejectLog, arrow_stream, by_name, convert, for_input,
};
use brc_testing::{Cell, Delivery, MemoryTable, Typed, read};
use std::io::Cursor;
use std::sync::Arc;

fn written(table: &dyn Table, writer: Box<dyn BatchWriter>, threads: usize) -> Result<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("target");
    let output = Output::create(&path, &OutputOptions::default())?;
    convert(table, writer, output, RejectLog::none(), threads, &Progress::default())?;
    Ok(std::fs::read(&path).unwrap())
}

/// All rows of a stream. Its batches must not be as small as the delivered ones.
fn of_stream(bytes: Vec<u8>, most_batches: usize) -> (SchemaRef, RecordBatch) {
    assert!(bytes.ends_with(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
    let reader = StreamReader::try_new(Cursor::new(bytes), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(|batch| batch.unwrap()).collect();
    assert!(batches.len() <= most_batches, "{} batches", batches.len());
    (Arc::clone(&schema), concat_batches(&schema, &batches).unwrap())
}

/// All rows of a file.
fn of_file(bytes: Vec<u8>) -> RecordBatch {
    let reader = FileReader::try_new(Cursor::new(bytes), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(|batch| batch.unwrap()).collect();
    concat_batches(&schema, &batches).unwrap()
}

/// A column without its dictionary.
fn plain(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Dictionary(..) => {
            let coded = column.as_dictionary::<Int32Type>();
            take(coded.values(), coded.keys(), None).unwrap()
        }
        _ => Arc::clone(column),
    }
}

#[test]
fn a_stream_has_the_same_rows_as_a_file() {
    let nulls: [fn(usize, usize) -> bool; 3] = [|_, _| false, |row, column| (row + column) % 5 == 0, |_, _| true];
    for null in nulls {
        for (rows, split_rows, splits) in [(0, 1, 0), (1, 1, 1), (700, 1000, 1), (40_000, 18_000, 3)] {
            let typed = Typed::of_every_type(rows, null);
            let table = MemoryTable::new(&typed, Delivery { split_rows, ..Delivery::default() });
            let create = CreateOptions::new(Compressor::of(brc_compress::by_name("none").unwrap()));
            let file = by_name("arrow").unwrap().create(table.schema(), &create).unwrap();
            let file = of_file(written(&table, file, 1).unwrap());
            let bytes = written(&table, arrow_stream(table.schema(), Vec::new()), 1).unwrap();
            assert!(written(&table, arrow_stream(table.schema(), Vec::new()), 3).unwrap() == bytes, "by three threads");
            assert_eq!(read_back(&bytes, 2).unwrap(), texts(&read(&table, 1).unwrap()));
            let (schema, stream) = of_stream(bytes, splits * 2);
            assert_eq!((stream.num_rows(), stream.num_columns()), (rows, file.num_columns()));
            for (index, (one, other)) in stream.columns().iter().zip(file.columns()).enumerate() {
                let logical_type = typed.schema.fields()[index].logical_type;
                assert_eq!(one, &plain(other), "{logical_type}");
                // Few programs compute with smaller decimals.
                let is_decimal = matches!(logical_type, LogicalType::Decimal { .. });
                assert_eq!(matches!(one.data_type(), DataType::Decimal128(..)), is_decimal, "{logical_type}");
                let (field, of_file) = (schema.field(index), file.schema_ref().field(index));
                assert_eq!((field.name(), field.is_nullable()), (of_file.name(), of_file.is_nullable()));
            }
        }
    }
}

/// The rows that are read from a stream, as text.
fn read_back(bytes: &[u8], threads: usize) -> Result<Vec<Vec<String>>> {
    Ok(texts(&read(opened(bytes)?.as_ref(), threads)?))
}

fn opened(bytes: &[u8]) -> Result<Box<dyn Table>> {
    let input = Input::from_stream("-".into(), Box::new(Cursor::new(bytes.to_vec())))?;
    for_input(&input)?.open(input, &OpenOptions::default())
}

fn texts(typed: &Typed) -> Vec<Vec<String>> {
    let types = typed.schema.fields().iter().map(|field| field.logical_type);
    let columns = types.zip(&typed.columns);
    columns.map(|(logical_type, cells)| cells.iter().map(|cell| cell.to_text(logical_type)).collect()).collect()
}

/// A stream is either read up to a whole record batch, with a note, or refused.
#[test]
fn streams_that_were_cut_off_are_refused_or_noted() {
    let typed = Typed::of_every_type(60, |row, column| (row + column) % 5 == 0);
    let table = MemoryTable::new(&typed, Delivery { split_rows: 20, ..Delivery::default() });
    let bytes = written(&table, arrow_stream(table.schema(), Vec::new()), 1).unwrap();
    let mut noted = Vec::new();
    for length in (0..bytes.len()).filter(|length| length % 8 == 0 || length % 61 == 0) {
        if let Ok(table) = opened(&bytes[..length]) {
            assert!(table.notes().iter().any(|note| note.contains("cut off")), "{length} of {}", bytes.len());
            let rows = read(table.as_ref(), 1).unwrap().rows();
            assert_eq!(Some(rows as u64), table.rows());
            noted.push(rows);
        }
    }
    assert_eq!(noted, [0, 20, 40, 60]);
    assert!(opened(&bytes).unwrap().notes().is_empty());
    for more in [&bytes[..], b"0123456789"] {
        let error = opened(&[&bytes, more].concat()).err().unwrap().to_string();
        assert!(error.contains("more bytes after the end"), "{error}");
    }
}

#[test]
fn damaged_messages_of_streams_are_refused() {
    let typed = Typed::of_every_type(10, |_, _| false);
    let table = MemoryTable::new(&typed, Delivery::default());
    let bytes = written(&table, arrow_stream(table.schema(), Vec::new()), 1).unwrap();
    for at in 0..bytes.len() {
        for bit in [0, 5] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            // Streams have no checksums: values may differ, but reading must end.
            _ = opened(&damaged).and_then(|table| read(table.as_ref(), 1));
        }
    }
}

#[test]
fn dictionaries_that_are_replaced_are_refused() {
    let schema = arrow_schema::Schema::new(vec![arrow_schema::Field::new_dictionary(
        "s",
        DataType::Int32,
        DataType::Utf8,
        true,
    )]);
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &schema).unwrap();
    for strings in [["a", "b"], ["c", "b"]] {
        let column: DictionaryArray<Int32Type> = strings.into_iter().collect();
        writer.write(&RecordBatch::try_new(Arc::new(schema.clone()), vec![Arc::new(column)]).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    let error = read_back(&bytes, 1).unwrap_err().to_string();
    assert!(error.contains("a dictionary that replaces another"), "{error}");
}

#[test]
fn invalid_utf8_is_reported_with_its_row() {
    let field = |name: &str, logical_type| Field { name: name.into(), logical_type, nullable: false };
    let mut strings = vec![Cell::Bytes("é".into()); 500];
    strings[321] = Cell::Bytes(b"K\xf6ln".to_vec());
    for (logical_type, is_refused) in [(LogicalType::String, true), (LogicalType::Binary, false)] {
        let typed = Typed::new(vec![(field("s", logical_type), strings.clone())]);
        let table = MemoryTable::new(&typed, Delivery::default());
        match written(&table, arrow_stream(table.schema(), Vec::new()), 1) {
            Err(Error::UnsupportedValue(value)) if is_refused => assert_eq!(value.row, 322),
            outcome => assert_eq!(outcome.is_err(), is_refused),
        }
    }
}

#[test]
fn strings_known_in_advance_are_codes() {
    let dictionary: Dictionary = ["a", "", "é"].into_iter().collect();
    let schema = Schema::new(vec![field("coded"), field("plain"), field("latin")]).unwrap();
    let latin: Dictionary = [&b"ok"[..], b"K\xf6ln"].into_iter().collect();
    let mut writer = arrow_stream(&schema, vec![Some(dictionary.clone()), None, Some(latin.clone())]);
    let mut bytes = writer.start();
    for first in [0, 3] {
        let mut encoder = writer.encoder();
        let mut validity = BitmapBuffer::default();
        (0..3).for_each(|row| validity.push(first + row != 4));
        // The code of a null may be invalid.
        let codes = if first == 0 { [2, 1, 0] } else { [2, 9, 1] };
        let columns = [
            Column::codes(&codes, &dictionary).with_validity(validity.bitmap()),
            Column::runs(&[Run { code: 2, rows: 3 }], &dictionary),
            Column::codes(&[0; 3], &latin),
        ];
        encoder.batch(&Batch { rows: 3, columns: &columns }).unwrap();
        assert!(encoder.batch(&Batch { rows: 1, columns: &[Column::codes(&[3], &dictionary); 3] }).is_err());
        let mut encoder = writer.encoder();
        encoder.batch(&Batch { rows: 3, columns: &columns }).unwrap();
        let mut part = encoder.finish().unwrap();
        writer.append(&mut part).unwrap();
        bytes.extend(part.bytes);
    }
    bytes.extend(writer.finish().unwrap());
    let (schema, rows) = of_stream(bytes, 2);
    assert!(matches!(schema.field(0).data_type(), DataType::Dictionary(..)));
    assert!((1..3).all(|column| *schema.field(column).data_type() == DataType::Utf8));
    let strings = |column: usize| -> Vec<Option<String>> {
        let plain = plain(rows.column(column));
        plain.as_string::<i32>().iter().map(|string| string.map(str::to_owned)).collect()
    };
    assert_eq!(strings(0), [Some("é"), Some(""), Some("a"), Some("é"), None, Some("")].map(|it| it.map(str::to_owned)));
    assert_eq!(strings(1), vec![Some("é".to_owned()); 6]);
    assert_eq!(strings(2), vec![Some("ok".to_owned()); 6]);
}

fn field(name: &str) -> Field {
    Field { name: name.into(), logical_type: LogicalType::String, nullable: true }
}
