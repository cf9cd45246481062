//! The loops of the libraries for columns: strings in dictionaries, numbers as integers.

use crate::shared::rows::{Groups, add};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type};
use arrow_array::{ArrayRef, Int16Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type as ParquetInt32};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::Cursor;
use std::sync::Arc;

/// The number of rows read at once.
const BATCH_ROWS: usize = 4096;

/// For writes to memory, which cannot fail.
fn written<T, E>(outcome: Result<T, E>) -> Option<T> {
    assert!(outcome.is_ok(), "memory was not written");
    outcome.ok()
}

pub(crate) fn encode_arrow(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    let mut names = StringDictionaryBuilder::<Int32Type>::new();
    rows.iter().for_each(|(name, _)| names.append_value(name));
    let values = Int16Array::from_iter_values(rows.iter().map(|&(_, value)| value as i16));
    let columns: [(&str, ArrayRef); 2] = [("station", Arc::new(names.finish())), ("temperature", Arc::new(values))];
    let Some(batch) = written(RecordBatch::try_from_iter(columns)) else { return };
    let Some(mut writer) = written(FileWriter::try_new(out, &batch.schema())) else { return };
    written(writer.write(&batch));
    written(writer.finish());
}

pub(crate) fn decode_arrow(bytes: &[u8]) -> Option<Groups> {
    let mut groups = Groups::default();
    for batch in FileReader::try_new(Cursor::new(bytes), None).ok()? {
        let batch = batch.ok()?;
        let names = batch.column(0).as_dictionary_opt::<Int32Type>()?;
        let texts = names.values().as_string_opt::<i32>()?;
        let values = batch.column(1).as_primitive_opt::<Int16Type>()?;
        for (&code, &value) in names.keys().values().iter().zip(values.values()) {
            add(&mut groups, texts.value(code as usize), value.into());
        }
    }
    Some(groups)
}

pub(crate) fn encode_parquet(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    let column = |name, physical, converted| {
        let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        written(column.with_converted_type(converted).build()).map(Arc::new)
    };
    let names = column("station", Physical::BYTE_ARRAY, ConvertedType::UTF8);
    let values = column("temperature", Physical::INT32, ConvertedType::INT_32);
    let fields = names.into_iter().chain(values).collect();
    let Some(schema) = written(Type::group_type_builder("rows").with_fields(fields).build()) else { return };
    let properties = Arc::new(WriterProperties::builder().build());
    let Some(mut writer) = written(SerializedFileWriter::new(out, Arc::new(schema), properties)) else { return };
    let Some(mut group) = written(writer.next_row_group()) else { return };
    let texts: Vec<_> = rows.iter().map(|(name, _)| ByteArray::from(name.as_bytes().to_vec())).collect();
    if let Some(Some(mut column)) = written(group.next_column()) {
        written(column.typed::<ByteArrayType>().write_batch(&texts, None, None));
        written(column.close());
    }
    let numbers: Vec<_> = rows.iter().map(|&(_, value)| value as i32).collect();
    if let Some(Some(mut column)) = written(group.next_column()) {
        written(column.typed::<ParquetInt32>().write_batch(&numbers, None, None));
        written(column.close());
    }
    written(group.close());
    written(writer.close());
}

pub(crate) fn decode_parquet(bytes: &[u8]) -> Option<Groups> {
    let mut groups = Groups::default();
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).ok()?;
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index).ok()?;
        let mut names = get_typed_column_reader::<ByteArrayType>(group.get_column_reader(0).ok()?);
        let mut values = get_typed_column_reader::<ParquetInt32>(group.get_column_reader(1).ok()?);
        loop {
            let (mut texts, mut numbers) = (Vec::with_capacity(BATCH_ROWS), Vec::with_capacity(BATCH_ROWS));
            let (rows, _, _) = names.read_records(BATCH_ROWS, None, None, &mut texts).ok()?;
            values.read_records(BATCH_ROWS, None, None, &mut numbers).ok()?;
            if rows == 0 {
                break;
            }
            for (text, number) in texts.iter().zip(&numbers) {
                add(&mut groups, text.as_utf8().ok()?, (*number).into());
            }
        }
    }
    Some(groups)
}
